// A LAN of proxies that is cut in two for a while: what clients notice, and how soon the halves use
// each other again. Each client asks its own host's proxy in an open loop; the origin is always
// reachable.
#include <fmt/format.h>

#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "tests/bench/arguments.hpp"
#include "tests/bench/faults/answers.hpp"
#include "tests/bench/faults/played_server.hpp"
#include "tests/bench/partition/site.hpp"

namespace {

using bench::Network;
using bench::Sample;
using std::chrono::steady_clock;
using Samples = std::vector<std::vector<Sample>>;  // of each host

constexpr int kSkipped = 77;
constexpr std::chrono::seconds kLongestHealing{60};

struct Options {
  std::uint64_t hosts = 12;
  double rate = 5;  // requests a second at each host
  double alone = 60;
  double before = 60;
  double cut = 60;
  double after = 60;
  std::uint64_t to_origin = 20;
};

std::chrono::nanoseconds seconds(double count) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}

double since(steady_clock::time_point then) {
  return std::chrono::duration<double>(steady_clock::now() - then).count();
}

// When the cut began and ended.
struct Cut {
  steady_clock::time_point begun;
  steady_clock::time_point healed;
  std::optional<double> until_claims_s;  // from the healing until all claims of then are known
};

// A request that was under way when the cut began is one during the cut.
bool is_before(const Sample& sample, const Cut& cut) {
  return sample.ended < cut.begun;
}
bool is_after(const Sample& sample, const Cut& cut) {
  return sample.due >= cut.healed;
}

template <class Chosen>
std::vector<Sample> all_of(const Samples& samples, Chosen chosen) {
  std::vector<Sample> all;
  for (const auto& of_host : samples) {
    std::copy_if(of_host.begin(), of_host.end(), std::back_inserter(all), chosen);
  }
  return all;
}

bool print(const char* name, const std::vector<Sample>& samples) {
  const auto figures = bench::figures_of(samples);
  std::size_t from_peers = 0;
  for (const Sample& sample : samples) from_peers += sample.giver.empty() ? 0 : 1;
  fmt::print("{:<14}{:>9}{:>8.1f}{:>8.1f}{:>8.1f}{:>8.1f}{:>10}{:>7}{:>8}{:>10}\n", name,
             samples.size(), figures.p50, figures.p98, figures.p99, figures.max,
             figures.over_100_ms, figures.wrong, figures.failed, from_peers);
  std::cout.flush();
  return figures.wrong == 0 && figures.failed == 0;
}

std::vector<std::vector<std::string>> all_urls(const Network& network, const Options& options,
                                               const std::string& site, double time) {
  std::vector<std::vector<std::string>> urls;
  for (std::size_t host = 0; host < network.size(); ++host) {
    urls.push_back(bench::urls_for(host, network, site, options.rate, time));
  }
  return urls;
}

Samples run_alone(const Network& network, const Options& options, const std::string& site) {
  const bench::Site proxies(network, false);
  return bench::ask_all(network, all_urls(network, options, site, options.alone), options.rate);
}

// While clients ask.
Cut cut_and_heal(const Network& network, const bench::Site& proxies, const Options& options) {
  Cut cut;
  std::this_thread::sleep_for(seconds(options.before));  // the load lasts so long before the cut
  network.cut();
  cut.begun = steady_clock::now();
  std::this_thread::sleep_for(seconds(options.cut));  // the cut lasts so long
  const auto claims = proxies.claims();
  network.heal();
  cut.healed = steady_clock::now();
  while (!cut.until_claims_s && since(cut.healed) < kLongestHealing.count()) {
    if (proxies.knows(claims)) cut.until_claims_s = since(cut.healed);
  }
  return cut;
}

// The time from the healing until a proxy answered by what one of the other half gave.
std::optional<double> until_hit_across(const Network& network, const Samples& samples,
                                       const Cut& cut) {
  std::optional<double> first;
  for (std::size_t host = 0; host < samples.size(); ++host) {
    for (const Sample& sample : samples[host]) {
      if (sample.giver.empty() || sample.ended < cut.healed) continue;
      if (network.is_beyond(host) == network.is_beyond(std::stoul(sample.giver))) continue;
      const double time = std::chrono::duration<double>(sample.ended - cut.healed).count();
      if (!first || time < *first) first = time;
    }
  }
  return first;
}

std::string text(std::optional<double> time) {
  return time ? fmt::format("{:.2f} s", *time) : "never";
}

bool run(const Options& options) {
  const Network network(options.hosts);
  const bench::PlayedServer origin(bench::well_after(std::chrono::milliseconds(options.to_origin)),
                                   "", 128, support::Reach::all_networks);
  const std::string site = fmt::format("http://{}:{}/", Network::origin(), origin.port());
  fmt::print("{:<14}{:>9}{:>8}{:>8}{:>8}{:>8}{:>10}{:>7}{:>8}{:>10}\n", "", "requests", "p50 ms",
             "p98", "p99", "max", "> 100 ms", "wrong", "failed", "by peers");
  bool well = print("no peers",
                    all_of(run_alone(network, options, site), [](const auto&) { return true; }));
  const bench::Site proxies(network, true);
  proxies.await_claims();
  auto clients = std::async(std::launch::async, [&] {
    const double time = options.before + options.cut + options.after;
    return bench::ask_all(network, all_urls(network, options, site, time), options.rate);
  });
  const Cut cut = cut_and_heal(network, proxies, options);
  const Samples samples = clients.get();
  well &= print("before the cut",
                all_of(samples, [&](const Sample& sample) { return is_before(sample, cut); }));
  well &= print("cut in two", all_of(samples, [&](const Sample& sample) {
                  return !is_before(sample, cut) && !is_after(sample, cut);
                }));
  well &=
      print("healed", all_of(samples, [&](const Sample& sample) { return is_after(sample, cut); }));
  fmt::print(
      "after the healing: first hit across {}, all claims known {}; still on trial {} of {}\n",
      text(until_hit_across(network, samples, cut)), text(cut.until_claims_s), proxies.on_trial(),
      network.size() * (network.size() - 1));
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code =
      bench::parse(argc, argv, "Proxies in network namespaces, cut in two for a while. Needs root",
                   {
                       {"--hosts", &options.hosts, "with a proxy each"},
                       {"--rate", &options.rate, "requests per second at each host"},
                       {"--alone", &options.alone, "seconds without peers, to compare with"},
                       {"--before", &options.before, "seconds before the cut"},
                       {"--cut", &options.cut, "seconds for which the LAN is cut"},
                       {"--after", &options.after, "seconds after the healing"},
                       {"--to-origin", &options.to_origin, "milliseconds that the origin takes"},
                   });
  if (exit_code) return *exit_code;
  try {
    return run(options) ? 0 : 1;
  } catch (const bench::NotPermitted& reason) {
    fmt::print("skipped: {}\n", reason.what());
    return kSkipped;
  } catch (const std::exception& error) {
    std::cerr << "partition_bench: " << error.what() << '\n';
    return 1;
  }
}
