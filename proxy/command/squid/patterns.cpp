#include "proxy/command/squid/patterns.hpp"

#include <algorithm>
#include <cctype>

#include "config/endpoint.hpp"
#include "config/sections.hpp"
#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMostTexts = 64;
constexpr std::size_t kLongest = 256;
constexpr std::size_t kDeepest = 8;

// In the texts of an expression: anchors, until they are taken off the ends, and any text without a
// slash.
constexpr char kStart = '\x01';
constexpr char kEnd = '\x02';
constexpr char kNoSlash = '\x03';

// Reads an expression as the texts that it matches: `\.(deb|rpm)` has two. In these, "*" is any
// text and "?" any character.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Texts> whole() {
    auto texts = choice(0);
    return text_.empty() ? texts : std::nullopt;
  }

 private:
  bool takes(std::string_view mark) {
    if (!text_.starts_with(mark)) return false;
    text_.remove_prefix(mark.size());
    return true;
  }

  std::optional<Texts> choice(std::size_t depth) {
    Texts all;
    do {
      const auto texts = sequence(depth);
      if (!texts || all.size() + texts->size() > kMostTexts) return std::nullopt;
      all.insert(all.end(), texts->begin(), texts->end());
    } while (takes("|"));
    return all;
  }

  std::optional<Texts> sequence(std::size_t depth) {
    Texts all{""};
    while (!text_.empty() && text_.front() != '|' && text_.front() != ')') {
      const auto next = item(depth);
      if (!next || all.size() * next->size() > kMostTexts) return std::nullopt;
      Texts longer;
      for (const std::string& a : all) {
        for (const std::string& b : *next) {
          if (longer.emplace_back(a + b).size() > kLongest) return std::nullopt;
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  // An atom with what repeats it.
  std::optional<Texts> item(std::size_t depth) {
    std::optional<Texts> texts;
    if (takes(".*")) {
      texts = {"*"};
    } else if (takes(".+")) {
      texts = {"?*"};
    } else if (takes("[^/]*") || takes("[^/]+")) {
      texts = Texts{std::string(1, kNoSlash)};
    } else {
      texts = atom(depth);
      if (texts && takes("?")) texts->emplace_back();
    }
    const bool again =
        !text_.empty() && std::string_view("?*+{").find(text_.front()) != std::string_view::npos;
    return again ? std::nullopt : texts;
  }

  std::optional<Texts> atom(std::size_t depth) {
    if (takes("^")) return Texts{{kStart}};
    if (takes("$")) return Texts{{kEnd}};
    if (takes("(")) return group(depth);
    if (takes("[")) return set();
    if (takes(".")) return Texts{"?"};
    const bool escaped = takes("\\");
    if (text_.empty()) return std::nullopt;
    const char c = text_.front();
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    const bool special = std::string_view("*+?{}").find(c) != std::string_view::npos;
    if (c <= ' ' || c > '~' || c == '*' || c == '?' || (escaped ? letter : special)) {
      return std::nullopt;
    }
    text_.remove_prefix(1);
    return Texts{{c}};
  }

  std::optional<Texts> group(std::size_t depth) {
    if (depth == kDeepest || (text_.starts_with("?") && !takes("?:"))) return std::nullopt;
    auto texts = choice(depth + 1);
    return takes(")") ? texts : std::nullopt;
  }

  // "[34]": few single characters. Who writes "[i|u]" means the letters, and a URL has no bar.
  std::optional<Texts> set() {
    const auto end = text_.find(']');
    if (end == text_.npos || end == 0 || end > 16) return std::nullopt;
    Texts texts;
    for (const char c : text_.substr(0, end)) {
      if (c == '|') continue;
      if (c <= ' ' || c > '~' || std::string_view("^\\[*?-").find(c) != std::string_view::npos) {
        return std::nullopt;
      }
      texts.push_back({c});
    }
    text_.remove_prefix(end + 1);
    return texts.empty() ? std::nullopt : std::optional(std::move(texts));
  }

  std::string_view text_;
};

struct Glob {
  std::string text;
  bool from_start = false;  // the expression begins with ^
  bool to_end = false;      // it ends with $
};

// Globs of the settings are compared with the path alone, so that there may be a query goes without
// saying. Nothing if globs cannot say it, or if there are too many.
std::optional<std::vector<Glob>> globs_of(std::string_view expression) {
  constexpr std::string_view kAnyQuery = "(\\?.*)?$";
  std::string text(expression);
  if (text.ends_with(kAnyQuery)) text.replace(text.size() - kAnyQuery.size(), text.npos, "$");
  const auto texts = Reader(text).whole();
  if (!texts) return std::nullopt;
  std::vector<Glob> globs;
  for (std::string_view each : *texts) {
    Glob& glob = globs.emplace_back();
    glob.from_start = each.starts_with(kStart);
    glob.to_end = each.ends_with(kEnd);
    each.remove_prefix(std::min(each.find_first_not_of(kStart), each.size()));
    each = each.substr(0, each.find_last_not_of(kEnd) + 1);
    for (const char c : each) {
      if (c == kStart || c == kEnd) return std::nullopt;  // matches nothing, or is beyond us
      if (c != '*' || !glob.text.ends_with('*')) glob.text += c;
    }
  }
  return globs;
}

bool is_host(std::string_view text) {
  return config::parse_host_pattern(text).has_value() && text.find('*') == text.npos;
}

// In a host, a dot without a backslash is meant as a dot, though it matches any character.
std::string host_text(std::string_view text) {
  std::string host = config::lower_case(text);
  std::replace(host.begin(), host.end(), '?', '.');
  std::replace(host.begin(), host.end(), kNoSlash, '*');
  return host;
}

// Adds a pattern. Returns false if the settings cannot say it.
bool add(UrlPatterns& into, const std::string& host, std::string path) {
  if (path == "*" || path == "/*") path.clear();
  if (path.find(kNoSlash) != path.npos) return false;
  if (!path.empty() && !config::is_path_glob(path)) return false;
  if (!config::parse_host_pattern(host)) {
    return host.starts_with("*.");  // no name is below an address
  }
  const UrlPattern pattern{host, std::move(path)};
  auto& all = into.patterns;
  if (std::find(all.begin(), all.end(), pattern) == all.end()) all.push_back(pattern);
  return true;
}

// The path from `at` on, which is open where the expression leaves the end open.
std::string path_from(const Glob& glob, std::string_view text, std::size_t at) {
  if (at == text.npos) return {};
  std::string path(text.substr(at));
  if (!glob.to_end && !path.ends_with('*')) path += '*';
  return path;
}

// `text`: from the host on, after "//".
bool add_authority(const Glob& glob, std::string_view text, UrlPatterns& into) {
  const auto slash = text.find('/');
  const auto authority = text.substr(0, slash);
  std::string host = host_text(authority);
  const bool open = slash == text.npos && !glob.to_end;  // the expression matches longer hosts, too
  if (open && host.ends_with('*') && host.size() > 1) host.pop_back();
  if (host.empty()) host = "*";
  const bool any = host.size() > 1 && host.starts_with('*');
  if (any) host.erase(0, 1);
  const bool below = any && host.starts_with('.');
  if (below) host.erase(0, 1);
  if (open || authority.find('?') != authority.npos || (any && !below)) into.exact = false;
  if (host != "*" && !is_host(host)) return false;
  const std::string path = path_from(glob, text, slash);
  return (below || add(into, host, path)) && (!any || add(into, "*." + host, path));
}

// An expression that begins with ^, up to the host.
bool add_from_start(const Glob& glob, UrlPatterns& into) {
  const std::string lower = config::lower_case(glob.text);
  for (const std::string_view scheme :
       {"ftp:", "gopher:", "wais:", "urn:", "whois:", "cache_object:"}) {
    if (lower.starts_with(scheme)) return true;
  }
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (lower.starts_with(scheme)) {
      return add_authority(glob, std::string_view(glob.text).substr(scheme.size()), into);
    }
  }
  if (lower.starts_with('*')) return add(into, "*", path_from(glob, glob.text, 0));
  const bool every = lower.empty() || lower == "http" || lower == "http:" || lower == "https:";
  return every && !glob.to_end && add(into, "*", "");
}

bool add_url(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start) return add_from_start(glob, into);
  std::string_view text = glob.text;
  if (const auto at = text.find("://"); at != text.npos) {
    return add_authority(glob, text.substr(at + 3), into);
  }
  text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
  const auto slash = text.find('/');
  // The end of a URL is never its host.
  const bool may_be_host = slash != 0 && !(glob.to_end && slash == text.npos);
  std::string host = may_be_host ? host_text(text.substr(0, slash)) : "";
  const auto star = host.rfind('*');
  host.erase(0, star == host.npos ? 0 : star + 1);
  const bool below = host.starts_with('.');
  if (below) host.erase(0, 1);
  if (host.find('.') != host.npos && is_host(host)) {
    if (star != host.npos) return false;  // "a*.example.com" is about hosts that no pattern names
    const std::string path = path_from(glob, text, slash);
    into.exact = false;
    if (!below && !add(into, host, path)) return false;
    if (!add(into, "*." + host, path)) return false;
    if (slash != text.npos) return true;
  }
  // A text such as "cgi-bin" could be in a host as well; a path alone is less.
  if (may_be_host && !text.empty() && text.find_first_of("/=&%") == text.npos) into.exact = false;
  return add(into, "*", path_from(glob, "*" + std::string(text), 0));
}

bool add_path(const Glob& glob, UrlPatterns& into) {
  if (glob.from_start && !glob.text.starts_with('/')) return false;
  return add(into, "*", path_from(glob, (glob.from_start ? "" : "*") + glob.text, 0));
}

std::optional<UrlPatterns> patterns_of(std::string_view expression,
                                       bool (*add_glob)(const Glob&, UrlPatterns&)) {
  if (expression == ".") return UrlPatterns{{{"*", ""}}, true};  // every URL has a character
  const auto globs = globs_of(expression);
  UrlPatterns all;
  const bool taken = globs && std::all_of(globs->begin(), globs->end(),
                                          [&](const Glob& glob) { return add_glob(glob, all); });
  return taken ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

std::optional<UrlPatterns> url_patterns_of(std::string_view expression) {
  return patterns_of(expression, add_url);
}

std::optional<UrlPatterns> path_patterns_of(std::string_view expression) {
  return patterns_of(expression, add_path);
}

std::optional<std::vector<std::string>> hosts_of(std::string_view expression) {
  const auto globs = globs_of(expression);
  if (!globs) return std::nullopt;
  std::vector<std::string> hosts;
  for (const Glob& glob : *globs) {
    std::string name = config::lower_case(glob.text);
    const bool below = !glob.from_start || name.starts_with('*');
    name.erase(0, std::min(name.find_first_not_of('*'), name.size()));
    if (below && !name.starts_with('.')) return std::nullopt;
    if (below) name.erase(0, 1);
    if (!glob.to_end || !is_host(name)) return std::nullopt;
    if (below) name.insert(0, "*.");
    if (config::parse_host_pattern(name)) hosts.push_back(name);
  }
  return hosts;
}

std::vector<std::string> hosts_of_domain(std::string_view domain) {
  const bool below = domain.starts_with('.');
  if (below) domain.remove_prefix(1);
  std::string name = config::lower_case(domain);
  while (name.ends_with('.')) name.pop_back();
  // A port would narrow the pattern, and an address has no hosts below it.
  if (!is_host(name) || name.find_first_of(":[") != name.npos) return {};
  if (below && config::parse_host_pattern("*." + name)) return {name, "*." + name};
  return below ? std::vector<std::string>{} : std::vector<std::string>{name};
}

}  // namespace proxy::command::squid
