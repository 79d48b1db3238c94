#include "tests/bench/faults/killed.hpp"

#include <deque>
#include <future>
#include <stdexcept>
#include <string>

#include "tests/bench/faults/open_loop.hpp"
#include "tests/bench/faults/pair.hpp"
#include "tests/support/await.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* kBytes = "50000000";
constexpr std::size_t kBeforeKill = std::size_t{1} << 20;  // bytes that the client has read

std::string url_of_object(const PlayedServer& origin, std::size_t object) {
  return "http://127.0.0.1:" + std::to_string(origin.port()) + "/" + std::to_string(object) + "." +
         kBytes;
}

struct Try {
  bool whole = false;
  bool wrong = false;
  std::string giver = {};
};

// `meanwhile`: called once the client has read the first bytes of the body.
template <class Meanwhile>
Try ask(const support::ProxyProcess& proxy, const std::string& url, Meanwhile meanwhile) {
  Try result;
  try {
    support::Client client(proxy.port());
    client.send(support::request_text("GET", url));
    auto response = client.read_head();
    result.giver = giver_of(response);
    response.body = client.read_body(kBeforeKill);
    meanwhile();
    client.read_rest(response);
    result.whole = response.status == 200 && response.whole;
    result.wrong = result.whole && response.body != body_of(support::path_of(url));
  } catch (const std::exception&) {  // refused, or silent for too long: it counts as cut
  }
  return result;
}

Try ask(const support::ProxyProcess& proxy, const std::string& url) {
  return ask(proxy, url, [] {});
}

void fill(const support::ProxyProcess& proxy, const std::string& url) {
  if (!ask(proxy, url).whole) throw std::runtime_error("a neighbour does not get " + url);
}

void count(Tries& tries, const Try& one) {
  ++(one.whole ? tries.whole : tries.cut);
  tries.wrong += one.wrong ? 1 : 0;
}

// The holder gives the body, and is killed after its first bytes.
Killed kill_siblings(const Killing& killing) {
  Killed killed;
  PlayedServer origin(in_parts_after(80ms, killing.validator), "");
  Pair pair(killing.disk, true);
  for (std::size_t object = 0; object < killing.objects; ++object) {
    pair.start_holder();
    // All objects so far: so the asker's old digest never has as many entries as the new one.
    for (std::size_t i = 0; i <= object; ++i) fill(pair.holder(), url_of_object(origin, i));
    pair.await_claims(object + 1);
    const auto before = origin.requests();
    const auto url = url_of_object(origin, object);
    const auto first = ask(pair.asker(), url, [&pair] { pair.kill_holder(); });
    const bool too_late = first.whole && origin.requests() == before;
    killed.untouched += first.giver != "holder" || too_late ? 1 : 0;
    count(killed.first, first);
    count(killed.retry, ask(pair.asker(), url));
  }
  return killed;
}

// The origin sends half of the body to the asker. Then the holder gets all of it, and the origin is
// killed.
Killed kill_origins(const Killing& killing) {
  Killed killed;
  std::deque<PlayedServer> origins;
  Pair pair(killing.disk, false);
  for (std::size_t object = 0; object < killing.objects; ++object) {
    auto& origin = origins.emplace_back(
        for_one("asker", stall_at(50, killing.validator), in_parts_after(0ms, killing.validator)),
        "");
    const auto url = url_of_object(origin, object);
    std::promise<void> begun;
    auto first = std::async(std::launch::async, [&] {
      return ask(pair.asker(), url, [&begun] { begun.set_value(); });
    });
    const bool has_begun =
        begun.get_future().wait_for(support::kPatience) == std::future_status::ready;
    if (has_begun) {
      fill(pair.holder(), url);
      pair.await_claims(object + 1);
    }
    origin.end();
    const auto ended = first.get();
    if (!has_begun) throw std::runtime_error("the origin's body does not begin");
    killed.untouched += ended.giver.empty() ? 0 : 1;
    count(killed.first, ended);
    count(killed.retry, ask(pair.asker(), url));
  }
  return killed;
}

}  // namespace

Killed measure_killed(const Killing& killing) {
  return killing.victim == Killing::Victim::sibling ? kill_siblings(killing)
                                                    : kill_origins(killing);
}

}  // namespace bench
