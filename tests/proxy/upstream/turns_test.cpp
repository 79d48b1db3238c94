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
  Turns turns(kServer, nullptr, route);
  std::vector<std::string> hosts;
  while (turns.next(now)) hosts.push_back(turns.to().host);
  return hosts;
}

// Turns that have chosen their first server.
Turns begun(const Route& route, Clock::time_point now = kBegin) {
  Turns turns(kServer, nullptr, route);
  EXPECT_TRUE(turns.next(now));
  return turns;
}

TEST(Turns, BeginAndEndWithTheOriginWithoutParents) {
  const Route route;
  Turns turns = begun(route);
  EXPECT_EQ(turns.to(), kServer);
  EXPECT_EQ(turns.parent(), nullptr);
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

TEST(Turns, TellTheParentThatIsAskedAndWhatIsLeft) {
  const auto parents = two_parents();
  const Route route{parents, {1, 0}};
  Turns turns = begun(route);
  ASSERT_NE(turns.parent(), nullptr);
  EXPECT_EQ(turns.parent()->authorization, "Basic x");
  EXPECT_TRUE(turns.to().tls);
  EXPECT_TRUE(turns.others_left());
  EXPECT_TRUE(turns.rest().direct);
  EXPECT_EQ(turns.rest().order.size(), 1U);
  EXPECT_EQ(turns.rest().order[0], 0U);
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_EQ(turns.parent(), nullptr) << "the origin";
  EXPECT_FALSE(turns.others_left());
  EXPECT_TRUE(turns.rest().leads_nowhere());
}

TEST(Turns, CountEachTurnAndItsFailureOnce) {
  const auto parents = two_parents();
  const Route route{parents, {0}};
  Turns turns = begun(route);
  turns.failed(kBegin);
  turns.silent_since(kBegin, kBegin);
  EXPECT_EQ(parents->counts(0).requests, 1U);
  EXPECT_EQ(parents->counts(0).failures, 1U);
  EXPECT_EQ(parents->counts(1).requests, 0U);
}

TEST(Turns, AskAParentThatRestsAfterTheOrigin) {
  using Hosts = std::vector<std::string>;
  const auto parents = two_parents();
  parents->live().failed(0, kBegin);
  EXPECT_EQ(hosts_by({parents, {0, 1}}, kBegin), (Hosts{"q", "origin", "p"}));
  EXPECT_EQ(hosts_by({parents, {0, 1}, false}, kBegin), (Hosts{"q", "p"}));
  parents->live().worked(0, kBegin);
  EXPECT_EQ(hosts_by({parents, {0, 1}}, kBegin), (Hosts{"p", "q", "origin"}));
}

TEST(Turns, LeaveTheTrialOfAParentToOneRequest) {
  const auto parents = two_parents();
  const Route route{parents, {0}};
  parents->live().failed(0, kBegin);
  const auto rested = kBegin + Origins::kRest;
  EXPECT_TRUE(route.begins_in_doubt(rested));
  Turns trial = begun(route, rested);
  EXPECT_EQ(trial.to().host, "p");
  EXPECT_TRUE(trial.on_trial());
  EXPECT_EQ(begun(route, rested).to(), kServer) << "until that one is answered";
  trial.worked(rested);
  EXPECT_FALSE(begun(route, rested).on_trial());
  EXPECT_FALSE(route.begins_in_doubt(rested));
}

TEST(Turns, TakeAParentForSilentOnlyIfItHasAnsweredNobodySince) {
  const auto parents = two_parents();
  const Route route{parents, {0}};
  Turns turns = begun(route);
  turns.worked(kBegin + seconds(2));
  turns.silent_since(kBegin + seconds(1), kBegin + seconds(3));
  EXPECT_FALSE(parents->live().rests(0, kBegin + seconds(3)));
  turns.silent_since(kBegin + seconds(3), kBegin + seconds(5));
  EXPECT_TRUE(parents->live().rests(0, kBegin + seconds(5)));
}

TEST(Turns, TakeTheOriginsOfAMappingInPlaceOfTheOrigin) {
  const auto origins =
      std::make_shared<Origins>(std::vector<Endpoint>{{false, "a", 80}, {false, "b", 80}});
  const Route none;
  Turns turns(kServer, origins, none);
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_EQ(turns.to().host, "a");
  EXPECT_EQ(turns.parent(), nullptr);
  turns.failed(kBegin);
  EXPECT_TRUE(turns.next(kBegin));
  EXPECT_EQ(turns.to().host, "b");
  EXPECT_FALSE(turns.next(kBegin));
  EXPECT_TRUE(origins->rests(0, kBegin));
}

TEST(Route, HasAChoiceIfAnotherServerCanBeAskedInPlaceOfAParent) {
  EXPECT_TRUE((Route{two_parents(), {1, 0}, false}).has_choice());
  EXPECT_TRUE((Route{two_parents(), {1}}).has_choice());
  EXPECT_FALSE((Route{two_parents(), {1}, false}).has_choice());
  EXPECT_FALSE(Route().has_choice());
  EXPECT_TRUE((Route{nullptr, {}, false}).leads_nowhere());
}

}  // namespace
}  // namespace proxy::upstream
