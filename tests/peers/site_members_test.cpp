// Which of the Hearsays of a site owns a key, keeps it, or fetches it.
#include <gtest/gtest.h>

#include <map>

#include "peers/directory.hpp"
#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::key;
using samples::report_of;

const SteadyTime kJoined{1000s};

// Reports of Hearsays with the epochs 1, 2 and 3.
class SiteOfThree : public testing::Test {
 protected:
  SiteOfThree() {
    for (std::size_t id = 0; id < 3; ++id) directory_.update(id, report_of_member(id + 1));
  }
  static PollReport report_of_member(Epoch epoch, const std::vector<std::string>& held = {}) {
    auto report = report_of({}, kJoined);
    auto digest = samples::native_of({});
    for (const auto& name : held) digest.filter.insert(key(name));
    digest.epoch = epoch;
    report.claims = Claims(std::move(digest));
    return report;
  }
  // How often each of us owns a key: "" stands for us.
  std::map<std::string, int> owners(SteadyTime now = kJoined) const {
    std::map<std::string, int> owned;
    for (int i = 0; i < 400; ++i) {
      const auto owner = directory_.owner(key(std::to_string(i)), 4, now);
      ++owned[owner ? owner->name : ""];
    }
    return owned;
  }
  void answer(std::size_t id, ClaimOutcome outcome, std::chrono::microseconds first_byte) {
    directory_.record(directory_.peers()[id], {outcome, first_byte, 100}, kJoined);
  }

  const std::vector<config::PeerSettings> settings_{samples::peer("b"), samples::peer("c", 3129),
                                                    samples::peer("d", 3130)};
  PeerDirectory directory_{settings_};
};

TEST_F(SiteOfThree, OwnsEachKeyOnceWithOurShareOfThem) {
  const auto owned = owners();
  ASSERT_EQ(owned.size(), 4U);
  for (const auto& [name, count] : owned) EXPECT_NEAR(count, 100, 45) << name;
}

TEST_F(SiteOfThree, IsMadeOfThoseWhoMayBeAskedNow) {
  answer(0, ClaimOutcome::timed_out, 1s);  // it rests
  EXPECT_EQ(owners().count("b"), 0U);
  EXPECT_EQ(directory_.member(1, kJoined), nullptr);
  answer(1, ClaimOutcome::outrun, 1s);  // it is on trial
  EXPECT_EQ(owners().count("c"), 0U);
  EXPECT_EQ(directory_.member(3, kJoined), directory_.peers()[2]);
  EXPECT_EQ(directory_.member(5, kJoined), nullptr);
  EXPECT_EQ(owners(kJoined + 60s), (std::map<std::string, int>{{"", 400}})) << "too old digests";
}

TEST_F(SiteOfThree, HasANextOwnerOfEachKeyWithoutTheOnesGivenUp) {
  for (int i = 0; i < 400; ++i) {
    const auto name = std::to_string(i);
    const auto first = directory_.owner(key(name), 4, kJoined);
    if (!first) continue;
    const std::vector<Epoch> given_up{*directory_.epoch_of(first)};
    const auto next = directory_.owner(key(name), 4, kJoined, given_up);
    EXPECT_NE(next, first);
    const auto bid = next ? bid_for(key(name), *directory_.epoch_of(next)) : bid_for(key(name), 4);
    EXPECT_LT(bid, bid_for(key(name), given_up[0]));
  }
  const std::vector<Epoch> all{1, 2, 3};
  EXPECT_EQ(directory_.owner(key("x"), 4, kJoined, all), nullptr);
}

TEST_F(SiteOfThree, KnowsAMemberOnTrialThatMayBeFetching) {
  answer(1, ClaimOutcome::outrun, 1s);
  EXPECT_EQ(directory_.member(2, kJoined), directory_.peers()[1]);
  answer(0, ClaimOutcome::timed_out, 1s);
  EXPECT_EQ(directory_.epoch_of(directory_.peers()[0]), Epoch{1}) << "though it rests";
}

// All four hold the keys.
TEST_F(SiteOfThree, KeepsEachKeyWithTheOneOfItsHoldersWhoBidsMost) {
  std::vector<std::string> held;
  for (int i = 0; i < 400; ++i) held.push_back(std::to_string(i));
  for (std::size_t id = 0; id < 3; ++id) {
    directory_.update(id, report_of_member(id + 1, held));
    answer(id, ClaimOutcome::true_hit, 1ms);
  }
  int kept = 0;
  for (const auto& name : held) {
    const bool is_ours = !directory_.is_kept_elsewhere(key(name), 4, kJoined);
    kept += is_ours ? 1 : 0;
    EXPECT_EQ(is_ours, directory_.owner(key(name), 4, kJoined) == nullptr);
  }
  EXPECT_NEAR(kept, 100, 45);
  for (int i = 400; i < 800; ++i) {
    EXPECT_FALSE(directory_.is_kept_elsewhere(key(std::to_string(i)), 4, kJoined))
        << "only we hold it";
  }
}

TEST_F(SiteOfThree, KeepsNothingWithThoseWhoMayNotBeAsked) {
  std::string theirs;
  for (int i = 0; theirs.empty(); ++i) {
    const auto name = std::to_string(i);
    if (bid_for(key(name), 1) > bid_for(key(name), 4)) theirs = name;
  }
  const auto is_theirs = [&](SteadyTime now) {
    return directory_.is_kept_elsewhere(key(theirs), 4, now);
  };
  directory_.update(0, report_of_member(1, {theirs}));
  EXPECT_FALSE(is_theirs(kJoined)) << "it may be far away";
  answer(0, ClaimOutcome::true_hit, 1ms);
  EXPECT_TRUE(is_theirs(kJoined));
  EXPECT_FALSE(is_theirs(kJoined + 60s)) << "too old a digest";
  auto squid = report_of_member(1, {theirs});
  squid.claims.native = nullptr;
  directory_.update(0, squid);
  EXPECT_FALSE(is_theirs(kJoined)) << "no epoch";
  directory_.update(0, report_of_member(1, {theirs}));
  directory_.record_denial(directory_.peers()[0], key(theirs), kJoined);
  EXPECT_FALSE(is_theirs(kJoined)) << "denied";
  directory_.update(0, report_of_member(1, {theirs}));
  answer(0, ClaimOutcome::timed_out, 1s);
  EXPECT_FALSE(is_theirs(kJoined)) << "it rests";
}

TEST_F(SiteOfThree, HasNoSquidsAndNoGuests) {
  PeerDirectory guests(std::vector{[] {
    auto guest = samples::peer("b");
    guest.trust = config::Trust::guest;
    return guest;
  }()});
  guests.update(0, report_of_member(1));
  EXPECT_EQ(guests.member(1, kJoined), nullptr);
  auto squid = report_of({}, kJoined);
  squid.claims.native = nullptr;
  directory_.update(0, squid);
  EXPECT_EQ(owners().count("b"), 0U);
}

}  // namespace
}  // namespace peers
