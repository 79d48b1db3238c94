#include "tests/bench/faults/rows.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>

#include "tests/bench/faults/answers.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using support::json;

constexpr std::size_t k64KiB = std::size_t{64} << 10;
constexpr std::size_t k100KiB = std::size_t{100} << 10;
constexpr std::size_t k3MiB = std::size_t{3} << 20;
constexpr double kFewer = 0.05;

auto one(Answer answer) {
  return [answer](const auto&) { return std::vector{answer}; };
}

// The defaults, except what a bench on loopback needs; null leaves a default in force.
json settings_beside(const std::deque<PlayedServer>& neighbours) {
  json peers = json::array();
  for (const auto& neighbour : neighbours) {
    const std::string number = std::to_string(peers.size());
    peers.push_back(
        {{"name", "n" + number}, {"url", "http://127.0.0.1:" + std::to_string(neighbour.port())}});
  }
  return {{"peers", peers},
          {"digest", nullptr},
          {"timeouts", nullptr},
          {"cache", {{"memory", "1GiB"}}},
          {"log", {{"access", "none"}}}};
}

void await_digests(const support::ProxyProcess& proxy) {
  const bool are_used = support::await([&proxy] {
    const json page = proxy.digest();
    for (const json& peer : page.at("peers")) {
      if (peer.at("state") != "usable") return false;
    }
    return true;
  });
  if (!are_used) throw std::runtime_error("the neighbours' digests are not used");
}

std::vector<std::string> urls_at(std::uint16_t origin, std::size_t count, std::size_t body) {
  const std::string site = "http://127.0.0.1:" + std::to_string(origin) + "/";
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < count; ++i) {
    urls.push_back(site + std::to_string(i) + "." + std::to_string(body));
  }
  return urls;
}

double share_of_busiest(const std::deque<PlayedServer>& neighbours) {
  std::uint64_t all = 0;
  std::uint64_t most = 0;
  for (const auto& neighbour : neighbours) {
    all += neighbour.requests();
    most = std::max(most, neighbour.requests());
  }
  return all == 0 ? 0 : static_cast<double>(most) / static_cast<double>(all);
}

}  // namespace

std::vector<Row> all_rows() {
  const auto bad_and_good = [](const auto&) { return std::vector{silence(), well_after(2ms)}; };
  const auto stalls_and_good = [](const auto&) {
    return std::vector{stall_at(50), well_after(2ms)};
  };
  const auto back = [](const auto& proxy) { return std::vector{forwarded_to(proxy)}; };
  return {{"no peers", 2ms},
          {"silent", 2ms, one(silence())},
          {"drips a byte a second", 2ms, one(drip())},
          {"1 in 10 silent", 2ms, one(one_silent_in(10))},
          {"forwards back without Via", 2ms, back},
          {"first byte after 300 ms", 2ms, one(well_after(300ms))},
          {"first byte after 900 ms", 2ms, one(well_after(900ms))},
          {"good, 10 ms away", 2ms, one(well_after(10ms))},
          {"good, 50 ms away", 2ms, one(well_after(50ms))},
          {"SYN black hole", 2ms, one(well_after(2ms)), true},
          {"stalls after its head", 2ms, one(stall_at(0))},
          {"stalls after half a body", 2ms, one(stall_at(50))},
          {"resets in the body", 2ms, one(reset_in_body())},
          {"body too short", 2ms, one(too_short())},
          {"body too long", 2ms, one(too_long())},
          {"500 at once", 2ms, one(error_at_once())},
          {"504 after 200 ms", 2ms, one(denial_after(200ms))},
          {"hangs up at once", 2ms, one(hang_up())},
          {"102, then silent", 2ms, one(processing())},
          {"silent every other 3 s", 2ms, one(in_turns(3s))},
          {"no peers, bursts of 20", 2ms, {}, false, 20},
          {"good, bursts of 20", 2ms, one(well_after(1ms)), false, 20},
          {"silent, bursts of 20", 2ms, one(silence()), false, 20},
          {"1 in 10 silent, bursts of 20", 2ms, one(one_silent_in(10)), false, 20},
          {"stalls after half, bursts of 20", 2ms, one(stall_at(50)), false, 20},
          {"no peers, far origin", 80ms},
          {"silent one in three, far origin", 80ms, one(one_silent_in(3))},
          {"silent beside good, far origin", 80ms, bad_and_good},
          {"stalls in a body beside good, far", 80ms, stalls_and_good},
          {"no peers, 100 KiB", 2ms, {}, false, 1, k100KiB},
          {"good, 100 KiB", 2ms, one(in_parts_after(2ms)), false, 1, k100KiB},
          {"stalls in 100 KiB", 2ms, one(stall_after(k64KiB)), false, 1, k100KiB},
          {"resets in 100 KiB", 2ms, one(reset_after(k64KiB)), false, 1, k100KiB},
          {"no peers, 3 MiB", 2ms, {}, false, 1, k3MiB, kFewer},
          {"good, 3 MiB", 2ms, one(in_parts_after(2ms)), false, 1, k3MiB, kFewer},
          {"stalls in 3 MiB", 2ms, one(stall_after(k64KiB)), false, 1, k3MiB, kFewer},
          {"resets in 3 MiB", 2ms, one(reset_after(k64KiB)), false, 1, k3MiB, kFewer}};
}

Row row_of_equals(std::size_t claimants) {
  const auto equals = [claimants](const auto&) {
    return std::vector<Answer>(claimants, well_after(1ms));
  };
  return {"equal claimants, far origin", 80ms, equals};
}

Measured measure(const Row& row, const Load& load) {
  const double rate = load.rate * row.rate;
  const auto count = static_cast<std::size_t>(std::ceil(rate * load.seconds));
  PlayedServer origin(in_parts_after(row.to_origin), "");
  const auto urls = urls_at(origin.port(), count, row.body);
  const auto capacity = static_cast<std::uint32_t>(std::max<std::size_t>(1024, 2 * count));
  std::atomic<std::uint16_t> port = 0;
  std::deque<PlayedServer> neighbours;
  if (row.neighbours) {
    const std::string digest = scenario::digest_claiming(urls, capacity);
    for (auto& answer : row.neighbours(port)) {
      neighbours.emplace_back(answer, digest, row.black_hole ? 1 : 128);
    }
  }
  const support::ProxyProcess proxy(settings_beside(neighbours));
  port = proxy.port();
  await_digests(proxy);
  if (row.black_hole) {
    for (auto& neighbour : neighbours) neighbour.become_black_hole();
  }
  const auto samples = ask_openly(proxy.port(), urls, {rate, row.burst});
  return {figures_of(samples), origin.requests(), share_of_busiest(neighbours)};
}

}  // namespace bench
