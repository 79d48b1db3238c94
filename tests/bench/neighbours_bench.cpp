// The cost of looking up one key in the digests of 1, 8 and 64 neighbours, compared with asking
// each filter in turn.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "digest/squid_digest.hpp"
#include "peers/directory.hpp"
#include "tests/digest/keys.hpp"

namespace {

using digest::Key;
using digest::quick_key;

constexpr std::uint64_t kEntries = 100'000;
const peers::SteadyTime kNow{std::chrono::hours{1}};

// As a Hearsay sends its digest: sized for twice the entries, with a salt of its own.
digest::BloomFilter native_filter(std::size_t peer) {
  digest::Shape shape{.bits = 2 * kEntries * 12,
                      .hashes = 8,
                      .derivation = digest::Derivation::salted,
                      .layout = digest::Layout::plain,
                      .salt = quick_key(~std::uint64_t{peer}).bytes};
  return *digest::BloomFilter::create(shape);
}

// As a Squid sends its digest by default: 5 bits per entry.
digest::BloomFilter squid_filter() {
  return digest::SquidDigest::empty(kEntries, 5)->filter;
}

enum class Form { native, squid };

std::shared_ptr<const digest::BloomFilter> filled(Form form, std::size_t peer) {
  auto filter = form == Form::native ? native_filter(peer) : squid_filter();
  for (std::uint64_t i = 0; i < kEntries; ++i) filter.insert(quick_key(peer * kEntries + i));
  return std::make_shared<const digest::BloomFilter>(std::move(filter));
}

peers::PollReport report_of(std::shared_ptr<const digest::BloomFilter> filter) {
  peers::PollReport report;
  report.claims.filter = std::move(filter);
  report.claims.entries = kEntries;
  report.usable_until = peers::SteadyTime::max();
  return report;
}

struct Neighbours {
  std::vector<config::PeerSettings> settings;
  std::vector<peers::PollReport> reports;
  peers::PeerDirectory directory;

  Neighbours(Form form, std::size_t count) : settings(count), directory(settings) {
    for (std::size_t peer = 0; peer < count; ++peer) {
      reports.push_back(report_of(filled(form, peer)));
      directory.update(peer, reports.back());
    }
  }
};

// Keys that no neighbour holds.
std::vector<Key> absent_keys() {
  std::vector<Key> keys(1 << 16);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = quick_key((std::uint64_t{1} << 40) + i);
  return keys;
}

template <class Ask>
void ask_all(benchmark::State& state, Ask ask) {
  const auto keys = absent_keys();
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ask(keys[next++ % keys.size()]));
}

void claimants(benchmark::State& state, Form form) {
  const Neighbours neighbours(form, static_cast<std::size_t>(state.range(0)));
  ask_all(state, [&](const Key& key) { return neighbours.directory.claimants(key, kNow).size(); });
}

void one_by_one(benchmark::State& state, Form form) {
  const Neighbours neighbours(form, static_cast<std::size_t>(state.range(0)));
  ask_all(state, [&](const Key& key) {
    std::size_t claims = 0;
    for (const auto& report : neighbours.reports) claims += report.claims.filter->contains(key);
    return claims;
  });
}

// The control thread's work after each poll.
void update(benchmark::State& state) {
  Neighbours neighbours(Form::native, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) neighbours.directory.update(0, neighbours.reports[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& name, auto... bench) {
    benchmark::RegisterBenchmark(name.c_str(), bench...)->Arg(1)->Arg(8)->Arg(64);
  };
  add("native/claimants", claimants, Form::native);
  add("native/one_by_one", one_by_one, Form::native);
  add("squid/claimants", claimants, Form::squid);
  add("squid/one_by_one", one_by_one, Form::squid);
  add("update", update);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
