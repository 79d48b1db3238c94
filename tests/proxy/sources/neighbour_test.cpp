#include "proxy/sources/neighbour.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"
#include "tests/proxy/policy/requests.hpp"

namespace proxy::sources {
namespace {

using peers::ClaimOutcome;
using peers::FalseHit;

const SiblingQuestion kWhole;
const SiblingQuestion kAnyVersion{PartAsked{{0, 99}, {}}};
const SiblingQuestion kThisVersion{PartAsked{{0, 99}, "\"v1\""}};
const SiblingQuestion kWhetherCurrent{{}, "\"v1\""};

Finding heard(unsigned status, const SiblingQuestion& asked, const std::string& lines = "") {
  const policy::TextAnswer answer(status, lines);
  return finding_in(answer.head, asked);
}

TEST(Neighbour, HoldsWhatItBeginsToSend) {
  for (const auto& part : {kWhole, kAnyVersion, kThisVersion}) {
    EXPECT_EQ(heard(200, part).worth, Worth::holds);
  }
  EXPECT_EQ(heard(206, kAnyVersion).worth, Worth::holds);
  EXPECT_EQ(heard(206, kThisVersion).worth, Worth::holds);
  EXPECT_EQ(heard(206, kWhole).worth, Worth::refused) << "nobody asked for a part";
  EXPECT_EQ(heard(200, kWhetherCurrent).worth, Worth::holds) << "another version";
  EXPECT_EQ(heard(304, kWhetherCurrent).worth, Worth::holds) << "the same version";
}

TEST(Neighbour, ThatSaysNoWasClaimedForInErrorAndSaysWhy) {
  for (const unsigned status : {502, 504}) {  // Squid says either
    EXPECT_EQ(heard(status, kWhole), (Finding{Worth::false_hit, FalseHit::untold}));
    EXPECT_EQ(heard(status, kThisVersion, "Cache-Status: b; fwd=stale\r\n"),
              (Finding{Worth::false_hit, FalseHit::stale}));
  }
}

// RFC 9110 15.5.17: an answer about the range, by a server that knows the length.
TEST(Neighbour, ThatKnowsNoSuchRangeHoldsTheResponseOrAnotherVersion) {
  EXPECT_EQ(heard(416, kAnyVersion).worth, Worth::other_range);
  EXPECT_EQ(heard(416, kThisVersion).worth, Worth::unusable);
  EXPECT_EQ(heard(416, kWhole).worth, Worth::refused) << "nobody asked for a range";
}

// RFC 9211 2.2: it holds the response, but not all of the range.
TEST(Neighbour, ThatHoldsOtherPartsHasNotClaimedInError) {
  const std::string partial = "Cache-Status: b; fwd=partial\r\n";
  EXPECT_EQ(heard(504, kAnyVersion, partial).worth, Worth::other_range);
  EXPECT_EQ(heard(504, kThisVersion, partial).worth, Worth::other_range);
  EXPECT_EQ(heard(504, kWhole, partial).worth, Worth::false_hit) << "it claimed the whole";
  EXPECT_EQ(heard(504, kAnyVersion, "Cache-Status: b; fwd=uri-miss\r\n").worth, Worth::false_hit);
}

TEST(Neighbour, RefusesByAStatusThatASiblingMustNotGive) {
  for (const unsigned status : {204, 301, 304, 400, 403, 404, 410, 412, 500, 503}) {
    EXPECT_EQ(heard(status, kWhole).worth, Worth::refused) << status;
    EXPECT_EQ(heard(status, kThisVersion).worth, Worth::refused) << status;
  }
}

TEST(Neighbour, WithoutAHeadIsSlowOrBrokenUnlessItWasGivenUp) {
  using What = upstream::Failure::What;
  const auto heard_of = [](What what) {
    return finding_in(upstream::Failure{upstream::Failure::Where::upstream, what, {}}).worth;
  };
  EXPECT_EQ(heard_of(What::timed_out), Worth::slow);
  EXPECT_EQ(heard_of(What::cut), Worth::broken);
  EXPECT_EQ(heard_of(What::malformed), Worth::broken);
  EXPECT_EQ(heard_of(What::unreachable), Worth::broken);
  EXPECT_EQ(heard_of(What::abandoned), Worth::given_up);
}

TEST(Neighbour, WhoseNameIsNotResolvedIsNotBlamed) {
  const auto finding = finding_in(upstream::failure_of(
      upstream::Failure::Where::upstream, make_error_code(upstream::Errc::resolver_timed_out)));
  EXPECT_EQ(finding.worth, Worth::unresolved);
  EXPECT_FALSE(outcome_for(finding));
  EXPECT_FALSE(outcome_for(finding, Claiming::nothing));
  EXPECT_EQ(words_for(finding, "b"), "dns/b");
}

TEST(Neighbour, IsWorthWhatItsBodyIs) {
  const auto worth = [](upstream::Failure::What what) {
    return worth_of(upstream::Failure{upstream::Failure::Where::upstream, what, {}}).worth;
  };
  EXPECT_EQ(worth_of(boost::system::in_place_value).worth, Worth::true_hit);
  EXPECT_EQ(worth(upstream::Failure::What::cut), Worth::cut);
  EXPECT_EQ(worth(upstream::Failure::What::timed_out), Worth::cut);
  EXPECT_EQ(worth(upstream::Failure::What::malformed), Worth::cut);
  EXPECT_EQ(worth(upstream::Failure::What::abandoned), Worth::given_up);
}

TEST(Neighbour, WhoseAnswerIsNotProvenHasNotAnsweredOrMayHaveBegunAnew) {
  using upstream::Errc;
  const auto heard_of = [](Errc cause) {
    return finding_in(upstream::Failure{upstream::Failure::Where::upstream,
                                        upstream::Failure::What::untrusted, cause});
  };
  EXPECT_EQ(heard_of(Errc::not_the_peer).worth, Worth::not_a_proxy);
  EXPECT_EQ(heard_of(Errc::unproven_peer), (Finding{Worth::false_hit, FalseHit::unknown}));
  EXPECT_EQ(heard_of(Errc::tls_failed).worth, Worth::broken);
}

TEST(Neighbour, ThatServesNothingToUsRefusesUs) {
  const std::string not_a_client = "Cache-Status: b; detail=\"refused/denied/access.clients\"\r\n";
  EXPECT_EQ(heard(504, kWhole, not_a_client), (Finding{Worth::refuses_us, FalseHit::refused}));
  for (const unsigned status : {403, 407}) {
    for (const char* page : {"ERR_ACCESS_DENIED 0", "ERR_CACHE_ACCESS_DENIED 0"}) {
      const auto lines = std::string("X-Squid-Error: ") + page + "\r\n";
      EXPECT_EQ(heard(status, kWhole, lines).worth, Worth::refuses_us) << lines;
    }
    EXPECT_EQ(heard(status, kWhole, "X-Squid-Error: ERR_FORWARDING_DENIED 0\r\n").worth,
              Worth::refused);
  }
  const std::string by_rule = "Cache-Status: b; detail=\"refused/denied/adverts\"\r\n";
  EXPECT_EQ(heard(504, kWhole, by_rule), (Finding{Worth::false_hit, FalseHit::refused}));
  EXPECT_EQ(heard(200, kWhole, not_a_client).worth, Worth::holds);
}

using namespace std::chrono_literals;

// 1 s is the default of timeouts.peer_first_byte.
TEST(Neighbour, IsLateIfItSaysNoAfterHalfOfTheTimeForAHead) {
  for (const Worth no : {Worth::false_hit, Worth::unusable, Worth::other_range, Worth::refused}) {
    EXPECT_FALSE(in_time({no}, 500ms, 1s).late);
    EXPECT_EQ(in_time({no, FalseHit::gone}, 501ms, 1s), (Finding{no, FalseHit::gone, true}));
  }
  for (const Worth other :
       {Worth::true_hit, Worth::holds, Worth::slow, Worth::broken, Worth::cut, Worth::given_up}) {
    EXPECT_EQ(in_time({other}, 10s, 1s), Finding{other});
  }
}

TEST(Neighbour, ThatIsLateIsNotedAsSlow) {
  const Finding no{Worth::false_hit, FalseHit::gone, true};
  EXPECT_EQ(outcome_for(no), ClaimOutcome::late_no);
  EXPECT_EQ(words_for(no, "b"), "false-hit/b because/gone slow/b");
  EXPECT_EQ(outcome_for({Worth::unusable, FalseHit::stale, true}), ClaimOutcome::late_no);
  EXPECT_EQ(outcome_for({Worth::refused, {}, true}), ClaimOutcome::refused);
  EXPECT_EQ(outcome_for({Worth::other_range, {}, true}), ClaimOutcome::timed_out);
}

struct Told {
  Worth worth;
  std::optional<ClaimOutcome> books;
  const char* words;
};

TEST(Neighbour, IsNotedAndToldOfByItsWorth) {
  for (const Told& told :
       {Told{Worth::true_hit, ClaimOutcome::true_hit, ""}, Told{Worth::holds, std::nullopt, ""},
        Told{Worth::false_hit, ClaimOutcome::false_hit, "false-hit/b because/gone"},
        Told{Worth::unusable, ClaimOutcome::false_hit, "unusable/b"},
        Told{Worth::other_range, std::nullopt, "unusable/b"},
        Told{Worth::refused, ClaimOutcome::refused, "refused/b"},
        Told{Worth::refuses_us, ClaimOutcome::refuses_us, "refuses-us/b"},
        Told{Worth::not_a_proxy, std::nullopt, "not-a-proxy/b"},
        Told{Worth::slow, ClaimOutcome::timed_out, "slow/b"},
        Told{Worth::broken, ClaimOutcome::broken, "broken/b"},
        Told{Worth::cut, ClaimOutcome::broken, "cut/b"},
        Told{Worth::outrun, ClaimOutcome::outrun, "outrun/b"},
        Told{Worth::given_up, std::nullopt, ""}}) {
    EXPECT_EQ(outcome_for({told.worth}), told.books) << told.words;
    EXPECT_EQ(words_for({told.worth, FalseHit::gone}, "b"), told.words);
  }
  EXPECT_EQ(words_for({Worth::false_hit}, "b"), "false-hit/b");
}

// The objection to a 200 with these lines that arrives now.
std::optional<Finding> objected(const std::string& lines, cache::Storability storability,
                                const std::string& of_client = "") {
  cache::Budget budget(1 << 20);
  const policy::TextRequest request(of_client);
  const policy::TextAnswer answer(200, lines);
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  const cache::Times times{now, now};
  const cache::Received received{.url = "http://a.test/x",
                                 .request = (*request).head.fields,
                                 .response = answer.head,
                                 .times = times,
                                 .our_name = "us"};
  const auto entry = cache::Entry::make(budget, received);
  return objection(storability, *entry, answer.head, times, *request);
}

TEST(Neighbour, SendsWhatMayAnswerOrItIsObjectedTo) {
  using cache::Storability;
  const std::string fresh = "Cache-Control: max-age=60\r\n";
  EXPECT_EQ(objected(fresh, Storability::yes), std::nullopt);
  EXPECT_EQ(objected(fresh, Storability::private_), (Finding{Worth::unusable, FalseHit::unfit}));
  const auto cookie = fresh + "Set-Cookie: a=b\r\n";
  EXPECT_EQ(objected(cookie, Storability::yes), (Finding{Worth::unusable, FalseHit::unfit}));
  EXPECT_EQ(objected("Cache-Control: max-age=60, no-cache=\"set-cookie\"\r\nSet-Cookie: a=b\r\n",
                     Storability::yes),
            (Finding{Worth::unusable, FalseHit::unfit}));
  EXPECT_EQ(objected("Cache-Control: max-age=60\r\nAge: 61\r\n", Storability::yes),
            (Finding{Worth::unusable, FalseHit::stale}));
  EXPECT_EQ(objected(fresh + "Vary: Cookie\r\n", Storability::yes, "Cookie: a=b\r\n"),
            (Finding{Worth::unusable, FalseHit::variant}));
}

TEST(Neighbour, ThatHasClaimedNothingIsNotHeldToAClaim) {
  struct Case {
    Finding finding;
    std::optional<ClaimOutcome> at_once;
    std::optional<ClaimOutcome> after_waiting;  // for its own source
  };
  const Case cases[] = {
      {{Worth::true_hit}, ClaimOutcome::unclaimed_hit, ClaimOutcome::unclaimed_hit},
      {{Worth::false_hit, FalseHit::absent}, ClaimOutcome::unclaimed_no, std::nullopt},
      {{Worth::unusable, FalseHit::stale}, ClaimOutcome::unclaimed_no, std::nullopt},
      {{Worth::false_hit, FalseHit::absent, true}, ClaimOutcome::timed_out, std::nullopt},
      {{Worth::refused}, ClaimOutcome::refused, std::nullopt},
      {{Worth::slow}, ClaimOutcome::timed_out, std::nullopt},
      {{Worth::broken}, ClaimOutcome::broken, std::nullopt},
      {{Worth::cut}, ClaimOutcome::broken, std::nullopt},
      {{Worth::outrun}, ClaimOutcome::outrun, std::nullopt},
      {{Worth::given_up}, std::nullopt, std::nullopt},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(outcome_for(one.finding, Claiming::nothing), one.at_once) << word(one.finding.worth);
    EXPECT_EQ(outcome_for(one.finding, Claiming::waits), one.after_waiting)
        << word(one.finding.worth);
  }
}

TEST(Neighbour, NamesWhoFetchesWhatItDoesNot) {
  const auto named = [](const std::string& lines) {
    const policy::TextAnswer answer(504, lines);
    return fetcher_named_in(answer.head);
  };
  EXPECT_EQ(named("Cache-Status: b; fwd=uri-miss; detail=\"fetched-by/00000000000000ff\"\r\n"),
            255U);
  for (const char* detail : {"fetched-by/", "fetched-by/ff", "fetched-by/00000000000000ff gone",
                             "gone", "refused/fetched-by/00000000000000ff"}) {
    const auto line = "Cache-Status: b; detail=\"" + std::string(detail) + "\"\r\n";
    EXPECT_EQ(named(line), std::nullopt) << detail;
  }
  EXPECT_EQ(named(""), std::nullopt);
}

}  // namespace
}  // namespace proxy::sources
