#include "tests/bench/faults/rows.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>

#include "tests/bench/faults/answers.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using support::json;

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

std::vector<std::string> urls_at(std::uint16_t origin, std::size_t count) {
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < count; ++i) {
    urls.push_back("http://127.0.0.1:" + std::to_string(origin) + "/" + std::to_string(i));
  }
  return urls;
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
          {"1 in 10 silent", 2ms, one(one_in_ten_silent())},
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
          {"1 in 10 silent, bursts of 20", 2ms, one(one_in_ten_silent()), false, 20},
          {"stalls after half, bursts of 20", 2ms, one(stall_at(50)), false, 20},
          {"no peers, far origin", 80ms},
          {"silent beside good, far origin", 80ms, bad_and_good},
          {"stalls in a body beside good, far", 80ms, stalls_and_good}};
}

Measured measure(const Row& row, const Load& load) {
  const auto count = static_cast<std::size_t>(load.rate * load.seconds);
  PlayedServer origin(well_after(row.to_origin), "");
  const auto urls = urls_at(origin.port(), count);
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
  const auto samples = ask_openly(proxy.port(), urls, {load.rate, row.burst});
  return {figures_of(samples), origin.requests()};
}

}  // namespace bench
