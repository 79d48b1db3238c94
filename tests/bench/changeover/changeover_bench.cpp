// The times of steady clients while the proxy reloads its settings, and while new processes take
// over from it: no request may fail, and the 99th percentile stays near that of a quiet run. One
// more take-over happens while a large download is under way.
#include <fmt/format.h>

#include <future>
#include <iostream>
#include <thread>

#include "tests/bench/arguments.hpp"
#include "tests/bench/changeover/steady_clients.hpp"
#include "tests/bench/descriptor_limit.hpp"
#include "tests/support/await.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"
#include "tests/support/successors.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using support::json;

constexpr std::size_t kHot = 1000;            // URLs that are stored before
constexpr std::size_t kMissEvery = 20;        // requests: one of them is for a new URL
constexpr double kAllowed = 20;               // milliseconds more than in a quiet run
constexpr double kLongestWait = 1000;         // milliseconds, of one request beside the download
constexpr std::chrono::seconds kLongest{30};  // for one change on a busy machine

struct Options {
  double rate = 10'000;
  double seconds = 20;  // of each row
  std::uint64_t reloads = 10;
  std::uint64_t take_overs = 5;
  std::uint64_t listed = 100'000;  // hosts on the block list, which each reload reads again
  std::uint64_t mebibytes = 64;    // of the download
};

class Scene {
 public:
  explicit Scene(const Options& options)
      : options_(options), proxy_((write_list(), settings(0))), successors_(proxy_.process()) {
    origin_.record_nothing();
    const auto reply = support::cacheable(std::string(1024, 'x'));
    origin_.otherwise([reply](const support::Request&) { return reply; });
    for (std::size_t i = 0; i < kHot; ++i) {
      support::Client client(proxy_.port());
      client.get(origin_.url("/hot/" + std::to_string(i)));
    }
  }

  // The times of clients for the length of a row, while `change` happens `times` times.
  template <class Change>
  bench::Times measure(std::uint64_t times, Change change) {
    ++row_;
    const auto url_of = [this](std::size_t n) {
      return n % kMissEvery == 0 ? origin_.url(fmt::format("/new/{}/{}", row_, n))
                                 : origin_.url(fmt::format("/hot/{}", n * 7 % kHot));
    };
    const bench::SteadyPace pace{.rate = options_.rate};
    auto load = std::async(std::launch::async, [&] {
      return bench::ask_steadily(proxy_.port(), url_of, pace, options_.seconds);
    });
    const std::chrono::duration<double> pause(options_.seconds / static_cast<double>(times + 1));
    const auto begun = Clock::now();
    for (std::uint64_t i = 0; i < times; ++i) {
      std::this_thread::sleep_until(begun + pause * static_cast<double>(i + 1));
      change();
    }
    return load.get();
  }

  // Each changes the size of the cache, a rule, and the bandwidth.
  void reload() { proxy_.reload(settings(++version_)); }

  void take_over() {
    if (!successors_.succeed(kLongest)) throw std::runtime_error(proxy_.process().errors());
  }

  struct Download {
    bool taken_over = false;
    bool whole = false;
    double longest_ms = 0;  // of the requests of others, from the order to take over
  };
  // A download that lasts longer than timeouts.drain. Half of it has arrived when the new process
  // takes over, and the rest is sent once others have had their answers.
  Download take_over_during_download() {
    const auto half = std::string(options_.mebibytes << 19, 'h');
    support::Gate gate;
    origin_.on("/large", support::Reply(200, {{"ETag", "\"1\""}})
                             .with("Cache-Control", "max-age=3600")
                             .sized(half.size() * 2)
                             .send(half)
                             .wait(gate)
                             .send(half));
    support::Client client(proxy_.port());
    client.send(support::request_text("GET", origin_.url("/large")));
    auto response = client.read_head();
    auto body = std::async(std::launch::async, [&] { client.read_rest(response); });
    const auto before = successors_.count();
    successors_.ask_for_one();
    Download download;
    const auto latest = Clock::now() + kLongest;
    auto until = latest;  // a second beyond the take-over
    while (Clock::now() < until) {
      const auto asked = Clock::now();
      support::Client other(proxy_.port());
      if (other.get(origin_.url("/hot/1")).status != 200) break;
      const std::chrono::duration<double, std::milli> taken = Clock::now() - asked;
      download.longest_ms = std::max(download.longest_ms, taken.count());
      if (until != latest || !successors_.await_more_than(before, 0ms)) continue;
      until = Clock::now() + 1s;
      download.taken_over = true;
    }
    gate.open();
    body.get();
    download.whole = response.body == half + half;
    return download;
  }

