#include "proxy/command/fetch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <set>
#include <thread>

#include "config/text.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/command/ask.hpp"
#include "proxy/command/fetch_plan.hpp"
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
  auto at = settings->process.listen.front();
  // One that listens on all addresses does so on that of this machine, too.
  if (at.host == "0.0.0.0") at.host = "127.0.0.1";
  if (at.host == "::") at.host = "::1";
  return "http://" + to_text(at);
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

Result<std::vector<std::string>> texts_of(const FetchOptions& options, const Streams& streams) {
  std::vector<std::string> texts;
  std::error_code unknown;
  for (const auto& one : options.what) {
    const bool is_file = std::filesystem::exists(one, unknown);
    const bool is_name = one.find("://") != one.npos || (!is_file && first_step(one));
    if (is_name) {
      texts.push_back(one);
    } else if (const auto added = add_lines_of(one, streams, texts); !added) {
      return added.error();
    }
  }
  return texts;
}

// The member of the proxy next to us.
std::string nearest(const std::string& cache_status) {
  const auto comma = cache_status.rfind(", ");
  return comma == cache_status.npos ? cache_status : cache_status.substr(comma + 2);
}

// Of a text for people; empty if it is HTML.
std::string first_line(const std::string& text) {
  return text.starts_with('<') ? "" : text.substr(0, text.find('\n'));
}

// The steps of a run, and what became of them. Any thread.
class StepQueue {
 public:
  // Adds the steps that nobody has named before: several images may have a layer in common.
  void add(std::vector<FetchStep> steps) EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    for (auto& step : steps) {
      if (named_.insert(step.target).second) steps_.push_back(std::move(step));
    }
    told_.all = named_.size();
    changed_.notify_all();
  }

  // Waits for a step while others may add one: the answer to a manifest names more. Nothing: all
  // steps are done, or given up.
  std::optional<FetchStep> next() EXCLUDES(mutex_) {
    threads::MutexLock lock(mutex_);
    changed_.wait(lock, [this]() REQUIRES(mutex_) { return has_ended() || !steps_.empty(); });
    if (has_ended()) return std::nullopt;
    auto step = std::move(steps_.front());
    steps_.pop_front();
    ++under_way_;
    return step;
  }

  // `why`: the step has failed; empty: it has not.
  void end(const FetchStep& step, const std::string& why) EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    --under_way_;
    ++told_.done;
    if (!why.empty()) told_.failures.push_back(step.name + ": " + why);
    changed_.notify_all();
  }

  void give_up() EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    gives_up_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] const std::atomic<bool>& gives_up() const { return gives_up_; }

  struct Told {
    std::size_t all = 0;
    std::size_t done = 0;
    std::vector<std::string> failures = {};
    bool over = false;  // no step is left, or all were given up
  };
  Told tell() EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    told_.over = has_ended();
    return told_;
  }

 private:
  [[nodiscard]] bool has_ended() const REQUIRES(mutex_) {
    return gives_up_ || (steps_.empty() && under_way_ == 0);
  }

  threads::Mutex mutex_;
  threads::Condition changed_;
  std::deque<FetchStep> steps_ GUARDED_BY(mutex_);
  std::set<std::string> named_ GUARDED_BY(mutex_);
  std::size_t under_way_ GUARDED_BY(mutex_) = 0;
  Told told_ GUARDED_BY(mutex_);
  std::atomic<bool> gives_up_ = false;
};

// Other machines of the site mostly are like this one.
std::vector<std::string> platforms_of(const FetchOptions& options) {
  if (options.platforms.empty()) return {this_platform()};
  const bool is_all = std::ranges::find(options.platforms, "all") != options.platforms.end();
  return is_all ? std::vector<std::string>() : options.platforms;
}

// What all threads of a run share. Only work() is called by several.
class Fetching {
 public:
  Fetching(std::string proxy, const FetchOptions& options, const std::vector<std::string>& texts,
           const Streams& streams)
      : proxy_(std::move(proxy)),
        platforms_(platforms_of(options)),
        streams_(streams),
        progress_(streams) {
    for (const auto& text : texts) {
      auto step = first_step(text);
      steps_.add({step ? std::move(*step) : FetchStep{FetchStep::Kind::url, text, text}});
    }
    progress_.begin("fetching", texts.size());
  }

  // Carries out one step after another, until none is left.
  void work();
  void give_up() { steps_.give_up(); }
  // Returns whether all work is over.
  bool show();
  // After all work: says what failed, and returns the exit code.
  int result();

 private:
  struct Answer {
    HttpOutcome outcome = {};
    std::string location = {};
    std::string cache_status = {};
    std::string digest = {};  // of an image's manifest
    std::string next = {};    // of a listing
    std::string text = {};    // of a manifest or listing; or the beginning of an error's page
  };
  [[nodiscard]] HttpRequest request_for(const FetchStep& step, const std::string& target) const;
  Answer ask(const FetchStep& step, const std::string& target);
  std::string why_not(const FetchStep& step);
  std::string why_not_kept(const FetchStep& step, const std::string& target, const Answer& answer);
  std::string go_on(const FetchStep& step, const Answer& answer);

  const std::string proxy_;
  const std::vector<std::string> platforms_;
  const Streams& streams_;
  Progress progress_;
  StepQueue steps_;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> unreachable_ = false;  // nobody answers at the proxy's address
};

// A client of the proxy names the URL; a client of a mirror, the proxy.
HttpRequest Fetching::request_for(const FetchStep& step, const std::string& target) const {
  HttpRequest request{.url = proxy_, .target = target};
  request.field = step.kind == FetchStep::Kind::url ? "Host: " + authority_of(target)
                  : step.kind == FetchStep::Kind::manifest
                      ? "Accept: " + std::string(kManifestTypes)
                      : "Accept: */*";
  request.patience = kPatience;
  request.gives_up = &steps_.gives_up();
  return request;
}

