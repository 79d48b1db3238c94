// Neighbours under one workload: measures the share of the requests to the origin that peering
// saves, of those that it could save, and what is held more than once.
#include <fmt/format.h>

#include <future>
#include <iostream>
#include <set>
#include <span>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/mesh/clients.hpp"
#include "tests/bench/mesh/mesh.hpp"
#include "tests/bench/mesh/workload.hpp"

namespace {

using bench::Ask;
using std::chrono::steady_clock;

struct Options {
  bench::Workload workload;
  std::uint64_t proxies = 4;
  std::string memory = "1GiB";
  std::string disk;
  double percent = 0;
  double kill_every = 0;
  std::uint64_t to_origin = 0;
  std::string settings;
};

struct Tally {
  std::size_t requests = 0;
  std::size_t origin = 0;
  std::size_t local = 0;
  std::size_t peer = 0;
  std::size_t ideal = 0;  // origin requests if peering were perfect: one per URL
  std::size_t alone = 0;  // origin requests without peering: one per URL and proxy
};

// The tally after `asks`, which must be all requests so far.
Tally tally(const bench::Mesh& mesh, std::span<const Ask> asks, const bench::Outcome& outcome) {
  std::set<std::size_t> urls;
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Ask& ask : asks) {
    urls.insert(ask.url);
    pairs.emplace(ask.proxy, ask.url);
  }
  return {asks.size(), mesh.origin_requests(), outcome.local_hits, outcome.peer_hits, urls.size(),
          pairs.size()};
}

Tally between(const Tally& from, const Tally& to) {
  return {to.requests - from.requests, to.origin - from.origin, to.local - from.local,
          to.peer - from.peer,         to.ideal - from.ideal,   to.alone - from.alone};
}

// The share of the requests that peering can save; 1 if it can save none. Holds only where no proxy
// evicts.
double share_saved(const Tally& tally) {
  if (tally.alone == tally.ideal) return 1;
  return (static_cast<double>(tally.alone) - static_cast<double>(tally.origin)) /
         static_cast<double>(tally.alone - tally.ideal);
}

void print(const char* title, const Tally& tally, bool evicts) {
  const auto share = [&](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(tally.requests);
  };
  fmt::print("{:<11}{} requests: origin {:.3f}, local hits {:.3f}, peer hits {:.3f}", title,
             tally.requests, share(tally.origin), share(tally.local), share(tally.peer));
  if (!evicts) {
    fmt::print("; {} to the origin (ideal {}, no peering {}), saved {:.2f} %", tally.origin,
               tally.ideal, tally.alone, 100 * share_saved(tally));
  }
  fmt::print("\n");
  std::cout.flush();
}

// Plays the requests, and meanwhile kills one proxy after another. `kills`: so many so far.
void play(bench::Mesh& mesh, std::span<const Ask> asks, const Options& options,
          bench::Outcome& outcome, std::size_t& kills) {
  const auto clients = std::async(std::launch::async,
                                  [&] { bench::play(mesh, asks, options.workload.rate, outcome); });
  if (options.kill_every <= 0) return;
  const auto pause = std::chrono::duration_cast<steady_clock::duration>(
      std::chrono::duration<double>(options.kill_every));
  for (auto next = steady_clock::now() + pause;
       clients.wait_until(next) == std::future_status::timeout; next += pause) {
    mesh.restart(kills++ % mesh.size());
  }
}

bench::MeshSettings mesh_settings(const Options& options, const std::vector<Ask>& asks) {
  bench::MeshSettings settings{.proxies = options.proxies,
                               .memory = options.memory,
                               .disk = options.disk,
                               .more = options.settings,
                               .to_origin = std::chrono::milliseconds(options.to_origin),
                               .body = options.workload.body};
  if (options.percent > 0) {
    const auto bytes = bench::footprint(asks, options.workload.body);
    settings.memory = fmt::format(
        "{}KiB",
        static_cast<std::uint64_t>(static_cast<double>(bytes) * options.percent / 100 / 1024));
    fmt::print("footprint {} MiB, cache of each proxy {}\n", bytes >> 20, settings.memory);
  }
  return settings;
}

void print_held(const bench::Held& held) {
  fmt::print("{} entries held, {:.1f} % of them at several proxies; {} bytes of memory for each\n",
             held.entries,
             100 * static_cast<double>(held.at_several) / static_cast<double>(held.entries),
             held.bytes_per_entry);
}

int run(const Options& options) {
  const auto asks = bench::asks_of(options.workload, options.proxies);
  const std::span<const Ask> all(asks);
  bench::Mesh mesh(mesh_settings(options, asks));
  bench::Outcome outcome;
  std::size_t kills = 0;
  play(mesh, all.first(asks.size() / 2), options, outcome, kills);
  const Tally at_half = tally(mesh, all.first(asks.size() / 2), outcome);
  const bool evicts = options.percent > 0;
  print("first half", at_half, evicts);
  play(mesh, all.subspan(asks.size() / 2), options, outcome, kills);
  const Tally whole = tally(mesh, all, outcome);
  print("last half", between(at_half, whole), evicts);
  print("all", whole, evicts);
  print_held(mesh.held());
  mesh.print_peers();
  fmt::print("kills {}, requests cut by the kill of their own proxy and asked again {}\n", kills,
             outcome.cut.load());
  fmt::print(
      "client errors {}; of requests whose own proxy served: over 100 ms {}, slowest {} ms\n",
      outcome.errors.load(), outcome.over_100_ms.load(), outcome.slowest_ms.load());
  return outcome.errors == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  auto& workload = options.workload;
  const auto exit_code = bench::parse(
      argc, argv, "Proxies that are all neighbours, under a Zipf workload",
      {
          {"--seconds", &workload.seconds, "how long"},
          {"--rate", &workload.rate, "requests per second, all proxies together"},
          {"--alpha", &workload.alpha, "the exponent of the popularities"},
          {"--urls", &workload.urls, "how many there are"},
          {"--body", &workload.body, "bytes of a body, on average"},
          {"--seed", &workload.seed, "of the workload"},
          {"--proxies", &options.proxies, "how many there are"},
          {"--memory", &options.memory, "cache.memory of each proxy"},
          {"--percent", &options.percent, "cache.memory as percentage of all URLs asked for"},
          {"--disk", &options.disk, "the size of each proxy's disk, such as 1GiB; empty: none"},
          {"--kill-every", &options.kill_every, "seconds between SIGKILLs; 0: none"},
          {"--to-origin", &options.to_origin, "milliseconds that the origin takes"},
          {"--settings", &options.settings, "JSON merged into each proxy's settings"},
      });
  if (exit_code) return *exit_code;
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "mesh_bench: " << error.what() << '\n';
    return 1;
  }
}
