#include "proxy/upstream/turns.hpp"

#include <gtest/gtest.h>

namespace proxy::upstream {
namespace {

using Clock = Turns::Clock;
using std::chrono::seconds;

const Clock::time_point kBegin{seconds(1'000)};
const Endpoint kServer{false, "origin", 80};

std::shared_ptr<Parents> two_parents() {
  return std::make_shared<Parents>(std::vector<Parent>{
      {"p", {false, "p", 3128, Trust::configured}, ""},
      {"q", {true, "q", 3129, Trust::configured}, "Basic x"},
  });
}

// The hosts that are asked if each one fails.
std::vector<std::string> hosts_by(const Route& route, Clock::time_point now) {
  Turns turns(kServer, nullptr, route, now);
  std::vector<std::string> hosts;
  if (turns.none()) return hosts;
  do {
    hosts.push_back(turns.to().host);
  } while (turns.next(now));
  return hosts;
}

TEST(Turns, BeginAndEndWithTheOriginWithoutParents) {
  const Route route;
  Turns turns(kServer, nullptr, route, kBegin);
  EXPECT_EQ(turns.to(), kServer);
  EXPECT_EQ(turns.parent(), nullptr);
  EXPECT_FALSE(turns.several());
  EXPECT_FALSE(turns.others_left());
  EXPECT_FALSE(turns.next(kBegin));
  EXPECT_EQ(turns.to(), kServer);
}

TEST(Turns, FollowTheRoute) {
  using Hosts = std::vector<std::string>;
  const auto parents = two_parents();
  EXPECT_EQ(hosts_by({parents, {1, 0}}, kBegin), (Hosts{"q", "p", "origin"}));
  EXPECT_EQ(hosts_by({parents, {1, 0}, false}, kBegin), (Hosts{"q", "p"}));
  EXPECT_EQ(hosts_by({parents, {0}}, kBegin), (Hosts{"p", "origin"}));
  EXPECT_EQ(hosts_by({nullptr, {}, false}, kBegin), Hosts{});
}

TEST(Turns, TellTheParentThatIsAskedAndWhetherOthersAreLeft) {
  const Route route{two_parents(), {1}};
  Turns turns(kServer, nullptr, route, kBegin);
  ASSERT_NE(turns.parent(), nullptr);
  EXPECT_EQ(turns.parent()->authorization, "Basic x");
  EXPECT_TRUE(turns.to().tls);
  EXPECT_TRUE(turns.several());
  EXPECT_TRUE(turns.others_left());
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_EQ(turns.parent(), nullptr);
  EXPECT_FALSE(turns.others_left());
}

TEST(Turns, SkipAParentThatRestsUnlessThereIsNoOtherWay) {
  using Hosts = std::vector<std::string>;
  const auto parents = two_parents();
  const Route route{parents, {0, 1}};
  Turns first(kServer, nullptr, route, kBegin);
  first.failed(kBegin);
  EXPECT_EQ(parents->counts(0).failures, 1U);
  EXPECT_EQ(hosts_by({parents, {0, 1}}, kBegin), (Hosts{"q", "origin"}));
  EXPECT_EQ(hosts_by({parents, {0, 1}, false}, kBegin), (Hosts{"q", "p"}));
  first.worked(kBegin);
  EXPECT_EQ(Turns(kServer, nullptr, route, kBegin).to().host, "p");
}

TEST(Turns, TakeAParentForSilentOnlyIfItHasAnsweredNobodySince) {
  const auto parents = two_parents();
  const Route route{parents, {0}};
  Turns turns(kServer, nullptr, route, kBegin);
  turns.worked(kBegin + seconds(2));
  turns.silent_since(kBegin + seconds(1), kBegin + seconds(3));
  EXPECT_FALSE(parents->live().rests(0, kBegin + seconds(3)));
  turns.silent_since(kBegin + seconds(2), kBegin + seconds(4));
  EXPECT_FALSE(parents->live().rests(0, kBegin + seconds(4)));
  turns.silent_since(kBegin + seconds(3), kBegin + seconds(5));
  EXPECT_TRUE(parents->live().rests(0, kBegin + seconds(5)));
}

TEST(Turns, TakeTheOriginsOfAMappingInPlaceOfTheOrigin) {
  const auto origins =
      std::make_shared<Origins>(std::vector<Endpoint>{{false, "a", 80}, {false, "b", 80}});
  const Route none;
  Turns turns(kServer, origins, none, kBegin);
  EXPECT_EQ(turns.to().host, "a");
  EXPECT_EQ(turns.parent(), nullptr);
  turns.failed(kBegin);
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_EQ(turns.to().host, "b");
  EXPECT_FALSE(turns.next(kBegin));
  EXPECT_EQ(Turns(kServer, origins, none, kBegin).to().host, "b");
}

TEST(Route, WithoutItsFirstParentLeadsThroughTheOthers) {
  const Route route{two_parents(), {1, 0}};
  EXPECT_TRUE(route.has_choice());
  EXPECT_EQ(route.without_first().order.size(), 1U);
  EXPECT_EQ(route.without_first().order[0], 0U);
  EXPECT_FALSE(route.without_first().without_first().has_choice());
  EXPECT_FALSE((Route{two_parents(), {1}, false}).has_choice());
  EXPECT_FALSE(Route().has_choice());
}

}  // namespace
}  // namespace proxy::upstream
