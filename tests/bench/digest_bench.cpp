// The cost of a filter per key, compared with reading a random cache line of an array of the same
// size: the whole line (line/read) or one word (line/touched). Run them interleaved, on an idle
// machine:
//   digest_bench --benchmark_filter="(line|blocked|bloom).*/1000000" --benchmark_repetitions=9
//     --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "digest/blocked_filter.hpp"
#include "digest/bloom_filter.hpp"
#include "digest/counting_filter.hpp"
#include "digest/little_endian.hpp"
#include "digest/mapped_filter.hpp"
#include "digest/quotient_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/sizing.hpp"
#include "tests/digest/keys.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using digest::Key;
using digest::quick_key;
__extension__ using Wide = unsigned __int128;

enum class Presence { present, absent };

// The keys to look up, in turn: `present` ones are among the first `entries` keys, in a scattered
// order; `absent` ones are none of these.
std::vector<Key> questions(std::uint64_t entries, Presence presence) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::vector<Key> keys(static_cast<std::size_t>(std::min(entries, kMost)));
  std::uint64_t number = 0;
  for (Key& key : keys) {
    number = (number + 7'368'787) % entries;
    key = quick_key(presence == Presence::present ? number : ~number);
  }
  return keys;
}

// Calls ask(key) for each key in turn. The results are summed: if each were discarded, the look-up
// would not have to load it.
template <class Ask>
void ask_all(benchmark::State& state, const std::vector<Key>& keys, Ask ask) {
  while (state.KeepRunningBatch(static_cast<std::int64_t>(keys.size()))) {
    std::uint64_t sum = 0;
    for (const Key& key : keys) sum += ask(key);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations());
}

std::uint64_t entries_of(const benchmark::State& state) {
  return static_cast<std::uint64_t>(state.range(0));
}

struct alignas(64) Line {
  std::array<std::uint64_t, 8> words;
};

enum class Reading { whole_line, one_word };

// The yardstick: an array of 12 bits per key. Each key selects one line of it, as in a blocked
// filter; the bench reads the whole line or one word.
void random_line(benchmark::State& state, Reading reading) {
  const std::uint64_t count = (entries_of(state) * 12 + 511) / 512;
  const std::vector<Line> lines(static_cast<std::size_t>(count), Line{{1}});
  const auto line_of = [&lines, count](const Key& key) -> const Line& {
    return lines[static_cast<std::size_t>((Wide{digest::load64(key.bytes.data())} * count) >> 64)];
  };
  const auto touch = [&line_of](const Key& key) { return line_of(key).words[0]; };
  const auto read = [&line_of](const Key& key) {
    const auto& words = line_of(key).words;
    return std::accumulate(words.begin(), words.end(), std::uint64_t{0}, std::bit_xor<>());
  };
  const auto keys = questions(entries_of(state), Presence::present);
  if (reading == Reading::whole_line) return ask_all(state, keys, read);
  ask_all(state, keys, touch);
}

struct Bloom {
  static digest::BloomFilter empty(std::uint64_t entries) {
    return *digest::BloomFilter::create(*digest::shape_for(entries));
  }
};

struct Partitioned {
  static digest::BloomFilter empty(std::uint64_t entries) {
    return *digest::BloomFilter::create(*digest::partitioned(*digest::shape_for(entries)));
  }
};

struct Salted {
  static digest::BloomFilter empty(std::uint64_t entries) {
    auto shape = *digest::shape_for(entries);
    shape.derivation = digest::Derivation::salted;
    shape.salt = {1, 2, 3};
    return *digest::BloomFilter::create(shape);
  }
};

// The file is unlinked at once; the mapping keeps its memory.
struct Mapped {
  static digest::MappedFilter empty(std::uint64_t entries) {
    const support::TemporaryDirectory directory;
    return *digest::MappedFilter::create(directory / "filter", *digest::shape_for(entries));
  }
};

struct Blocked {
  static digest::BlockedFilter empty(std::uint64_t entries) {
    return *digest::BlockedFilter::create((entries * 12 + 511) / 512);
  }
};

struct Counting {
  static digest::CountingFilter empty(std::uint64_t entries) {
    return *digest::CountingFilter::create(*digest::shape_for(entries));
  }
};

struct Scalable {
  static digest::ScalableFilter empty(std::uint64_t) { return *digest::ScalableFilter::create(); }
};

struct Quotient {
  static digest::QuotientFilter empty(std::uint64_t entries) {
    return *digest::QuotientFilter::for_capacity(entries, 0.003);
  }
};

template <class Filter>
void put(Filter& filter, const Key& key) {
  if constexpr (requires { filter.add(key); }) {
    filter.add(key);
  } else {
    benchmark::DoNotOptimize(filter.insert(key));
  }
}

// The filled filter for all benches of one kind and size, as filling the largest takes seconds.
template <class Kind>
const auto& filled(std::uint64_t entries) {
  static std::map<std::uint64_t, decltype(Kind::empty(1))> filters;
  const auto found = filters.find(entries);
  if (found != filters.end()) return found->second;
  filters.clear();
  auto filter = Kind::empty(entries);
  for (std::uint64_t i = 0; i < entries; ++i) put(filter, quick_key(i));
  return filters.emplace(entries, std::move(filter)).first->second;
}

template <class Kind>
void look_up(benchmark::State& state, Presence presence) {
  const auto& filter = filled<Kind>(entries_of(state));
  ask_all(state, questions(entries_of(state), presence),
          [&filter](const Key& key) { return filter.contains(key) ? 1U : 0U; });
}

// Each batch fills an empty filter to its capacity.
template <class Kind>
void insert(benchmark::State& state) {
  const std::uint64_t entries = entries_of(state);
  while (state.KeepRunningBatch(static_cast<std::int64_t>(entries))) {
    auto filter = Kind::empty(entries);
    for (std::uint64_t i = 0; i < entries; ++i) put(filter, quick_key(i));
    benchmark::DoNotOptimize(filter);
  }
  state.SetItemsProcessed(state.iterations());
}

void at_all_sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(10'000)->Arg(1'000'000)->Arg(10'000'000);
}

template <class Kind>
void add_benches(const std::string& name) {
  const auto add = [&name](const char* what, auto... bench) {
    at_all_sizes(benchmark::RegisterBenchmark((name + what).c_str(), bench...));
  };
  add("/absent", look_up<Kind>, Presence::absent);
  add("/present", look_up<Kind>, Presence::present);
  add("/insert", insert<Kind>);
}

}  // namespace

int main(int argc, char** argv) {
  at_all_sizes(benchmark::RegisterBenchmark("line/read", random_line, Reading::whole_line));
  at_all_sizes(benchmark::RegisterBenchmark("line/touched", random_line, Reading::one_word));
  add_benches<Bloom>("bloom");
  add_benches<Partitioned>("partitioned");
  add_benches<Salted>("salted");
  add_benches<Mapped>("mapped");
  add_benches<Blocked>("blocked");
  add_benches<Counting>("counting");
  add_benches<Scalable>("scalable");
  add_benches<Quotient>("quotient");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
