// The hit ratio of our store, which goes by S3-FIFO, beside that of LRU.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tests/proxy/cache/hit_ratio.hpp"

int main(int argc, char** argv) {
  CLI::App app("hit ratios of the store and of LRU, on made-up traces");
  bench::TraceShape shape;
  app.add_option("--requests", shape.requests);
  app.add_option("--popular", shape.popular, "objects that are asked for by Zipf's law");
  app.add_option("--alpha", shape.alpha, "of this law");
  app.add_option("--seed", shape.seed);
  CLI11_PARSE(app, argc, argv);
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
