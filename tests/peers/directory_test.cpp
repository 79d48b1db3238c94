#include "peers/directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::key;
using samples::report_of;

const SteadyTime kNow{1000s};

config::PeerSettings peer_at(const char* name, const char* host) {
  config::PeerSettings peer = samples::peer(name);
  peer.host = host;
  return peer;
}

class DirectoryTest : public testing::Test {
 protected:
  std::vector<std::string> names(const char* of, SteadyTime now = kNow) const {
    std::vector<std::string> names;
    for (const PeerRef& peer : directory_.claimants(key(of), now)) names.push_back(peer->name);
    return names;
  }
  void answer(std::size_t id, ClaimOutcome outcome, std::chrono::microseconds first_byte) {
    directory_.record(directory_.peers()[id], {outcome, first_byte, 100}, kNow);
  }

  using Names = std::vector<std::string>;

  const std::vector<config::PeerSettings> settings_{
      peer_at("b", "127.0.0.2"), peer_at("c", "127.0.0.3"), peer_at("d", "127.0.0.4")};
  PeerDirectory directory_{settings_};
};

TEST_F(DirectoryTest, NamesNobodyWhileNobodyHasADigest) {
  EXPECT_EQ(names("x"), Names{});
}

TEST_F(DirectoryTest, NamesExactlyThoseWhoClaimTheKey) {
  directory_.update(0, report_of({"x", "y"}, kNow));
  directory_.update(2, report_of({"y"}, kNow));
  EXPECT_EQ(names("x"), Names{"b"});
  EXPECT_EQ(names("y"), (Names{"b", "d"}));
  EXPECT_EQ(names("z"), Names{});
}

TEST_F(DirectoryTest, TellsOfEachPeerWithoutCounting) {
  directory_.update(0, report_of({"x"}, kNow));
  directory_.update(1, report_of({"y"}, kNow));
  directory_.record_denial(directory_.peers()[0], key("x"), kNow + 1s);
  const auto all = directory_.claims_of(key("x"), kNow);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].claims, true);
  EXPECT_TRUE(all[0].denied);
  EXPECT_EQ(all[1].claims, false);
  EXPECT_FALSE(all[1].denied);
  EXPECT_EQ(all[2].claims, std::nullopt) << "it has no digest";
  EXPECT_EQ(directory_.peers()[0]->accuracy.books().claims, 0U);
  EXPECT_EQ(directory_.status(kNow)[0].lookups, 0U);
}

