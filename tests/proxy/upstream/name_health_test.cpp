#include "proxy/upstream/name_health.hpp"

#include <gtest/gtest.h>

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using Probed = NameHealth::Probed;

const NameHealth::Time kThen{1000s};
constexpr auto kSilence = NameHealth::kSilence;

struct Servers : NameHealth {
  explicit Servers(const std::vector<std::string>& addresses = {"10.0.0.53"}) {
    set_servers(addresses, "/etc/resolv.conf");
  }
  void fail(std::string_view name, Time now) {
    asked(now);
    failed(name, now);
  }
  [[nodiscard]] std::string said(Time now) const {
    const auto found = trouble(now);
    return found ? found->text : "";
  }
};

TEST(NameHealth, ServersAreSilentIfNoQuestionHasGotAReply) {
  Servers servers;
  servers.asked(kThen);
  servers.failed("a.test", kThen + 1s);
  servers.asked(kThen + 1s);
  EXPECT_EQ(servers.said(kThen + kSilence - 1ms), "");
  const auto trouble = servers.trouble(kThen + kSilence);
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->text, "name resolution: 10.0.0.53 does not answer (/etc/resolv.conf)");
  EXPECT_EQ(trouble->since, kThen);
  EXPECT_EQ(trouble->last, kThen + 1s);
  EXPECT_EQ(servers.text_for_client(kThen + kSilence), trouble->text);
  servers.answered(kThen + kSilence);
  EXPECT_EQ(servers.said(kThen + 1h), "");
}

// The last of them time out when the servers are back, and nobody may ask anything after that.
TEST(NameHealth, QuestionsOfASilenceThatIsOverFailNoServer) {
  Servers servers;
  servers.asked(kThen);
  EXPECT_NE(servers.said(kThen + kSilence), "");
  servers.probed(Probed::good, kThen + kSilence);
  for (const auto* name : {"a.test", "b.test", "c.test"})
    servers.timed_out(name, kThen + 1s, kThen + kSilence + 1s);
  EXPECT_EQ(servers.said(kThen + kSilence + 1s), "");
  for (const auto* name : {"a.test", "b.test", "c.test"})
    servers.timed_out(name, kThen + kSilence + 1s, kThen + kSilence + 2s);
  EXPECT_NE(servers.said(kThen + kSilence + 2s), "");
}

TEST(NameHealth, ASingleNameThatFailsIsNoFaultOfTheServers) {
  Servers servers;
  for (const auto later : {0s, 1s, 2s, 3s}) {
    servers.fail("dead.test", kThen + later);
    EXPECT_TRUE(servers.is_in_doubt());
    servers.probed(Probed::good, kThen + later + 500ms);
    EXPECT_FALSE(servers.is_in_doubt());
  }
  EXPECT_EQ(servers.said(kThen + 10s), "");
  EXPECT_EQ(servers.text_for_client(kThen + 10s),
            "name resolution: 10.0.0.53 gave no usable answer (/etc/resolv.conf)");
}

TEST(NameHealth, ServersThatFailAllNamesAreOfNoUse) {
  Servers servers({"10.0.0.53", "10.0.0.54"});
  for (const auto* name : {"a.test", "b.test", "b.test"}) servers.fail(name, kThen);
  servers.probed(Probed::good, kThen);
  EXPECT_EQ(servers.said(kThen), "") << "two names";
  servers.fail("c.test", kThen + 1s);
  EXPECT_EQ(
      servers.said(kThen + 1s),
      "name resolution: 10.0.0.53 and 10.0.0.54 answer, but resolve no names (/etc/resolv.conf)");
  EXPECT_EQ(servers.trouble(kThen + 1s)->since, kThen);
  EXPECT_EQ(servers.trouble(kThen + 1s)->last, kThen + 1s);
  servers.probed(Probed::good, kThen + 1s);
  EXPECT_EQ(servers.said(kThen + 2s + NameHealth::kLately), "") << "nobody has asked since";
}

TEST(NameHealth, TheNamesOfOneDomainAreNoFaultOfTheServers) {
  Servers servers;
  for (const auto* name : {"a.dead.test", "b.dead.test", "c.b.dead.test.", "dead.test", "x"}) {
    servers.fail(name, kThen);
  }
  servers.probed(Probed::good, kThen);
  EXPECT_EQ(servers.said(kThen), "") << "two domains";
  servers.fail("a.other.test", kThen);
  servers.probed(Probed::good, kThen);
  EXPECT_NE(servers.said(kThen), "") << "three";
}

TEST(NameHealth, ANameThatFailedDuringATroubleTellsNothingForAWhile) {
  Servers servers;
  EXPECT_FALSE(servers.fails_lately(kThen));
  servers.fail("a.test", kThen);
  EXPECT_FALSE(servers.fails_lately(kThen + kSilence - 1ms));
  EXPECT_TRUE(servers.fails_lately(kThen + kSilence));
  servers.answered(kThen + kSilence);
  EXPECT_TRUE(servers.fails_lately(kThen + kSilence + NameHealth::kAftermath));
  EXPECT_FALSE(servers.fails_lately(kThen + kSilence + NameHealth::kAftermath + 1ms));
}

TEST(NameHealth, TheRootThatFailsTellsItAtOnce) {
  Servers servers;
  servers.fail("a.test", kThen);
  servers.probed(Probed::failure, kThen);
  EXPECT_EQ(servers.said(kThen),
            "name resolution: 10.0.0.53 answers, but resolves no names (/etc/resolv.conf)");
  servers.answered(kThen + 1s);
  EXPECT_EQ(servers.said(kThen + 1s), "");
}

TEST(NameHealth, NamesThatFailedInSilenceDoNotCountLater) {
  Servers servers;
  for (const auto* name : {"a.test", "b.test", "c.test"}) servers.fail(name, kThen);
  servers.probed(Probed::silence, kThen + kSilence);
  EXPECT_NE(servers.said(kThen + kSilence), "");
  servers.probed(Probed::good, kThen + kSilence);
  EXPECT_EQ(servers.said(kThen + kSilence), "");
}

}  // namespace
}  // namespace proxy::upstream
