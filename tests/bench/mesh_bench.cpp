// Four neighbours under one workload: measures the share of the requests to the origin that peering
// saves, of those that it could save.
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/zipf.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"

namespace {

using std::chrono::steady_clock;
using support::Client;
using support::json;

constexpr std::size_t kProxies = 4;
constexpr std::size_t kThreads = 16;  // clients at once; each has a connection to each proxy
constexpr const char* kNames[kProxies] = {"a", "b", "c", "d"};

struct Options {
  double seconds = 10;
  double rate = 150;
  double alpha = 0.9;
  std::size_t urls = 60'000;
  unsigned seed = 1;
};

struct Ask {
  std::size_t proxy;
  std::size_t url;
};

std::vector<Ask> workload(const Options& options) {
  std::mt19937_64 generator(options.seed);
  const bench::Zipf zipf(options.urls, options.alpha);
  std::uniform_int_distribution<std::size_t> any_proxy(0, kProxies - 1);
  std::vector<Ask> asks(static_cast<std::size_t>(options.seconds * options.rate));
  for (Ask& ask : asks) ask = {any_proxy(generator), zipf(generator)};
  return asks;
}

std::string path_of(std::size_t url) {
  return "/" + std::to_string(url);
}

// 1 to 4 KiB, different for each URL.
std::string body_of(const std::string& path) {
  const std::size_t size = 1024 + std::hash<std::string>()(path) % 3073;
  std::string body;
  while (body.size() < size) body += path;
  body.resize(size);
  return body;
}

class Mesh {
 public:
  Mesh() {
    origin_.otherwise([](const support::Request& request) {
      return support::cacheable(body_of(request.path), "max-age=86400");
    });
    for (std::size_t i = 0; i < kProxies; ++i) {
      proxies_[i] = std::make_unique<support::ProxyProcess>(settings_of(i), listeners_[i]);
    }
  }

  std::uint16_t port(std::size_t proxy) const { return proxies_[proxy]->port(); }
  std::string url(std::size_t number) const { return origin_.url(path_of(number)); }
  std::size_t origin_requests() const { return origin_.count(); }

  // Sums `counter` over all peers of all proxies.
  std::uint64_t sum(const char* counter) const {
    std::uint64_t total = 0;
    for (const auto& proxy : proxies_) {
      const json page = proxy->digest();
      for (const json& peer : page.at("peers")) total += peer.at(counter).get<std::uint64_t>();
    }
    return total;
  }

  void print_peers() const {
    for (std::size_t i = 0; i < kProxies; ++i) {
      const json page = proxies_[i]->digest();
      fmt::print("{}: {} entries, {} MiB resident\n", kNames[i], page.at("entries").dump(),
                 proxies_[i]->resident_bytes() >> 20);
      for (const json& peer : page.at("peers")) {
        fmt::print(
            "   of {}: true {}, false {}, failures {}, polls {}, in vain {}, last error {}\n",
            peer.at("name").get<std::string>(), peer.at("true_hits").dump(),
            peer.at("false_hits").dump(), peer.at("failures").dump(), peer.at("polls").dump(),
            peer.at("polls_failed").dump(), peer.at("last_error").dump());
      }
    }
  }

 private:
  // The defaults, except what a bench on loopback needs; null leaves a default in force.
  json settings_of(std::size_t self) const {
    json peers = json::array();
    for (std::size_t i = 0; i < kProxies; ++i) {
      if (i == self) continue;
      const std::string url = "http://127.0.0.1:" + std::to_string(listeners_[i].port());
      peers.push_back({{"name", kNames[i]}, {"url", url}});
    }
    return {{"name", kNames[self]},
            {"peers", peers},
            {"digest", nullptr},
            {"cache", {{"memory", "1GiB"}}},
            {"log", {{"access", "none"}}}};
  }

  support::ScriptedOrigin origin_;
  std::array<support::Listener, kProxies> listeners_;
  std::array<std::unique_ptr<support::ProxyProcess>, kProxies> proxies_;
};

// One client with a connection to each proxy, reopened after an error.
class Asker {
 public:
  explicit Asker(const Mesh& mesh) : mesh_(mesh) {}

  // Returns what is wrong with the answer, or nothing if it is right.
  std::string ask(const Ask& ask) {
    auto& client = clients_[ask.proxy];
    try {
      if (!client) client = std::make_unique<Client>(mesh_.port(ask.proxy));
      const auto response = client->get(mesh_.url(ask.url));
      if (response.status != 200) return response.start_line;
      if (!response.whole || response.body != body_of(path_of(ask.url))) return "not its body";
      return {};
    } catch (const std::exception& error) {
      client.reset();
      return error.what();
    }
  }

