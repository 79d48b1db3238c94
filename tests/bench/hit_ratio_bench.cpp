// The hit ratio of our store, which evicts by S3-FIFO, compared with that of LRU.
#include <fmt/core.h>

#include "tests/bench/arguments.hpp"
#include "tests/proxy/cache/hit_ratio.hpp"

int main(int argc, char** argv) {
  bench::TraceShape shape;
  const auto exit_code =
      bench::parse(argc, argv, "hit ratios of the store and of LRU, on made-up traces",
                   {
                       {"--requests", &shape.requests},
                       {"--popular", &shape.popular, "objects requested by Zipf's law"},
                       {"--alpha", &shape.alpha, "the exponent of Zipf's law"},
                       {"--seed", &shape.seed},
                   });
  if (exit_code) return *exit_code;
  fmt::print("{:<12}{:>12}{:>10}{:>12}{:>10}{:>10}{:>10}\n", "trace", "footprint", "size", "bytes",
             "ours", "LRU", "gain");
  for (const auto& make : {bench::zipf_trace, bench::scan_trace, bench::mixed_trace}) {
    const proxy::cache::Workload work(make(shape));
    for (const unsigned percent : {1, 10}) {
      const std::uint64_t bytes = work.footprint() / 100 * percent;
      const double ours = work.store_hits(bytes);
      const double lru = work.lru_hits(bytes);
      fmt::print("{:<12}{:>8} MiB{:>8} %{:>8} KiB{:>8.2f} %{:>8.2f} %{:>+10.2f}\n",
                 work.trace().name, work.footprint() >> 20, percent, bytes >> 10, ours, lru,
                 ours - lru);
    }
  }
}
