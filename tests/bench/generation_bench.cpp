// The cost of the native digest: building it, closing a generation, encoding and applying deltas
// and snapshots. The first number in each bench's name is the number of entries.
#include <benchmark/benchmark.h>
#include <time.h>

#include <memory>
#include <optional>
#include <vector>

#include "digest/native_digest.hpp"
#include "peers/publisher.hpp"
#include "tests/digest/keys.hpp"

namespace {

using digest::Key;
using digest::NativeDigest;
using digest::quick_key;

constexpr std::size_t kRoom = std::size_t{1} << 29;

// A full cache: each entry that is stored evicts the oldest.
class Turnover final : public peers::Holdings {
 public:
  explicit Turnover(std::uint64_t entries) : next_(entries) {}

  void replace(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      changes_.push_back({quick_key(next_++), digest::KeyChange::What::added});
      changes_.push_back({quick_key(first_++), digest::KeyChange::What::removed});
    }
  }

  digest::Collected collect(peers::WallTime, std::vector<digest::KeyChange>& changes) override {
    changes.insert(changes.end(), changes_.begin(), changes_.end());
    changes_.clear();
    return digest::Collected::complete;
  }
  void list(peers::WallTime, std::vector<digest::Claim>& keys) override {
    changes_.clear();
    for (std::uint64_t i = first_; i < next_; ++i) keys.push_back({quick_key(i)});
  }

 private:
  std::uint64_t first_ = 0;
  std::uint64_t next_;
  std::vector<digest::KeyChange> changes_;
};

struct Cache {
  explicit Cache(std::uint64_t entries) : holdings(entries) {}

  // Ends a period in which `replaced` entries were stored and as many evicted.
  void close(std::uint64_t replaced) {
    holdings.replace(replaced);
    tick();
  }
  void tick() { publisher.tick(now += settings.period); }

  std::shared_ptr<const peers::NativeForm> since(const NativeDigest& held) const {
    return publisher.native(held.epoch, held.generation);
  }
  NativeDigest whole() const {
    return *digest::decode_native(publisher.native(0, 0)->body, nullptr, kRoom);
  }

  const config::DigestSettings settings;
  Turnover holdings;
  peers::WallTime now{};
  peers::Publisher publisher{holdings, settings, now, digest::unpredictable()};
};

std::uint64_t number(const benchmark::State& state, int argument) {
  return static_cast<std::uint64_t>(state.range(argument));
}

// Builds the native and the Squid form, as at every start and in every new epoch.
void build(benchmark::State& state) {
  Turnover holdings(number(state, 0));
  for (auto _ : state) {
    const peers::Publisher publisher(holdings, {}, {}, digest::unpredictable());
    benchmark::DoNotOptimize(publisher.current());
  }
}

// The second number in the name: entries stored in the generation, and as many evicted. The Squid
// form takes no part, since it is rebuilt only every ten seconds.
void close_generation(benchmark::State& state) {
  Cache cache(number(state, 0));
  const peers::WallTime now = cache.now;
  for (auto _ : state) {
    state.PauseTiming();
    cache.holdings.replace(number(state, 1));
    state.ResumeTiming();
    cache.publisher.tick(now);
  }
}

// Two successive generations of a cache, and the delta between them.
struct Step {
  Step(std::uint64_t entries, std::uint64_t replaced) : cache(entries), before(cache.whole()) {
    cache.close(replaced);
    after = cache.whole();
    flips = digest::flips_between(before.filter, after->filter);
    delta = digest::encode_delta(digest::head_of(*after), before.generation, flips);
  }

  void count_in(benchmark::State& state, std::size_t bytes) const {
    state.counters["bytes"] = static_cast<double>(bytes);
  }

  Cache cache;
  NativeDigest before;
  std::optional<NativeDigest> after;
  std::vector<std::uint32_t> flips;
  std::vector<std::uint8_t> delta;
};

void encode_delta(benchmark::State& state) {
  const Step step(number(state, 0), number(state, 1));
  const auto head = digest::head_of(*step.after);
  for (auto _ : state) {
    benchmark::DoNotOptimize(digest::encode_delta(head, step.before.generation, step.flips));
  }
  step.count_in(state, step.delta.size());
}

void apply_delta(benchmark::State& state) {
  const Step step(number(state, 0), number(state, 1));
  for (auto _ : state) {
    const auto decoded = digest::decode_native(step.delta, &step.before, kRoom);
    if (!decoded) state.SkipWithError("the delta does not fit");
    benchmark::DoNotOptimize(decoded);
  }
  step.count_in(state, step.delta.size());
}

void encode_snapshot(benchmark::State& state) {
  const NativeDigest digest = Cache(number(state, 0)).whole();
  std::size_t bytes = 0;
  for (auto _ : state) bytes = digest::encode_snapshot(digest).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}

void apply_snapshot(benchmark::State& state) {
  const Cache cache(number(state, 0));
  const auto form = cache.publisher.native(0, 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(digest::decode_native(form->body, nullptr, kRoom));
  }
  state.counters["bytes"] = static_cast<double>(form->body.size());
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One iteration is ten seconds of a cache that stores and evicts so many entries per second, and of
// one neighbour that polls it each second; the Squid form is rebuilt once. Reports CPU time as a
// percentage of a core. HTTP is not part of it.
void steady(benchmark::State& state) {
  Cache cache(number(state, 0));
  NativeDigest held = cache.whole();
  double publishing = 0;
  double reading = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (int second = 0; second < 10; ++second) {
      const double start = cpu_seconds();
      for (int half = 0; half < 2; ++half) cache.close(number(state, 1) / 2);
      const auto form = cache.since(held);
      const double sent = cpu_seconds();
      held = *digest::decode_native(form->body, &held, kRoom);
      publishing += sent - start;
      reading += cpu_seconds() - sent;
      bytes += form->body.size();
    }
  }
  const double seconds = 10.0 * static_cast<double>(state.iterations());
  state.counters["publisher_%"] = 100 * publishing / seconds;
  state.counters["reader_%"] = 100 * reading / seconds;
  state.counters["bytes/s"] = static_cast<double>(bytes) / seconds;
}

void at_both_sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMicrosecond);
}

void with_changes(benchmark::internal::Benchmark* bench) {
  bench->ArgsProduct({{10'000, 1'000'000}, {100, 500}})->Unit(benchmark::kMicrosecond);
}

BENCHMARK(build)->Apply(at_both_sizes);
BENCHMARK(close_generation)->Apply(with_changes);
BENCHMARK(encode_delta)->Apply(with_changes);
BENCHMARK(apply_delta)->Apply(with_changes);
BENCHMARK(encode_snapshot)->Apply(at_both_sizes);
BENCHMARK(apply_snapshot)->Apply(at_both_sizes);
BENCHMARK(steady)->Args({10'000, 100})->Args({1'000'000, 100})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
