#include "proxy/command/fetch.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "config/text.hpp"
#include "proxy/command/ask.hpp"
#include "proxy/command/interrupt.hpp"
#include "proxy/command/lines.hpp"
#include "proxy/command/subcommand.hpp"

namespace proxy::command {
namespace {

// An origin may think for so long before it sends a byte.
constexpr std::chrono::seconds kPatience{300};
constexpr int kMostRedirects = 10;
constexpr int kNoOutput = -1;  // poll() passes over it
constexpr std::size_t kMostOfReason = 300;

using UrlText = std::unique_ptr<CURLU, peers::FreedBy<curl_url_cleanup>>;

UrlText parsed_url(const std::string& url) {
  UrlText parsed(curl_url());
  if (!parsed) throw std::bad_alloc();
  return curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK ? std::move(parsed)
                                                                                : nullptr;
}

std::string part_of(const UrlText& url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, 0) != CURLUE_OK) return {};
  return peers::CurlText(text).get();
}

std::string authority_of(const std::string& url) {
  const auto parsed = parsed_url(url);
  const auto port = part_of(parsed, CURLUPART_PORT);
  return part_of(parsed, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

Answered<std::string> proxy_of(const FetchOptions& options) {
  if (!options.proxy.empty()) return options.proxy;
  auto file = options.config;
  if (auto wrong = use_default_settings(file, "--config FILE, or the proxy by --url");
      !wrong.empty())
    return Unanswered{kUsage, std::move(wrong)};
  const auto settings = read_settings(file);
  if (!settings) return Unanswered{kUsage, settings.error().text};
  const auto& [host, port] = settings->process.listen.front();
  // One that listens on all addresses does so on that of this machine, too.
  const bool is_all = host == "0.0.0.0" || host == "::";
  const auto name = host == "::" ? "[::1]" : is_all ? "127.0.0.1" : host;
  const bool is_bare = name.find(':') != name.npos && !name.starts_with('[');
  return fmt::format("http://{}:{}", is_bare ? '[' + name + ']' : name, port);
}

Result<void> add_lines_of(const std::string& file, const Streams& streams,
                          std::vector<std::string>& urls) {
  const auto input = InputFile::open(file, streams);
  if (!input) return input.error();
  Progress progress(streams);
  progress.begin("reading " + input->name(), input->size());
  Lines lines(*input, progress);
  while (const auto line = lines.next()) {
    const auto begin = line->find_first_not_of(" \t");
    if (begin == line->npos || (*line)[begin] == '#') continue;
    urls.emplace_back(line->substr(begin, line->find_last_not_of(" \t") + 1 - begin));
  }
  if (lines.trouble()) return *lines.trouble();
  return boost::system::in_place_value;
}

Result<std::vector<std::string>> urls_of(const FetchOptions& options, const Streams& streams) {
  std::vector<std::string> urls;
  for (const auto& one : options.what) {
    if (one.find("://") != one.npos) {
      urls.push_back(one);
    } else if (const auto added = add_lines_of(one, streams, urls); !added) {
      return added.error();
    }
  }
  return urls;
}

// The member of the proxy next to us.
std::string nearest(const std::string& cache_status) {
  const auto comma = cache_status.rfind(", ");
  return comma == cache_status.npos ? cache_status : cache_status.substr(comma + 2);
}

std::string why_not_stored(const std::string& cache_status) {
  const bool is_stored = cache_status.find("; stored") != cache_status.npos;
  return is_stored ? "" : "came, but the proxy does not store it: " + cache_status;
}

// Of a text for people; empty if it is HTML.
std::string first_line(const std::string& text) {
  return text.starts_with('<') ? "" : text.substr(0, text.find('\n'));
}

// What all threads of a run share. Only work() is called by several.
class Fetching {
 public:
  Fetching(std::string proxy, std::vector<std::string> urls, const Streams& streams)
      : proxy_(std::move(proxy)),
        urls_(std::move(urls)),
        failures_(urls_.size()),
        streams_(streams),
        progress_(streams) {
    progress_.begin("fetching", urls_.size());
  }

  // Fetches one URL after another, until none is left.
  void work();
  void give_up() { gives_up_ = true; }
  [[nodiscard]] bool is_over() const { return done_ == urls_.size() || gives_up_; }
  void show();
  // After all work: says what failed, and returns the exit code.
  int result();

 private:
  struct Answer {
    HttpOutcome outcome = {};
    std::string location = {};
    std::string cache_status = {};
    std::string reason = {};  // the beginning of an error's page
  };
  Answer ask(const std::string& url);
  std::string why_not(const std::string& url);

  const std::string proxy_;
  const std::vector<std::string> urls_;
  std::vector<std::string>
      failures_;  // of each URL; empty: none. Written by the thread that has it
  const Streams streams_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> gives_up_ = false;
  std::atomic<bool> unreachable_ = false;
  Progress progress_;
};

Fetching::Answer Fetching::ask(const std::string& url) {
  Answer answer;
  HttpRequest request{.url = proxy_, .target = url, .field = "Host: " + authority_of(url)};
  request.patience = kPatience;
  request.gives_up = &gives_up_;
  request.take_head = [&answer](long status, const FieldOf& field) {
    answer.location = field("Location");
    answer.cache_status = nearest(field("Cache-Status"));
    return status >= 300 || !says_stored(answer.cache_status);
  };
  answer.outcome = transfer(request, [&](std::string_view bytes, long status) {
    bytes_ += bytes.size();
    const auto room = kMostOfReason - std::min(answer.reason.size(), kMostOfReason);
    if (status >= 400) answer.reason += bytes.substr(0, room);
    return true;
  });
  return answer;
}

// Why the URL is not stored; empty: it is, and whole.
std::string Fetching::why_not(const std::string& url) {
  auto asked = url_to_ask(url);
  for (int redirects = 0; !asked.empty() && redirects <= kMostRedirects; ++redirects) {
    const auto answer = ask(asked);
    const auto& outcome = answer.outcome;
    if (outcome.head_only) return {};
    // Later, one failed connection is the URL's own failure.
    if (outcome.code != CURLE_OK && !outcome.connected && done_ == 0)
      unreachable_ = gives_up_ = true;
    if (outcome.code != CURLE_OK) return outcome.reason;
    if (outcome.status < 300) return why_not_stored(answer.cache_status);
    if (outcome.status >= 400 || answer.location.empty())
      return fmt::format("{} {}", outcome.status, first_line(answer.reason));
    asked = url_to_ask(answer.location, asked);
  }
  return asked.empty() ? "no http or https URL" : "too many redirects";
}

void Fetching::work() try {
  for (auto i = next_++; i < urls_.size() && !gives_up_; i = next_++) {
    auto why = why_not(urls_[i]);
    if (gives_up_ && !unreachable_) return;
    failures_[i] = std::move(why);
    ++done_;
  }
} catch (const std::bad_alloc&) {
  gives_up_ = true;
}

void Fetching::show() {
  progress_.tell(
      fmt::format("{} of {}, {}", done_.load(), urls_.size(), config::short_size(bytes_.load())));
}

int Fetching::result() {
  progress_.clear();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < urls_.size(); ++i) {
    const auto& why = failures_[i];
    if (why.empty()) continue;
    ++failed;
    say(streams_.err, fmt::format("hearsay fetch: {}: {}\n", escaped(urls_[i]), escaped(why)));
  }
  if (unreachable_) return kUnreachable;
  say(streams_.err,
      fmt::format("hearsay fetch: {} of {} are stored, {} failed; {} came\n", done_ - failed,
                  urls_.size(), failed, config::short_size(bytes_.load())));
  return failed > 0 || done_ < urls_.size() ? kRefusal : kDone;
}

int run(Fetching& fetching, unsigned parallel) {
  const peers::Curl library;
  const Interrupt interrupt;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < parallel; ++i) threads.emplace_back([&] { fetching.work(); });
    while (!fetching.is_over()) {
      const auto waited = interrupt.await_for(std::chrono::milliseconds(100), kNoOutput);
      if (waited == Readiness::interrupted) fetching.give_up();
      fetching.show();
    }
  }
  const int result = fetching.result();
  return interrupt.signal() == 0 ? result : kSignalled + interrupt.signal();
}

