// How soon a neighbour's claims follow what is stored and dropped, at the default intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

const auto kSoon = allowed(seconds(3));
constexpr std::size_t kObjects = 200;
constexpr milliseconds kApart{15};
// A claim ends five seconds before the object is stale.
constexpr seconds kShortLife{10};
constexpr seconds kShortClaim{5};

struct Object {
  std::string path;
  steady_clock::time_point stored{};
  steady_clock::time_point gone{};  // from then on no claim of it is true

  bool expires() const { return path.ends_with("-short"); }
};

std::vector<Object> objects() {
  std::vector<Object> all(kObjects);
  for (std::size_t i = 0; i < kObjects; ++i) {
    all[i].path = "/" + std::to_string(i) + (i % 2 == 0 ? "-long" : "-short");
  }
  return all;
}

// b stores nothing, so each of its responses shows whether it believes that a has the object.
class Freshness : public testing::Test {
 protected:
  Freshness() {
    origin_.otherwise([](const Request& request) {
      const bool brief = request.path.ends_with("-short");
      const std::string life = std::to_string(brief ? kShortLife.count() : 3600);
      return cacheable(std::string(2000, 'x'), "max-age=" + life);
    });
  }

  void store(Object& object) {
    to_a_.get(origin_.url(object.path));
    object.stored = steady_clock::now();
    object.gone = object.stored + kShortClaim;  // unless it is dropped before
  }
  void drop(Object& object) {
    object.gone = steady_clock::now();
    to_a_.request("POST", origin_.url(object.path), {}, "x");
  }
  bool claimed(const Object& object) {
    const std::string status = to_b_.get(origin_.url(object.path)).field("Cache-Status");
    return contains(status, "peer/a") || contains(status, "false-hit/a");
  }

  static json settings(const char* of, json more) {
    more["name"] = of;
    // The defaults, but without a question that would find a's copy beyond its claim.
    for (const char* name : {"period", "poll", "squid_period", "prefer"}) {
      more["digest"][name] = nullptr;
    }
    more["digest"]["site_collapse"] = "off";
    return more;
  }

  ScriptedOrigin origin_;
  Listener at_a_;
  Listener at_b_;
  ProxyProcess a_{with_peer("b", at_b_.port(), settings("a", json::object())), at_a_};
  ProxyProcess b_{
      with_peer("a", at_a_.port(), settings("b", {{"cache", {{"max_object", "1KiB"}}}})), at_b_};
  Client to_a_{a_.port()};
  Client to_b_{b_.port()};
};

TEST_F(Freshness, EachOf200ObjectsIsClaimedAndNoLongerClaimedWithinThreeSeconds) {
  ASSERT_TRUE(await([&] { return b_.digest_peer("a").at("state") == "usable"; }));
  auto all = objects();
  const auto begun = steady_clock::now();
  steady_clock::duration worst{};
  for (std::size_t stored = 0, known = 0; known < kObjects;) {
    if (stored < kObjects && steady_clock::now() >= begun + stored * kApart) {
      store(all[stored++]);
    } else if (known < stored && claimed(all[known])) {
      worst = std::max(worst, steady_clock::now() - all[known++].stored);
    } else {
      ASSERT_LT(steady_clock::now(), begun + kObjects * kApart + 2 * kSoon);
      // The next object is not yet due, and no event tells when b learns of the last one.
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  const auto all_known = std::chrono::duration_cast<milliseconds>(worst);
  RecordProperty("worst_ms", std::to_string(all_known.count()));
  EXPECT_LE(all_known, kSoon);

  for (auto& object : all) {
    if (object.expires()) continue;
    drop(object);
    std::this_thread::sleep_for(kApart);  // so that several generations and polls carry the drops
  }
  std::sort(all.begin(), all.end(),
            [](const Object& x, const Object& y) { return x.gone < y.gone; });
  for (const auto& object : all) {
    std::this_thread::sleep_until(object.gone + kSoon);  // the claim is promised to be gone by then
    EXPECT_FALSE(claimed(object)) << object.path;
  }
  EXPECT_EQ(b_.digest_peer("a").at("false_hits"), 0);
}

}  // namespace
}  // namespace scenario