 private:
  const Mesh& mesh_;
  std::array<std::unique_ptr<Client>, kProxies> clients_;
};

struct Outcome {
  std::atomic<std::size_t> errors = 0;
  std::atomic<std::int64_t> slowest_ms = 0;
};

void note(Outcome& outcome, const std::string& error, std::int64_t took_ms) {
  if (!error.empty() && ++outcome.errors <= 10) fmt::print(stderr, "client error: {}\n", error);
  auto slowest = outcome.slowest_ms.load();
  while (took_ms > slowest && !outcome.slowest_ms.compare_exchange_weak(slowest, took_ms)) {
  }
}

// Sends each request at its scheduled time, or as soon afterwards as a client is free.
void play(const Mesh& mesh, std::span<const Ask> asks, double rate, Outcome& outcome) {
  const auto start = steady_clock::now();
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Asker asker(mesh);
      for (std::size_t n = next++; n < asks.size(); n = next++) {
        const std::chrono::duration<double> offset(static_cast<double>(n) / rate);
        std::this_thread::sleep_until(start +
                                      std::chrono::duration_cast<steady_clock::duration>(offset));
        const auto asked = steady_clock::now();
        const std::string error = asker.ask(asks[n]);
        const auto took = steady_clock::now() - asked;
        note(outcome, error, std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
      }
    });
  }
}

struct Tally {
  std::size_t requests = 0;
  std::size_t origin = 0;
  std::size_t ideal = 0;  // origin requests if peering were perfect: one per URL
  std::size_t alone = 0;  // origin requests without peering: one per URL and proxy
  std::uint64_t true_hits = 0;
  std::uint64_t false_hits = 0;
};

// The tally after `asks`, which must be all requests so far. No proxy may have evicted any of them.
Tally tally(const Mesh& mesh, std::span<const Ask> asks) {
  std::set<std::size_t> urls;
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Ask& ask : asks) {
    urls.insert(ask.url);
    pairs.emplace(ask.proxy, ask.url);
  }
  return {asks.size(),  mesh.origin_requests(), urls.size(),
          pairs.size(), mesh.sum("true_hits"),  mesh.sum("false_hits")};
}

Tally between(const Tally& from, const Tally& to) {
  return {to.requests - from.requests,   to.origin - from.origin,
          to.ideal - from.ideal,         to.alone - from.alone,
          to.true_hits - from.true_hits, to.false_hits - from.false_hits};
}

// The share of the requests that peering can save; 1 if it can save none.
double share_saved(const Tally& tally) {
  if (tally.alone == tally.ideal) return 1;
  return (static_cast<double>(tally.alone) - static_cast<double>(tally.origin)) /
         static_cast<double>(tally.alone - tally.ideal);
}

void print(const char* title, const Tally& tally) {
  fmt::print(
      "{}: {} requests, {} to the origin (ideal {}, no peering {}), saved {:.2f} %, "
      "true hits {}, false hits {}\n",
      title, tally.requests, tally.origin, tally.ideal, tally.alone, 100 * share_saved(tally),
      tally.true_hits, tally.false_hits);
  std::cout.flush();
}

int run(const Options& options) {
  const auto asks = workload(options);
  const std::span<const Ask> all(asks);
  const auto most = asks.size() * 9 / 10;
  const Mesh mesh;
  Outcome outcome;
  play(mesh, all.first(most), options.rate, outcome);
  const Tally at_nine_tenths = tally(mesh, all.first(most));
  print("first nine tenths", at_nine_tenths);
  play(mesh, all.subspan(most), options.rate, outcome);
  const Tally whole = tally(mesh, all);
  print("last tenth", between(at_nine_tenths, whole));
  print("all", whole);
  mesh.print_peers();
  fmt::print("client errors {}, slowest answer {} ms\n", outcome.errors.load(),
             outcome.slowest_ms.load());
  return outcome.errors == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code =
      bench::parse(argc, argv, "Four peered proxies under a Zipf workload",
                   {
                       {"--seconds", &options.seconds, "how long"},
                       {"--rate", &options.rate, "requests per second, all proxies together"},
                       {"--alpha", &options.alpha, "the exponent of the popularities"},
                       {"--urls", &options.urls, "how many there are"},
                       {"--seed", &options.seed, "of the workload"},
                   });
  if (exit_code) return *exit_code;
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "mesh_bench: " << error.what() << '\n';
    return 1;
  }
}
