// What neighbours cost clients when they fail, are slow, or lie: an open loop of requests, each for
// a URL that all neighbours claim, beside the same without peers.
#include <fmt/format.h>

#include <csignal>
#include <iostream>
#include <string>

#include "tests/bench/arguments.hpp"
#include "tests/bench/faults/answers.hpp"
#include "tests/bench/faults/honest.hpp"
#include "tests/bench/faults/killed.hpp"
#include "tests/bench/faults/lines.hpp"
#include "tests/bench/faults/meshes.hpp"
#include "tests/bench/faults/rows.hpp"
#include "tests/bench/faults/site.hpp"
#include "tests/bench/faults/stale_copies.hpp"

namespace {

using namespace std::chrono_literals;

// What all proxies of a site are asked for.
struct OfSite {
  std::uint64_t proxies = 0;
  std::uint64_t objects = 0;
  std::uint64_t unshared = 0;
  std::uint64_t lost = 0;
  std::uint64_t large = 0;
};

struct Options {
  bench::Load load;
  std::string only;
  std::uint64_t share = 0;
  std::uint64_t honest = 0;
  std::uint64_t killed = 0;
  OfSite site;
  std::uint64_t stop = 0;
  std::uint64_t idle = 0;
  std::uint64_t dead = 0;
  std::uint64_t stale = 0;
  std::uint64_t lifetimes = 5;
};

bool run_rows(const Options& options) {
  bool well = true;
  for (const auto& row : bench::all_rows()) {
    if (std::string(row.name).find(options.only) == std::string::npos) continue;
    const auto measured = bench::measure(row, options.load);
    well = bench::print(row.name, measured.figures, std::to_string(measured.to_origin)) && well;
  }
  return well;
}

bool run_share(const Options& options) {
  const auto measured = bench::measure(bench::row_of_equals(options.share), options.load);
  const auto name = fmt::format("{} equal claimants", options.share);
  const bool well = bench::print(name, measured.figures, std::to_string(measured.to_origin));
  fmt::print("   the busiest of them got {:.1f} % of the questions\n", 100 * measured.busiest);
  return well;
}

bool run_honest(const Options& options) {
  bool well = true;
  for (const auto excuse :
       {bench::Excuse::evictions, bench::Excuse::variants, bench::Excuse::age}) {
    well = bench::print(excuse, bench::measure_honest(excuse, options.honest)) && well;
  }
  return well;
}

bool run_killed(const Options& options) {
  using Victim = bench::Killing::Victim;
  bench::print_head_of_killed();
  bool well = true;
  for (const auto victim : {Victim::sibling, Victim::origin}) {
    for (const auto validator : {bench::Validator::strong, bench::Validator::none}) {
      for (const bool disk : {false, true}) {
        const bench::Killing killing{victim, validator, disk, options.killed};
        well = bench::print(killing, bench::measure_killed(killing)) && well;
      }
    }
  }
  return well;
}

bool run_stop(const Options& options) {
  const auto stopped = bench::measure_stop(std::chrono::seconds(options.stop), options.load.rate);
  const auto name = fmt::format("stopped for {} s", options.stop);
  const bool well = bench::print(name, stopped.figures, "");
  fmt::print("   its first hit {:.1f} s after it went on\n", stopped.until_first_hit_s);
  return well;
}

bool run_stale_copies(const Options& options) {
  bool well = true;
  for (const auto to_origin : {2ms, 80ms}) {
    for (const bool validators : {true, false}) {
      const auto renewals = bench::measure_stale_copies(
          {std::chrono::seconds(options.stale), options.lifetimes, to_origin, validators});
      const auto name =
          fmt::format("stale copies{}, {} ms", validators ? ", ETag" : "", to_origin.count());
      well = bench::print(name, renewals.figures, fmt::format("{:.2f}", renewals.each)) && well;
    }
  }
  fmt::print("   origin of these: requests per object and lifetime of {} s\n", options.stale);
  return well;
}

void run_at_once(const Options& options) {
  for (const auto within : {0ms, 1000ms, 5000ms}) {
    const double fetches = bench::origin_fetches(options.site.proxies, within, 10);
    fmt::print("a new object, {} proxies asked within {} ms: {:.2f} origin fetches\n",
               options.site.proxies, within.count(), fetches);
    std::cout.flush();
  }
}

bool print_shared(const std::string& name, const bench::Shared& shared) {
  return bench::print(name, shared.figures, fmt::format("{:.2f}", shared.each));
}

// Each beside the same proxies without neighbours.
bool run_site(const OfSite& options) {
  using Asked = bench::NewObjects::Asked;
  bool well = true;
  for (const bool neighbours : {false, true}) {
    const std::string peers = neighbours ? "" : ", no peers";
    const bench::MeshOf mesh{options.proxies, 0, neighbours};
    if (options.objects > 0) {
      bench::SharingSite site(mesh, bench::well_after(80ms));
      for (const char* const known : {"", ", again"}) {
        const auto name = fmt::format("{} at once{}{}", options.objects, known, peers);
        well = print_shared(name, site.ask({options.objects})) && well;
      }
    }
    if (options.unshared > 0) {
      bench::SharingSite site(mesh, bench::well_after(80ms, {{"Cache-Control", "no-store"}}));
      const bench::NewObjects objects{options.unshared, 2048, Asked::one_by_one};
      well = print_shared("no-store" + peers, site.ask(objects)) && well;
    }
    if (options.large > 0) {
      bench::SharingSite site({options.proxies, 0, neighbours, true}, bench::in_parts_after(80ms));
      const bench::NewObjects objects{options.large, 50'000'000, Asked::one_by_one};
      well = print_shared("50 MB, disks" + peers, site.ask(objects)) && well;
    }
  }
  return well;
}

bool run_lost(const OfSite& options) {
  bool well = true;
  for (const int signal : {SIGKILL, SIGSTOP}) {
    bench::SharingSite site({options.proxies}, bench::well_after(1500ms));
    const auto name = fmt::format("fetcher {}", signal == SIGKILL ? "killed" : "stopped");
    well = print_shared(name, site.lose_fetchers(options.lost, signal)) && well;
  }
  return well;
}

void run_idle(const Options& options) {
  const std::chrono::seconds time(static_cast<int>(options.load.seconds));
  const auto cost = bench::measure_idle(options.idle, options.dead, time);
  fmt::print("{} idle proxies, {} dead peers each: {:.1f} % of a core, {:.0f} kB/s\n", options.idle,
             options.dead, cost.cpu_percent, cost.bytes_per_second / 1000);
}

bool run(const Options& options) {
  bench::print_head();
  bool well = run_rows(options);
  if (options.share > 0) well = run_share(options) && well;
  if (options.honest > 0) well = run_honest(options) && well;
  if (options.stop > 0) well = run_stop(options) && well;
  if (options.stale > 0) well = run_stale_copies(options) && well;
  const auto& site = options.site;
  const bool one = site.objects + site.unshared + site.large + site.lost == 0;
  if (site.proxies > 0 && one) run_at_once(options);
  if (site.proxies > 0) well = run_site(site) && well;
  if (site.proxies > 0 && site.lost > 0) well = run_lost(site) && well;
  if (options.idle > 0) run_idle(options);
  if (options.killed > 0) well = run_killed(options) && well;
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code = bench::parse(
      argc, argv, "Clients' times beside neighbours with faults",
      {
          {"--seconds", &options.load.seconds, "of each row"},
          {"--rate", &options.load.rate, "requests per second"},
          {"--only", &options.only,
           "the rows, bodies of 100 KiB and 3 MiB too, whose names contain this"},
          {"--share", &options.share, "claimants that are equally fast; 0: none"},
          {"--honest", &options.honest,
           "requests that an honest neighbour with many false claims could answer; 0: none"},
          {"--killed", &options.killed,
           "bodies of 50 MB whose source is killed, for each kind of source; 0: none"},
          {"--at-once", &options.site.proxies, "proxies that are asked for a new object; 0: none"},
          {"--objects", &options.site.objects, "new objects of which each is asked for; 0: one"},
          {"--unshared", &options.site.unshared, "new objects that may not be stored; 0: none"},
          {"--large", &options.site.large, "new objects of 50 MB, with disks; 0: none"},
          {"--lost", &options.site.lost, "objects whose fetcher is killed or stopped; 0: none"},
          {"--idle", &options.idle, "proxies of an idle mesh; 0: none"},
          {"--dead", &options.dead, "peers of each of them that are dead"},
          {"--stale", &options.stale, "max-age in seconds of what a mesh of 4 renews; 0: none"},
          {"--lifetimes", &options.lifetimes, "of it that are measured"},
          {"--stop", &options.stop, "seconds for which a neighbour is stopped; 0: none"},
      });
  if (exit_code) return *exit_code;
  try {
    return run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "faults_bench: " << error.what() << '\n';
    return 1;
  }
}
