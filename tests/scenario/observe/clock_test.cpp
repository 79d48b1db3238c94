// A clock that is hours off is seen in /health, /metrics and the log.
#include <gtest/gtest.h>

#include <array>
#include <ctime>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

std::string date_in(std::chrono::seconds ahead) {
  const std::time_t time = std::time(nullptr) + ahead.count();
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", std::gmtime(&time));
  return text.data();
}

// Origins on three hosts, whose clocks are ahead of ours.
struct Clocks {
  void answer(std::chrono::seconds ahead, const Fields& fields = {}) {
    origin.otherwise([=](const Request&) {
      Reply reply(200, {{"Date", date_in(ahead)}, {"Cache-Control", "no-store"}});
      for (const auto& [name, value] : fields) reply.with(name, value);
      return reply.body("x");
    });
    for (const int host : {1, 2, 3}) {
      const auto url =
          "http://127.0.0." + std::to_string(host) + ":" + std::to_string(origin.port()) + "/";
      EXPECT_EQ(client.get(url).status, 200);
    }
  }
  std::string status() const { return json::parse(proxy.page("/health").body).at("status"); }
  bool said(std::string_view text) {
    return await([&] { return contains(proxy.process().errors(), text); });
  }

  ScriptedOrigin origin{Reach::all_networks};
  ProxyProcess proxy;
  Client client{proxy.port()};
};

TEST(Clock, ThatOriginsAgreeAgainstIsSaid) {
  Clocks scene;
  scene.answer(std::chrono::seconds(0));
  EXPECT_EQ(scene.status(), "ok");
  EXPECT_EQ(scene.proxy.metric("hearsay_clock_skew_seconds"), 0);
  scene.answer(std::chrono::hours(-2));
  EXPECT_EQ(scene.status(), "degraded");
  const json reason = json::parse(scene.proxy.page("/health").body).at("reasons").at(0);
  EXPECT_EQ(reason.at("what"), "clock");
  EXPECT_NEAR(scene.proxy.metric("hearsay_clock_skew_seconds"), -7200, 5);
  EXPECT_EQ(scene.proxy.metric("hearsay_troubles{what=\"clock\"}"), 1);
  EXPECT_TRUE(scene.said("s ahead of the clocks of several origins"));
  scene.answer(std::chrono::seconds(0));
  EXPECT_EQ(scene.status(), "ok");
  EXPECT_TRUE(scene.said("agrees with the origins' again"));
}

TEST(Clock, IsNotJudgedByOldResponsesOfOtherCaches) {
  Clocks scene;
  scene.answer(std::chrono::hours(-2), {{"Age", "7200"}});
  EXPECT_EQ(scene.status(), "ok");
}

}  // namespace
}  // namespace scenario