Fetching::Answer Fetching::ask(const FetchStep& step, const std::string& target) {
  Answer answer;
  const bool names_more =
      step.kind == FetchStep::Kind::manifest || step.kind == FetchStep::Kind::listing;
  auto request = request_for(step, target);
  request.take_head = [&answer, names_more](long status, const FieldOf& field) {
    answer.location = field("Location");
    answer.cache_status = nearest(field("Cache-Status"));
    answer.digest = field("Docker-Content-Digest");
    answer.next = next_link(field("Link"));
    return names_more || status >= 300 || !says_stored(answer.cache_status);
  };
  answer.outcome = transfer(request, [&](std::string_view bytes, long status) {
    bytes_ += bytes.size();
    const auto most = status >= 400 ? kMostOfReason : names_more ? kLongestPlan : 0;
    answer.text += bytes.substr(0, most - std::min(answer.text.size(), most));
    return true;
  });
  return answer;
}

// The head has only said what the proxy was about to do.
std::string Fetching::why_not_kept(const FetchStep& step, const std::string& target,
                                   const Answer& answer) {
  if (says_stored(answer.cache_status)) return {};
  if (answer.cache_status.find("; stored") == std::string::npos)
    return "came, but the proxy does not store it: " + answer.cache_status;
  const auto digest_path = by_digest(target, answer.digest);
  auto request = request_for(step, digest_path.empty() ? target : digest_path);
  request.another_field = "Cache-Control: only-if-cached, max-stale";
  std::string kept;
  request.take_head = [&kept](long status, const FieldOf& field) {
    if (status == 504) kept = nearest(field("Cache-Status"));
    return false;
  };
  transfer(request, [](std::string_view, long) { return false; });
  return says_lacking(kept) ? "came, but the proxy has not kept it: " + kept : "";
}

// What the answer names is asked for next.
std::string Fetching::go_on(const FetchStep& step, const Answer& answer) {
  auto steps = steps_after(step, answer.text, platforms_, answer.next);
  if (!steps) return steps.error().text;
  steps_.add(std::move(*steps));
  return {};
}

// Why the proxy lacks it, or what it names; empty: it has the whole.
std::string Fetching::why_not(const FetchStep& step) {
  const bool is_url = step.kind == FetchStep::Kind::url;
  auto asked = is_url ? url_to_ask(step.target) : step.target;
  for (int redirects = 0; !asked.empty() && redirects <= kMostRedirects; ++redirects) {
    const auto answer = ask(step, asked);
    const auto& outcome = answer.outcome;
    if (outcome.head_only) return {};
    // Later, one failed connection is the URL's own failure.
    if (outcome.code != CURLE_OK && !outcome.connected && steps_.tell().done == 0) {
      unreachable_ = true;
      give_up();
    }
    if (outcome.code != CURLE_OK) return outcome.reason;
    if (outcome.status < 300) {
      auto why = why_not_kept(step, asked, answer);
      return why.empty() ? go_on(step, answer) : why;
    }
    if (outcome.status >= 400 || answer.location.empty() || !is_url)
      return fmt::format("{} {}", outcome.status, first_line(answer.text));
    asked = url_to_ask(answer.location, asked);
  }
  return asked.empty() ? "no http or https URL" : "too many redirects";
}

void Fetching::work() try {
  while (const auto step = steps_.next()) {
    const auto why = why_not(*step);
    if (steps_.gives_up() && !unreachable_) return;
    steps_.end(*step, why);
  }
} catch (const std::bad_alloc&) {
  give_up();
}

bool Fetching::show() {
  const auto told = steps_.tell();
  progress_.tell(
      fmt::format("{} of {}, {}", told.done, told.all, config::short_size(bytes_.load())));
  return told.over;
}

int Fetching::result() {
  progress_.clear();
  const auto told = steps_.tell();
  const auto failed = told.failures.size();
  for (const auto& failure : told.failures)
    say(streams_.err, fmt::format("hearsay fetch: {}\n", escaped(failure)));
  if (unreachable_) return kUnreachable;
  say(streams_.err,
      fmt::format("hearsay fetch: {} of {} are stored, {} failed; {} came\n", told.done - failed,
                  told.all, failed, config::short_size(bytes_.load())));
  return failed > 0 || told.done < told.all ? kRefusal : kDone;
}

int run(Fetching& fetching, unsigned parallel) {
  const peers::Curl library;
  const Interrupt interrupt;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < parallel; ++i) threads.emplace_back([&] { fetching.work(); });
    do {
      const auto waited = interrupt.await_for(std::chrono::milliseconds(100), kNoOutput);
      if (waited == Readiness::interrupted) fetching.give_up();
    } while (!fetching.show());
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

bool says_lacking(std::string_view member) {
  return member.find("; fwd=uri-miss") != member.npos ||
         member.find("; fwd=vary-miss") != member.npos ||
         member.find("; fwd=partial") != member.npos;
}

int fetch(const FetchOptions& options, const Streams& streams) try {
  auto proxy = proxy_of(options);
  if (!proxy) return refuse(streams, proxy.error().text);
  if (url_to_ask(*proxy).empty()) return refuse(streams, "--url: expected http://HOST:PORT");
  const auto texts = texts_of(options, streams);
  if (!texts) return refuse(streams, texts.error().text);
  Fetching fetching(std::move(*proxy), options, *texts, streams);
  return run(fetching, options.parallel);
} catch (const std::exception& error) {
  say(streams.err, fmt::format("hearsay fetch: broke off: {}\n", error.what()));
  return kRefusal;
}

}  // namespace proxy::command
