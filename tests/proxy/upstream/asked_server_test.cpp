#include "proxy/upstream/asked_server.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {
namespace {

using upstream::Endpoint;
using upstream::Errc;
using upstream::NamedBy;
using upstream::Origins;
using upstream::Parent;
using upstream::Parents;
using upstream::Route;
using Hosts = std::vector<std::string>;
using Heard = AskedServer::Heard;
using What = Failure::What;
using namespace std::chrono_literals;

const Endpoint kServer{false, "origin", 80};

std::shared_ptr<Parents> two_parents() {
  return std::make_shared<Parents>(std::vector<Parent>{
      {"p", {false, "p", 3128, NamedBy::configured}, ""},
      {"q", {true, "q", 3129, NamedBy::configured}, "Basic x"},
  });
}

Failure failure(What what, boost::system::error_code cause = {}) {
  return {Failure::Where::upstream, what, cause};
}

http::ResponseHead answer(unsigned status) {
  http::ResponseHead head;
  head.status = status;
  return head;
}

class AskedServerTest : public testing::Test {
 protected:
  // A server by this route that has been chosen and turned to.
  AskedServer& begin(Route route, std::shared_ptr<Origins> several = nullptr) {
    plan_.to = kServer;
    plan_.route = std::move(route);
    plan_.origins = std::move(several);
    server_.emplace(records_, plan_);
    EXPECT_TRUE(server_->next());
    server_->turn_to(clock_.steady());
    return *server_;
  }
  // The hosts that are asked if each one fails.
  Hosts hosts_by(Route route) {
    plan_.to = kServer;
    plan_.route = std::move(route);
    AskedServer server(records_, plan_);
    Hosts hosts;
    while (server.next()) hosts.push_back(server.to().host);
    return hosts;
  }
  [[nodiscard]] bool rests(const Parents& parents, std::size_t number) const {
    return const_cast<Parents&>(parents).live().rests(number, clock_.steady());
  }

