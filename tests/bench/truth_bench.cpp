// A neighbour whose cache turns over: compares how often its claims are wrong with the rate that
// its filter predicts. Evictions, purges, variants and a crash must not count as the filter's
// errors.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/zipf.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using namespace std::chrono_literals;
using support::Client;
using support::json;
using support::Request;

struct Options {
  double seconds = 30;
  std::uint64_t urls = 6000;  // that the neighbour is asked for
  unsigned seed = 1;
};

constexpr std::size_t kBodyBytes = 8 * 1024;
constexpr int kAsksEach = 4;     // lookups of what was never held, per look at what may be held
constexpr int kPurgeOneOf = 50;  // requests of the neighbour's client

// Half of the URLs have variants.
support::Reply page(const Request& request) {
  auto reply = support::cacheable(std::string(kBodyBytes, 'x'));
  return request.path.ends_with('0') ? reply.with("Vary", "X-Lang") : reply;
}

class Churn {
 public:
  explicit Churn(const Options& options) : options_(options) {
    origin_.otherwise(page);
    begin_neighbour();
    asker_ = std::make_unique<support::ProxyProcess>(
        support::with_peer("b", listener_.port(), {{"name", "a"}}));
  }

  // Lets both sides work for half of the time, kills the neighbour, and goes on for the other half.
  void run() {
    const auto half = std::chrono::duration<double>(options_.seconds / 2);
    for (const bool crashes : {true, false}) {
      std::jthread fills([this](const std::stop_token& stop) { use_neighbour(stop); });
      std::jthread asks([this](const std::stop_token& stop) { ask(stop); });
      std::this_thread::sleep_for(half);  // the load lasts so long
      if (!crashes) break;
      crash();
    }
    if (failed_) std::rethrow_exception(failed_);
  }

  json books() const { return asker_->digest_peer("b"); }
  // The mean of the rates that the neighbour's digests predicted while the asker used them.
  double predicted() const { return looks_ == 0 ? 0 : predictions_ / looks_; }

 private:
  void begin_neighbour() {
    neighbour_.reset();
    neighbour_ = std::make_unique<support::ProxyProcess>(
        json{{"name", "b"},
             {"digest", {{"bits_per_entry", 4}}},
             {"cache",
              {{"memory", "16MiB"}, {"disk", {{"path", home_.path()}, {"size", "64MiB"}}}}}},
        listener_);
  }

  void crash() {
    neighbour_->process().signal(SIGKILL);
    neighbour_->process().wait();
    begin_neighbour();
  }

  // What the neighbour's own client asks for: Zipf, one request in two for another variant.
  void use_neighbour(const std::stop_token& stop) {
    std::mt19937_64 random(options_.seed);
    const bench::Zipf zipf(options_.urls, 0.7);
    std::optional<Client> client;
    while (!stop.stop_requested()) {
      try {
        if (!client) client.emplace(listener_.port());
        const auto url = origin_.url("/held/" + std::to_string(zipf(random)));
        const bool purges = random() % kPurgeOneOf == 0;
        const char* language = random() % 2 == 0 ? "de" : "en";
        client->request(purges ? "POST" : "GET", url, {{"X-Lang", language}}, purges ? "x" : "");
      } catch (const std::exception&) {  // the neighbour was killed
        client.reset();
        std::this_thread::sleep_for(20ms);  // nobody listens yet
      }
    }
  }

  // What the asker's client asks for. An answer never depends on the neighbour, so each is right.
  void ask(const std::stop_token& stop) try {
    std::mt19937_64 random(options_.seed + 1);
    const bench::Zipf zipf(options_.urls, 0.7);
    Client client(asker_->port());
    while (!stop.stop_requested()) {
      for (int i = 0; i < kAsksEach; ++i)
        expect_right(client, "/never/" + std::to_string(++asked_));
      expect_right(client, "/held/" + std::to_string(zipf(random)));
      if (asked_ % 400 == 0) look();
    }
  } catch (...) {
    failed_ = std::current_exception();
  }

  void expect_right(Client& client, const std::string& path) {
    const auto response = client.get(origin_.url(path), {{"X-Lang", "de"}});
    if (response.status == 200 && response.whole && response.body.size() == kBodyBytes) return;
    throw std::runtime_error("a wrong answer for " + path + ": " + response.start_line);
  }

  void look() {
    const json rate = books().at("false_positive_rate");
    if (rate.is_null()) return;
    predictions_ += rate.get<double>();
    looks_ += 1;
  }

  const Options options_;
  const support::TemporaryDirectory home_;
  support::ScriptedOrigin origin_;
  support::Listener listener_;
  std::unique_ptr<support::ProxyProcess> neighbour_;
  std::unique_ptr<support::ProxyProcess> asker_;
  std::uint64_t asked_ = 0;
  double predictions_ = 0;
  double looks_ = 0;
  std::exception_ptr failed_;
};

int run(const Options& options) {
  Churn churn(options);
  churn.run();
  const json books = churn.books();
  const double observed = books.at("observed_false_positive_rate").is_null()
                              ? 0
                              : books.at("observed_false_positive_rate").get<double>();
  fmt::print("lookups {}, claims {}, true hits {}, false hits by cause {}, rests {}\n",
             books.at("lookups").dump(), books.at("claims").dump(), books.at("true_hits").dump(),
             books.at("false_hit_causes").dump(), books.at("rests").dump());
  fmt::print("observed {:.4f}, predicted {:.4f}, ratio {:.3f}\n", observed, churn.predicted(),
             observed / churn.predicted());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code = bench::parse(
      argc, argv, "Observed against predicted errors of a neighbour whose cache turns over",
      {{"--seconds", &options.seconds, "how long"},
       {"--urls", &options.urls, "that the neighbour is asked for"},
       {"--seed", &options.seed, "of the workload"}});
  if (exit_code) return *exit_code;
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "truth_bench: " << error.what() << '\n';
    return 1;
  }
}