int refuse(const Streams& streams, const std::string& why) {
  say(streams.err, "hearsay fetch: " + why + '\n');
  return kUsage;
}

}  // namespace

std::string url_to_ask(const std::string& url, const std::string& base) {
  auto parsed = parsed_url(base.empty() ? url : base);
  if (!parsed) return {};
  const bool is_good =
      base.empty() || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK;
  const auto scheme = part_of(parsed, CURLUPART_SCHEME);
  if (!is_good || (scheme != "http" && scheme != "https")) return {};
  curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0);
  return part_of(parsed, CURLUPART_URL);
}

bool says_stored(std::string_view member) {
  return member.find("; hit") != member.npos || member.find("; fwd-status=304") != member.npos;
}

int fetch(const FetchOptions& options, const Streams& streams) try {
  auto proxy = proxy_of(options);
  if (!proxy) return refuse(streams, proxy.error().text);
  if (url_to_ask(*proxy).empty()) return refuse(streams, "--url: expected http://HOST:PORT");
  auto urls = urls_of(options, streams);
  if (!urls) return refuse(streams, urls.error().text);
  Fetching fetching(std::move(*proxy), std::move(*urls), streams);
  return run(fetching, options.parallel);
} catch (const std::exception& error) {
  say(streams.err, fmt::format("hearsay fetch: broke off: {}\n", error.what()));
  return kRefusal;
}

}  // namespace proxy::command