 private:
  void write_list() const {
    std::string list;
    for (std::uint64_t i = 0; i < options_.listed; ++i) list += fmt::format("host{}.invalid\n", i);
    support::write_file(files_ / "block.txt", list);
  }

  json settings(std::size_t version) const {
    const auto mebibytes = 96 + 32 * (version % 2);
    return {
        {"cache",
         {{"memory", fmt::format("{}MiB", mebibytes)},
          {"disk", {{"path", files_ / "disk"}, {"size", "1GiB"}}}}},
        {"access",
         {{"block", {files_ / "block.txt"}},
          {"rules",
           {{{"name", fmt::format("v{}", version)}, {"action", "deny"}, {"to", {"a.invalid"}}}}}}},
        {"limits", {{"bandwidth", fmt::format("{}GiB", 10 + version % 2)}}},
        {"timeouts", {{"drain", "200ms"}}}};
  }

  const Options& options_;
  support::TemporaryDirectory files_;
  support::ScriptedOrigin origin_;
  support::ProxyProcess proxy_;
  support::Successors successors_;
  std::size_t version_ = 0;
  std::size_t row_ = 0;
};

void print(const std::string& row, const bench::Times& times) {
  fmt::print(
      "{:14} {:8} requests  {} failed  p50 {:6.2f} ms  p99 {:6.2f} ms  p99.9 {:6.2f} ms  max "
      "{:6.2f} ms\n",
      row, times.ms.size() + times.failed, times.failed, times.percentile(50), times.percentile(99),
      times.percentile(99.9), times.percentile(100));
  if (times.failed > 0) fmt::print("  the first failure: {}\n", times.first_failure);
}

bool measure(const Options& options) {
  Scene scene(options);
  const auto quiet = scene.measure(0, [] {});
  print("quiet", quiet);
  const auto is_good = [&](const bench::Times& times) {
    return times.failed == 0 && times.percentile(99) <= quiet.percentile(99) + kAllowed;
  };
  const auto reloads = scene.measure(options.reloads, [&] { scene.reload(); });
  print(fmt::format("{} reloads", options.reloads), reloads);
  const auto take_overs = scene.measure(options.take_overs, [&] { scene.take_over(); });
  print(fmt::format("{} take-overs", options.take_overs), take_overs);
  const auto download = scene.take_over_during_download();
  fmt::print("take-over during a download of {} MiB: {}, others waited {:.1f} ms at most\n",
             options.mebibytes, download.whole ? "whole" : "CUT", download.longest_ms);
  return quiet.failed == 0 && is_good(reloads) && is_good(take_overs) && download.taken_over &&
         download.whole && download.longest_ms <= kLongestWait;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code = bench::parse(
      argc, argv, "Clients' times while the settings are reloaded and new processes take over",
      {
          {"--rate", &options.rate, "requests a second"},
          {"--seconds", &options.seconds, "of each row"},
          {"--reloads", &options.reloads},
          {"--take-overs", &options.take_overs},
          {"--listed", &options.listed, "hosts on the block list"},
          {"--mebibytes", &options.mebibytes, "of the download"},
      });
  if (exit_code) return *exit_code;
  bench::raise_descriptor_limit();
  try {
    const bool is_good = measure(options);
    if (!is_good)
      fmt::print("a request failed, or p99 is more than {} ms above the quiet run's\n", kAllowed);
    return is_good ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "changeover_bench: " << error.what() << '\n';
    return 1;
  }
}
