// A client whose Accept-Encoding differs in each request, or is very long, beside honest ones.
#include <gtest/gtest.h>

#include "tests/scenario/caching/ways.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

constexpr std::size_t kVeryLong = 56'000;

// An origin whose responses vary, and a proxy that the clients reach in one of several ways.
class Varying : public testing::TestWithParam<WayThrough> {
 protected:
  Varying() {
    stage_.origin.otherwise([](const Request& request) {
      return cacheable(request.field("Accept-Encoding").substr(0, 9))
          .with("Vary", "Accept-Encoding");
    });
  }

  Response get(const std::string& codings) {
    return stage_.get("/a", {{"Accept-Encoding", codings}});
  }
  // Of many members, each of which has to be read and sorted.
  static std::string many_codings(std::size_t bytes, int number) {
    std::string codings = std::to_string(number);
    while (codings.size() < bytes) codings += ",a";
    codings.resize(bytes);
    return codings;
  }

  WayStage stage_{GetParam()};
};

TEST_P(Varying, HonestVariantsStayStoredWhateverOneClientAsksFor) {
  for (const char* honest : {"gzip", "br"}) {
    get(honest);
    EXPECT_TRUE(is_hit(get(honest))) << honest;
  }
  for (int i = 0; i < 60; ++i) {
    const auto bytes = i % 2 == 0 ? std::size_t{4000} : kVeryLong;
    EXPECT_EQ(get(many_codings(bytes, i)).status, 200);
    for (const char* honest : {"gzip", "br"}) {
      const Response response = get(honest);
      EXPECT_TRUE(is_hit(response)) << i << ' ' << response.field("Cache-Status");
      EXPECT_EQ(response.body, honest);
    }
  }
}

TEST_P(Varying, AVeryLongFieldSelectsNothingThatIsStored) {
  get("gzip");
  const auto before = stage_.origin.count();
  for (int i = 0; i < 2; ++i) {
    const Response response = get(many_codings(kVeryLong, 7));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "7,a,a,a,a");
    const auto status = nearest_cache_status(response);
    EXPECT_TRUE(contains(status, "detail=\"not-stored/vary-too-long\"")) << status;
  }
  EXPECT_EQ(stage_.origin.count(), before + 2);
  EXPECT_EQ(stage_.origin.requests().back().field("Accept-Encoding").size(), kVeryLong);
  EXPECT_TRUE(is_hit(get("gzip")));
  EXPECT_FALSE(is_hit(get("br"))) << "and is shared with others as before";
}

TEST_P(Varying, ManyLongFieldsTakeLittleOfAProcessor) {
  for (int i = 0; i < 20; ++i) get(many_codings(4000, i));
  const auto before = stage_.proxy->metric("process_cpu_seconds_total");
  constexpr int kRequests = 60;
  for (int i = 0; i < kRequests; ++i) {
    get(many_codings(i % 2 == 0 ? std::size_t{4090} : kVeryLong, 100 + i));
  }
  const auto each = (stage_.proxy->metric("process_cpu_seconds_total") - before) / kRequests;
  EXPECT_LT(each, 0.008) << "seconds";
}

INSTANTIATE_TEST_SUITE_P(By, Varying, testing::ValuesIn(kWays, kWays + 4),
                         [](const auto& tested) { return tested.param.name; });

// What the neighbour gives cannot be stored here either, which is not the neighbour's fault.
TEST(VaryingBesideANeighbour, AVeryLongFieldIsAnsweredByTheOrigin) {
  PeerScene scene({"/a"});
  scene.peer.on("/a", cacheable("from the peer").with("Vary", "Accept-Encoding"));
  scene.origin.on("/a", cacheable("from the origin").with("Vary", "Accept-Encoding"));
  const Response first = scene.get("/a", {{"Accept-Encoding", std::string(kVeryLong, 'a')}});
  EXPECT_EQ(first.body, "from the origin");
  EXPECT_TRUE(contains(first.field("Cache-Status"), "not-stored/vary-too-long"))
      << first.field("Cache-Status");
  const Response honest = scene.get("/a", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(honest.body, "from the peer") << honest.field("Cache-Status");
  EXPECT_TRUE(is_hit(scene.get("/a", {{"Accept-Encoding", "gzip"}})));
}

}  // namespace
}  // namespace scenario
