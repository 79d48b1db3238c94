#include "proxy/policy/error_pages.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/text.hpp"
#include "proxy/http/text.hpp"

namespace proxy::policy {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, kErrorPages> kFiles{
    "blocked.html", "denied.html", "sign-in.html", "failed.html", "error.html"};
constexpr std::array<std::string_view, kPlaceholders> kNames{
    "advice", "client", "contact", "proxy", "reason", "status", "time", "title", "url", "user"};

// No script, and nothing from elsewhere: the page shows where nothing else can be reached.
constexpr std::string_view kOwnPage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{title}}</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 10vh 1.5rem; max-width: 40rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin-top: 2rem; }
dd { margin: 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>{{title}}</h1>
<p>The proxy <b>{{proxy}}</b> says: {{reason}}.</p>
<p>{{advice}}</p>
<dl>
<dt>Address</dt><dd id="url">{{url}}</dd>
<dt>Time</dt><dd id="time">{{time}}</dd>
<dt>Status</dt><dd id="status">{{status}}</dd>
<dt>Whom to ask</dt><dd id="contact">{{contact}}</dd>
</dl>
</body>
</html>
)";

std::string line_at(std::string_view text, std::size_t at) {
  return "line " + std::to_string(1 + std::count(text.begin(), text.begin() + at, '\n')) + ": ";
}

// The placeholders for a person: "{{advice}}, {{client}}, ...".
std::string all_placeholders() {
  std::string all;
  for (const auto name : kNames) {
    if (!all.empty()) all += ", ";
    all.append("{{").append(name).append("}}");
  }
  return all;
}

std::string unknown(std::string_view name) {
  const auto meant = config::nearest(name, kNames);
  std::string what = config::in_quotes("{{" + std::string(name) + "}}") + " stands for nothing; ";
  if (!meant.empty()) return what.append("did you mean \"{{").append(meant).append("}}\"?");
  return what + "a page may have " + all_placeholders();
}

// The quotes, too: a value may stand within an attribute.
void append_escaped(std::string& html, std::string_view text) {
  constexpr std::pair<char, std::string_view> kEscapes[] = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  for (const char c : text) {
    const auto* const found = std::find_if(std::begin(kEscapes), std::end(kEscapes),
                                           [c](const auto& escape) { return escape.first == c; });
    if (found == std::end(kEscapes)) {
      html += c;
    } else {
      html += found->second;
    }
  }
}

// The position of the first byte that is no UTF-8; npos: there is none.
std::size_t not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = config::utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return text.npos;
}

boost::system::result<PageTemplate, std::string> read_page(const std::string& path) {
  std::string why;
  auto html = config::read_file(path, PageTemplate::kLargest, why);
  if (!html) return why;
  return PageTemplate::parse(std::move(*html));
}

// The files *.html of the folder, by name.
std::vector<fs::path> pages_in(const std::string& folder, std::error_code& error) {
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".html") found.push_back(at->path());
  }
  // So that faults come in one order on every file system.
  std::sort(found.begin(), found.end());
  return found;
}

std::string not_a_page(const std::string& file) {
  std::string what = "no page has this name; ";
  const auto meant = config::nearest(file, kFiles);
  if (!meant.empty()) return what.append("did you mean ").append(meant).append("?");
  what += "there are";
  for (const auto name : kFiles) what.append(name == kFiles[0] ? " " : ", ").append(name);
  return what;
}

}  // namespace

boost::system::result<PageTemplate, std::string> PageTemplate::parse(std::string html) {
  if (html.empty()) return std::string("is empty");
  if (html.size() > kLargest) return std::string("is larger than 64 KiB");
  // The proxy says charset=utf-8, and browsers show question marks for what is none.
  if (const auto at = not_utf8(html); at != html.npos) {
    return line_at(html, at) + "is not UTF-8; save the file in that encoding";
  }
  PageTemplate page;
  for (std::size_t at = html.find("{{"); at != html.npos; at = html.find("{{", at)) {
    const auto close = html.find("}}", at);
    if (close == html.npos) return line_at(html, at) + "\"{{\" is not closed by \"}}\"";
    const auto name = http::trim(std::string_view(html).substr(at + 2, close - at - 2));
    const auto* const known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) return line_at(html, at) + unknown(name);
    if (page.gaps_.size() == kMostPlaceholders) {
      return line_at(html, at) + "a page may have at most 64 placeholders";
    }
    page.gaps_.push_back({at, close + 2, static_cast<Placeholder>(known - kNames.begin())});
    at = close + 2;
  }
  page.html_ = std::move(html);
  return page;
}

std::string PageTemplate::filled(const ErrorFacts& facts) const {
  std::string html;
  std::size_t done = 0;
  for (const Gap& gap : gaps_) {
    html.append(html_, done, gap.begin - done);
    append_escaped(html, facts[static_cast<std::size_t>(gap.what)]);
    done = gap.end;
  }
  return html.append(html_, done);
}

ErrorPages::ErrorPages() {
  // By the same parser as those of a site, so that its tests hold for this one.
  pages_[static_cast<std::size_t>(ErrorPage::error)] = *PageTemplate::parse(std::string(kOwnPage));
}

boost::system::result<ErrorPages, config::SettingsErrors> ErrorPages::read(
    const std::string& folder) {
  ErrorPages pages;
  if (folder.empty()) return pages;
  config::SettingsErrors faults;
  std::error_code error;
  const auto files = pages_in(folder, error);
  const auto fault = [&](const std::string& path, std::string what) {
    faults.push_back({path + " (setting pages)", std::move(what)});
  };
  if (error) fault(folder, "cannot be listed: " + error.message());
  if (!error && files.empty()) {
    fault(folder, "has no page, such as " + std::string(kFiles[0]));
  }
  for (const auto& file : files) {
    const auto name = file.filename().string();
    const auto* const known = std::find(kFiles.begin(), kFiles.end(), name);
    // A mistyped name would leave the proxy's own page in force, and nobody sees an error page
    // until something fails.
    if (known == kFiles.end()) {
      fault(file.string(), not_a_page(name));
    } else if (auto page = read_page(file.string())) {
      pages.pages_[static_cast<std::size_t>(known - kFiles.begin())] = std::move(*page);
    } else {
      fault(file.string(), page.error());
    }
  }
  if (!faults.empty()) return faults;
  return pages;
}

std::string_view ErrorPages::file_of(ErrorPage page) {
  return kFiles[static_cast<std::size_t>(page)];
}

std::string ErrorPages::filled(ErrorPage page, const ErrorFacts& facts) const {
  const auto& of_its_kind = pages_[static_cast<std::size_t>(page)];
  const auto& otherwise = pages_[static_cast<std::size_t>(ErrorPage::error)];
  return (of_its_kind ? of_its_kind : otherwise)->filled(facts);
}

}  // namespace proxy::policy
