// A mesh in virtual time, of the real parts that decide: store and its eviction, placement, digests
// and their deltas, directories, and the plan whom to ask. The same seed plays the same requests,
// to the last byte of the output.
#include <fmt/core.h>

#include <random>

#include "digest/keyed_hash.hpp"
#include "tests/bench/arguments.hpp"
#include "tests/bench/virtual_mesh/mesh.hpp"

namespace {

// What the sharing of new objects promises: see bench/faults.
constexpr double kMostFetches = 1.2;

// First while nothing is known of the origin, then once it is.
bool play_at_once(bench::Mesh& mesh, std::uint32_t objects) {
  bool well = true;
  for (const char* const known : {"", ", again"}) {
    const auto played = mesh.ask_at_once(objects);
    fmt::print("{} at once{}: {:.2f} origin fetches each, p50 {:.0f} ms\n", objects, known,
               played.each, played.p50_ms);
    well = well && played.each <= kMostFetches;
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Shape shape;
  double most = 1;
  const auto exit_code = bench::parse(
      argc, argv, "a mesh in virtual time, of the real parts that decide",
      {
          {"--proxies", &shape.proxies, "at most 64"},
          {"--urls", &shape.urls},
          {"--requests", &shape.requests, "of all clients"},
          {"--rate", &shape.rate, "requests per second, all proxies together"},
          {"--alpha", &shape.alpha, "the exponent of Zipf's law"},
          {"--seed", &shape.seed},
          {"--memory", &shape.memory, "MiB of each proxy"},
          {"--body", &shape.body, "bytes of each response"},
          {"--origin", &shape.origin, "milliseconds to its first byte"},
          {"--neighbour", &shape.neighbour, "milliseconds to the first byte of a hit"},
          {"--max-age", &shape.max_age, "seconds"},
          {"--at-once", &shape.at_once, "new objects, asked of all proxies at once"},
          {"--work", &shape.work, "milliseconds of a processor for each message"},
          {"--late-timers", &shape.late_timers, "0: no timer waits for a processor"},
          {"--most", &most, "of the requests that may reach the origin; else exits with 1"},
          {"--processors", &shape.processors, "of all proxies together"},
      });
  if (exit_code) return *exit_code;
  const digest::RandomWords seeded = std::mt19937_64(shape.seed);
  (void)digest::process_salt(&seeded);
  bench::Mesh mesh(shape);
  if (shape.at_once > 0) return play_at_once(mesh, shape.at_once) ? 0 : 1;
  const auto counts = mesh.run();
  const auto share = [&](std::uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(counts.requests);
  };
  fmt::print("{} requests: origin {:.4f}, local {:.4f}, neighbours {:.4f}, joined {:.4f}\n",
             counts.requests, share(counts.origin), share(counts.local), share(counts.neighbours),
             share(counts.joined));
  fmt::print("{} false claims; {} polls, {} of them failed, {} bytes\n", counts.false_claims,
             counts.polls, counts.failed_polls, counts.polled_bytes);
  mesh.print_members();
  return counts.failed_polls == 0 && share(counts.origin) <= most ? 0 : 1;
}
