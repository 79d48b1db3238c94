#include "proxy/pages/health.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/pages/origins.hpp"
#include "proxy/upstream/failure.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Failing = upstream::OriginHealth::Failing;

const std::chrono::steady_clock::time_point kNow{10'000s};

const upstream::Failure kExpired = upstream::failure_of(
    upstream::Failure::Where::upstream, make_error_code(upstream::Errc::tls_expired));

TEST(OriginTroubles, SayWhyAndForHowLongTheOriginFails) {
  const auto text = [](std::chrono::milliseconds ago) {
    const auto all = origin_troubles({{"http://a.test:80", kExpired, 4, kNow - ago, kNow}}, kNow);
    return all.size() == 1 ? all[0].text : "";
  };
  const std::string text_and_advice =
      "the server's identity could not be verified (the host's certificate is not valid at this "
      "time): look until when its certificate is valid, and at the clock of this machine";
  EXPECT_EQ(text(0ms), "4 requests in a row failed in the last 1 s: " + text_and_advice);
  EXPECT_EQ(text(1500ms), "4 requests in a row failed in the last 2 s: " + text_and_advice);
  EXPECT_EQ(text(3h), "4 requests in a row failed in the last 3 hours: " + text_and_advice);
}

TEST(OriginTroubles, NameSomeAndCountTheOthers) {
  std::vector<Failing> failing(kMostOrigins, {"http://a.test:80", kExpired, 3, kNow, kNow});
  EXPECT_EQ(origin_troubles(failing, kNow).size(), kMostOrigins);
  failing.resize(kMostOrigins + 40, failing[0]);
  const auto all = origin_troubles(failing, kNow);
  ASSERT_EQ(all.size(), kMostOrigins + 1);
  EXPECT_EQ(all.back().text, "and 40 more");
  std::size_t number = 0;
  for (const auto& one : all) number += one.number;
  EXPECT_EQ(number, failing.size());
}

json reasons_for(const Scene& scene, const std::vector<Trouble>& troubles, Audience readers) {
  return json::parse(health_json(scene.shared.pages, troubles, readers)).at("reasons");
}

TEST(HealthJson, NamesOriginsOfClientsToAdminsAlone) {
  const Scene scene;
  const OriginsSeen seen{{},
                         {{"http://theirs:80", false, 12, kNow - 40s, kNow - 30s},
                          {"http://ours:80", true, 12, kNow - 40s, kNow - 30s}},
                         0,
                         0};
  const auto troubles = origin_reasons(seen, kNow);
  const auto told = reasons_for(scene, troubles, Audience::monitors);
  EXPECT_EQ(told.at(0).at("which"), kForAdmins);
  EXPECT_EQ(told.at(1).at("which"), "http://ours:80");
  EXPECT_EQ(told.dump().find("theirs"), std::string::npos) << told;
  EXPECT_EQ(reasons_for(scene, troubles, Audience::admins).at(0).at("which"), "http://theirs:80");
  const std::vector<upstream::OriginHealth::Failing> theirs{
      {"http://theirs:80", {}, 30, kNow - 9s, kNow}};
  const OriginsSeen one{theirs, {}, 100, 30, theirs};
  const auto share = reasons_for(scene, origin_reasons(one, kNow), Audience::monitors);
  EXPECT_EQ(share.at(0).at("which"), kForAdmins);
}

TEST(HealthJson, NamesANeighbourWithoutANameToAdminsAlone) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b")};
  settings.peers[0].host = "203.0.113.8";
  Scene scene(settings);
  for (const char* const address : {"203.0.113.8", "203.0.113.9"}) {
    scene.shared.observed.refused_neighbours.record(
        {*config::parse_address(address), address, kNow});
  }
  const auto troubles = troubles_of(scene.shared.pages, *scene.policy, kNow);
  const auto named = [&](Audience readers) {
    std::vector<std::string> names;
    for (const auto& one : reasons_for(scene, troubles, readers)) names.push_back(one.at("which"));
    return names;
  };
  EXPECT_EQ(named(Audience::monitors), (std::vector<std::string>{"b", std::string(kForAdmins)}));
  EXPECT_EQ(named(Audience::admins), (std::vector<std::string>{"b", "203.0.113.9"}));
}

}  // namespace
}  // namespace proxy::pages