TEST_F(DirectoryTest, NamesThoseWhoClaimTheKeyByTheRule) {
  const auto x = key("x");
  const auto claiming_by_rule = [&](std::initializer_list<const char*> for_all) {
    auto report = report_of({}, kNow);
    auto digest = samples::native_of(for_all);
    digest.filter.insert(digest::under_rule(x, 7));
    report.claims = Claims(std::move(digest));
    return report;
  };
  directory_.update(0, report_of({"x"}, kNow));
  directory_.update(1, claiming_by_rule({}));
  directory_.update(2, claiming_by_rule({"x"}));
  const auto named = [&](digest::RuleMark rule) {
    Names all;
    for (const PeerRef& peer : directory_.claimants(x, kNow, rule)) all.push_back(peer->name);
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(named(0), (Names{"b", "d"}));
  EXPECT_EQ(named(7), (Names{"b", "c", "d"})) << "each once";
  EXPECT_EQ(named(8), (Names{"b", "d"}));
  EXPECT_EQ(directory_.other_than_claimants(x, kNow, 0, 7), nullptr);
  EXPECT_EQ(directory_.other_than_claimants(x, kNow, 0)->name, "c");
}

TEST_F(DirectoryTest, KeepsWhatIsKnownOfPeersThatStay) {
  directory_.update(1, report_of({"x"}, kNow));
  directory_.update(2, report_of({"x"}, kNow));
  EXPECT_EQ(names("x"), (Names{"c", "d"}));
  answer(1, ClaimOutcome::true_hit, 1ms);
  directory_.record_denial(directory_.peers()[2], key("x"), kNow);
  auto moved = peer_at("b", "127.0.0.9");
  auto weighted = settings_[1];
  weighted.weight = 7;
  const std::vector<config::PeerSettings> later{settings_[2], moved, weighted};
  const PeerDirectory after(later, &directory_);
  const auto all = after.status(kNow);
  EXPECT_EQ(all[2].name, "c");
  EXPECT_EQ(all[2].books.true_hits, 1U);
  EXPECT_EQ(all[2].lookups, 1U);
  EXPECT_EQ(all[2].state, PeerState::usable);
  EXPECT_EQ(after.peers()[2]->id, 2U);
  EXPECT_EQ(all[1].state, PeerState::waiting) << "another server";
  const auto claimants = after.claimants(key("x"), kNow);
  ASSERT_EQ(claimants.size(), 1U) << "d has denied it";
  EXPECT_EQ(claimants[0]->name, "c");
  directory_.record(directory_.peers()[1], {ClaimOutcome::true_hit, 1ms, 100}, kNow);
  EXPECT_EQ(after.status(kNow)[2].books.true_hits, 2U) << "of a request from before";
}

TEST_F(DirectoryTest, StopsCountingLookupsInADigestThatTheSettingsTurnOff) {
  directory_.update(0, report_of({"x"}, kNow));
  directory_.update(1, report_of({"x"}, kNow));
  names("x");
  auto changed = settings_;
  changed[0].digest = config::PeerDigest::none;
  const PeerDirectory after(changed, &directory_);
  EXPECT_EQ(after.claimants(key("x"), kNow).size(), 1U);
  EXPECT_EQ(after.status(kNow)[0].lookups, 1U);
  EXPECT_EQ(after.status(kNow)[1].lookups, 2U);
}

TEST_F(DirectoryTest, ANewDigestReplacesTheOldOne) {
  directory_.update(1, report_of({"x"}, kNow));
  directory_.update(1, report_of({"y"}, kNow));
  EXPECT_EQ(names("x"), Names{});
  EXPECT_EQ(names("y"), Names{"c"});
}

TEST_F(DirectoryTest, NamesClaimantsInTheOrderOfTheSettings) {
  for (const std::size_t id : {2, 0, 1}) directory_.update(id, report_of({"x"}, kNow));
  EXPECT_EQ(names("x"), (Names{"b", "c", "d"}));
}

TEST_F(DirectoryTest, LeavesOutWhoRests) {
  directory_.update(0, report_of({"x"}, kNow));
  directory_.update(1, report_of({"x"}, kNow));
  answer(0, ClaimOutcome::timed_out, 1s);
  EXPECT_EQ(names("x"), Names{"c"});
  EXPECT_EQ(names("x", kNow + 1s), (Names{"b", "c"}));
}

TEST_F(DirectoryTest, LeavesOutWhoHasDeniedTheKeyUntilItsDigestChanges) {
  const auto report = report_of({"x", "y"}, kNow);
  directory_.update(0, report);
  directory_.record_denial(directory_.peers()[0], key("x"), kNow);
  EXPECT_EQ(names("x"), Names{});
  EXPECT_EQ(names("y"), Names{"b"});
  directory_.update(0, report);
  EXPECT_EQ(names("x"), Names{}) << "the same digest";
  directory_.update(0, report_of({"x", "y"}, kNow + 1s));
  EXPECT_EQ(names("x"), Names{"b"});
  directory_.record_denial(directory_.peers()[0], key("x"), kNow);
  EXPECT_EQ(names("x"), Names{"b"}) << "the question was about the digest before";
}

TEST_F(DirectoryTest, LeavesOutWhoseDigestIsTooOld) {
  directory_.update(0, report_of({"x"}, kNow));
  EXPECT_EQ(names("x", kNow + 59s), Names{"b"});
  EXPECT_EQ(names("x", kNow + 60s), Names{});
}

TEST_F(DirectoryTest, CountsTheLookupsOfADigestInUseAndNoOthers) {
  const auto lookups = [&](std::size_t id) { return directory_.status(kNow)[id].lookups; };
  names("x");
  directory_.update(0, report_of({"x"}, kNow));
  names("x");
  directory_.update(0, report_of({"y"}, kNow));
  names("y");
  directory_.update(1, report_of({"x"}, kNow));
  names("z");
  EXPECT_EQ(lookups(0), 3U);
  EXPECT_EQ(lookups(1), 1U);
  answer(0, ClaimOutcome::timed_out, 1s);
  directory_.record_use(kNow);
  names("x");
  EXPECT_EQ(lookups(0), 3U) << "it rests";
  EXPECT_EQ(lookups(1), 2U);
  directory_.record_use(kNow + 1s);
  names("x", kNow + 1s);
  EXPECT_EQ(lookups(0), 4U);
  directory_.record_use(kNow + 60s);
  names("x", kNow + 60s);
  EXPECT_EQ(lookups(0), 4U) << "too old";
  directory_.update(1, PollReport{});
  names("x");
  EXPECT_EQ(lookups(1), 3U) << "given up";
  EXPECT_EQ(lookups(2), 0U);
}

TEST_F(DirectoryTest, ObservesHowOftenWhatIsNotHeldIsClaimed) {
  EXPECT_EQ(directory_.status(kNow)[0].observed_false_positive_rate, std::nullopt);
  directory_.update(0, report_of({"x"}, kNow));
  names("x");
  directory_.record(directory_.peers()[0], {ClaimOutcome::true_hit, {}, 0}, kNow);
  EXPECT_EQ(directory_.status(kNow)[0].observed_false_positive_rate, std::nullopt);
  for (int i = 0; i < 3; ++i) names(("absent" + std::to_string(i)).c_str());
  EXPECT_EQ(directory_.status(kNow)[0].observed_false_positive_rate, 0.0);
  for (const FalseHit cause : {FalseHit::absent, FalseHit::gone, FalseHit::stale}) {
    names("x");
    directory_.record(directory_.peers()[0], {ClaimOutcome::false_hit, {}, 0, cause}, kNow);
  }
  EXPECT_EQ(directory_.status(kNow)[0].observed_false_positive_rate, 0.25);
}

TEST_F(DirectoryTest, RateOfFalseMissesIsThatOfTheProbes) {
  const auto rate = [&] { return directory_.status(kNow)[0].false_miss_rate; };
  EXPECT_EQ(rate(), std::nullopt);
  for (int i = 0; i < 4; ++i) directory_.peers()[0]->accuracy.probed();
  directory_.peers()[0]->accuracy.missed();
  EXPECT_EQ(rate(), 0.25);
}

TEST(PeerDirectory, TellsAPeerByItsAddressUnlessTwoHaveIt) {
  const std::vector settings{peer_at("b", "127.0.0.2"), peer_at("c", "localhost"),
                             peer_at("d", "127.0.0.1"), peer_at("e", "127.0.0.1")};
  PeerDirectory directory(settings);
  const auto at = [&](const char* text) { return directory.at(*config::parse_address(text)); };
  EXPECT_EQ(at("127.0.0.2"), directory.peers()[0]);
  EXPECT_EQ(at("127.0.0.1"), nullptr) << "two have it";
  EXPECT_TRUE(directory.knows(*config::parse_address("127.0.0.1")));
  EXPECT_EQ(at("127.0.0.3"), nullptr);
  EXPECT_FALSE(directory.knows(*config::parse_address("127.0.0.3")));

  PollReport report = report_of({}, kNow);
  report.address = config::parse_address("127.0.0.3");
  EXPECT_EQ(directory.status(kNow)[1].bytes_sent, std::nullopt) << "never reached";
  directory.update(1, report);
  EXPECT_EQ(at("127.0.0.3"), directory.peers()[1]);
  EXPECT_EQ(directory.status(kNow)[1].bytes_sent, 0U);
  EXPECT_EQ(directory.status(kNow)[2].bytes_sent, std::nullopt) << "two have its address";
}

TEST_F(DirectoryTest, ChoosesAmongThoseWhoDoNotClaimTheKey) {
  EXPECT_EQ(directory_.other_than_claimants(key("x"), kNow, 7), nullptr);
  directory_.update(0, report_of({"y"}, kNow));
  directory_.update(1, report_of({"x"}, kNow));
  directory_.update(2, report_of({}, kNow));
  EXPECT_EQ(directory_.other_than_claimants(key("x"), kNow, 6)->name, "b");
  EXPECT_EQ(directory_.other_than_claimants(key("x"), kNow, 7)->name, "d");
  answer(2, ClaimOutcome::timed_out, 1s);
  EXPECT_EQ(directory_.other_than_claimants(key("x"), kNow, 7)->name, "b") << "the other rests";
  EXPECT_EQ(directory_.other_than_claimants(key("x"), kNow + 60s, 7), nullptr) << "too old";
  EXPECT_EQ(directory_.status(kNow)[0].books.claims + directory_.status(kNow)[0].lookups, 0U);
}

TEST_F(DirectoryTest, StatusTellsWhatIsKnownAndNothingElse) {
  PollReport report = report_of({"x", "y"}, kNow);
  report.generation = 7;
  report.polls.made = 4;
  report.polls.failed = 1;
  report.polls.bytes_received = 5000;
  directory_.peers()[1]->accuracy.sent_digest(70);
  directory_.update(1, report);
  names("x");
  answer(1, ClaimOutcome::true_hit, 2500us);
  const auto status = directory_.status(kNow + 2s);
  ASSERT_EQ(status.size(), 3U);
  const PeerStatus& known = status[1];
  EXPECT_EQ(known.name, "c");
  EXPECT_EQ(known.url, "http://127.0.0.1:3128");
  EXPECT_EQ(known.kind, PeerKind::hearsay);
  EXPECT_EQ(known.state, PeerState::usable);
  EXPECT_EQ(known.digest.entries, 2U);
  EXPECT_EQ(known.digest.generation, 7U);
  EXPECT_EQ(known.digest.age_seconds, 2.0);
  EXPECT_GT(known.digest.false_positive_rate, 0.0);
  EXPECT_EQ(known.books.claims, 1U);
  EXPECT_EQ(known.books.true_hits, 1U);
  EXPECT_EQ(known.books.bytes_saved, 100U);
  EXPECT_EQ(known.books.first_byte, 2500us);
  EXPECT_EQ(known.polls.made, 4U);
  EXPECT_EQ(known.polls.failed, 1U);
  EXPECT_EQ(known.polls.bytes_received, 5000U);
  EXPECT_EQ(known.bytes_sent, 70U);

  const PeerStatus& unknown = status[0];
  EXPECT_EQ(unknown.state, PeerState::waiting);
  EXPECT_EQ(unknown.digest.entries, std::nullopt);
  EXPECT_EQ(unknown.digest.generation, std::nullopt);
  EXPECT_EQ(unknown.digest.age_seconds, std::nullopt);
  EXPECT_EQ(unknown.digest.false_positive_rate, std::nullopt);
  EXPECT_EQ(unknown.books.first_byte, std::nullopt);
}

}  // namespace
}  // namespace peers