  machine::Clock clock_{machine::Clock::Time(std::chrono::hours(24))};
  upstream::FailedEndpoints failed_{10s};
  upstream::OriginHealth health_;
  upstream::OriginTraffic traffic_{clock_};
  ServerRecords records_{failed_, health_, traffic_.add_thread(), clock_};
  FetchPlan plan_;
  std::optional<AskedServer> server_;
};

TEST_F(AskedServerTest, BeginsAndEndsWithTheOriginWithoutParents) {
  auto& server = begin({});
  EXPECT_EQ(server.to(), kServer);
  EXPECT_EQ(server.parent(), nullptr);
  EXPECT_TRUE(server.rest_of_route().leads_nowhere());
  EXPECT_FALSE(server.next());
  EXPECT_EQ(server.to(), kServer);
}

TEST_F(AskedServerTest, FollowsTheRoute) {
  const auto parents = two_parents();
  EXPECT_EQ(hosts_by({parents, {1, 0}}), (Hosts{"q", "p", "origin"}));
  EXPECT_EQ(hosts_by({parents, {1, 0}, false}), (Hosts{"q", "p"}));
  EXPECT_EQ(hosts_by({parents, {0}}), (Hosts{"p", "origin"}));
  EXPECT_EQ(hosts_by({nullptr, {}, false}), Hosts{});
}

TEST_F(AskedServerTest, TellsTheParentThatIsAskedAndWhatIsLeft) {
  auto& server = begin({two_parents(), {1, 0}});
  ASSERT_NE(server.parent(), nullptr);
  EXPECT_EQ(server.parent()->authorization, "Basic x");
  EXPECT_TRUE(server.to().tls);
  EXPECT_EQ(server.connect_time(), plan_.parent.connect) << "others are left";
  EXPECT_TRUE(server.rest_of_route().direct);
  EXPECT_EQ(server.rest_of_route().order.size(), 1U);
  EXPECT_EQ(server.rest_of_route().order[0], 0U);
  EXPECT_TRUE(server.next());
  EXPECT_TRUE(server.next());
  EXPECT_EQ(server.parent(), nullptr) << "the origin";
  EXPECT_EQ(server.connect_time(), plan_.connect);
  EXPECT_TRUE(server.rest_of_route().leads_nowhere());
}

TEST_F(AskedServerTest, WaitsForTheLastParentAsForAnOrigin) {
  auto& server = begin({two_parents(), {0}, false});
  EXPECT_EQ(server.connect_time(), plan_.connect);
  EXPECT_EQ(server.first_byte_time(), plan_.first_byte);
}

TEST_F(AskedServerTest, CountsEachTurnAndItsFailureOnce) {
  const auto parents = two_parents();
  auto& server = begin({parents, {0}});
  server.note_cut();
  server.record_silence();
  EXPECT_EQ(parents->counts(0).requests, 1U);
  EXPECT_EQ(parents->counts(0).failures, 1U);
  EXPECT_EQ(parents->counts(1).requests, 0U);
}

TEST_F(AskedServerTest, AsksAParentThatRestsAfterTheOrigin) {
  const auto parents = two_parents();
  parents->live().failed(0, clock_.steady());
  EXPECT_EQ(hosts_by({parents, {0, 1}}), (Hosts{"q", "origin", "p"}));
  EXPECT_EQ(hosts_by({parents, {0, 1}, false}), (Hosts{"q", "p"}));
  parents->live().worked(0, clock_.steady());
  EXPECT_EQ(hosts_by({parents, {0, 1}}), (Hosts{"p", "q", "origin"}));
}

TEST_F(AskedServerTest, LeavesTheTrialOfAParentToOneRequest) {
  const auto parents = two_parents();
  const Route route{parents, {0}};
  parents->live().failed(0, clock_.steady());
  clock_.pass(Origins::kRest);
  EXPECT_TRUE(route.begins_in_doubt(clock_.steady()));
  auto& trial = begin(route);
  EXPECT_EQ(trial.to().host, "p");
  EXPECT_EQ(trial.first_byte_time(), plan_.parent.trial_first_byte);
  EXPECT_EQ(hosts_by(route).front(), "origin") << "until that one is answered";
  trial.record_head(answer(200));
  EXPECT_EQ(begin(route).first_byte_time(), plan_.parent.first_byte);
  EXPECT_FALSE(route.begins_in_doubt(clock_.steady()));
}

TEST_F(AskedServerTest, TakesAParentForSilentOnlyIfItHasAnsweredNobodySince) {
  const auto parents = two_parents();
  auto& server = begin({parents, {0}});
  parents->live().worked(0, clock_.steady() + 1s);
  clock_.pass(2s);
  server.record_silence();
  EXPECT_FALSE(rests(*parents, 0));
  server.turn_to(clock_.steady());
  clock_.pass(2s);
  server.record_silence();
  EXPECT_TRUE(rests(*parents, 0));
}

TEST_F(AskedServerTest, TakesTheOriginsOfAMappingInPlaceOfTheOrigin) {
  const auto origins =
      std::make_shared<Origins>(std::vector<Endpoint>{{false, "a", 80}, {false, "b", 80}});
  auto& server = begin({}, origins);
  EXPECT_EQ(server.to().host, "a");
  EXPECT_EQ(server.parent(), nullptr);
  EXPECT_TRUE(server.moves_on(failure(What::unreachable, Errc::connect_refused), {}));
  EXPECT_EQ(server.to().host, "b");
  EXPECT_FALSE(server.next());
  EXPECT_TRUE(origins->rests(0, clock_.steady()));
}

TEST_F(AskedServerTest, MovesOnWhereAnotherServerMayDoBetter) {
  struct Case {
    const char* what;
    Failure why;
    Heard heard;
    bool repeatable;
    bool moves_on;
    bool rests;
  };
  const Case cases[] = {
      {"refused", failure(What::unreachable, Errc::connect_refused), {}, false, true, true},
      {"cut", failure(What::cut), {}, true, true, true},
      {"cut, and may not be sent twice", failure(What::cut), {}, false, false, true},
      {"no HTTP", failure(What::malformed), {true, false}, true, true, true},
      {"the origin's fault", failure(What::malformed), {true, true}, true, true, false},
      {"silent", failure(What::timed_out), {}, true, true, true},
      {"silent, and may not be sent twice", failure(What::timed_out), {}, false, false, true},
      {"given up", failure(What::abandoned), {}, true, false, false},
      {"our own fault", failure(What::overload), {}, true, false, false},
      {"none left", failure(What::unreachable, Errc::no_parent_left), {}, true, false, false},
  };
  for (const auto& one : cases) {
    const auto parents = two_parents();
    plan_.repeatable = one.repeatable;
    auto& server = begin({parents, {0}});
    EXPECT_EQ(server.moves_on(one.why, one.heard), one.moves_on) << one.what;
    EXPECT_EQ(server.to().host, one.moves_on ? "origin" : "p") << one.what;
    EXPECT_EQ(rests(*parents, 0), one.rests) << one.what;
  }
}

TEST_F(AskedServerTest, StaysWithAnOriginThatHasSentSomethingOrIsSilent) {
  const auto origins =
      std::make_shared<Origins>(std::vector<Endpoint>{{false, "a", 80}, {false, "b", 80}});
  EXPECT_FALSE(begin({}, origins).moves_on(failure(What::cut), {true, false}));
  EXPECT_FALSE(begin({}, origins).moves_on(failure(What::timed_out), {}));
  EXPECT_EQ(health_.failures(What::cut), 1U);
  EXPECT_EQ(health_.failures(What::timed_out), 1U);
}

TEST_F(AskedServerTest, GoesAroundAParentThatHasNoWayOrRefusesOurLogin) {
  for (const unsigned status : {200U, 404U, 407U, 500U, 502U, 503U, 504U, 508U}) {
    const auto parents = two_parents();
    const bool around = status == 407 || (status > 500 && status < 600);
    EXPECT_EQ(begin({parents, {0}}).goes_around(status), around) << status;
    EXPECT_EQ(rests(*parents, 0), status == 407) << status;
    EXPECT_FALSE(begin({}).goes_around(status)) << status;
  }
}

TEST_F(AskedServerTest, LeavesAnOriginAloneThatWantsARest) {
  const Endpoint other{false, "other", 80};
  for (const unsigned status : {200U, 429U, 503U}) {
    auto& server = begin({});
    auto head = answer(status);
    head.fields.append({http::field::retry_after, "Retry-After", "30"});
    server.record_head(head);
    EXPECT_EQ(health_.rests(kServer, clock_.steady() + 29s), status != 200) << status;
    EXPECT_FALSE(health_.rests(kServer, clock_.steady() + 30s)) << status;
    EXPECT_FALSE(health_.rests(other, clock_.steady())) << status;
  }
}

TEST_F(AskedServerTest, KnowsAServerThatCouldNotBeReachedAMomentAgo) {
  failed_.record(kServer, Errc::connect_refused, clock_.steady());
  auto& server = begin({});
  EXPECT_EQ(server.known_failure(), Errc::connect_refused);
  EXPECT_TRUE(server.was_known_to_fail());
  clock_.pass(11s);
  server.turn_to(clock_.steady());
  EXPECT_FALSE(server.known_failure());
  EXPECT_FALSE(server.was_known_to_fail());
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
