#include "peers/poll.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::body_of;
using samples::delta_of;
using samples::digest_of;
using samples::key;
using samples::native_of;

const SteadyTime kNow{1000s};
PollRequest asking(DigestForm form) {
  PollRequest request;
  request.form = form;
  request.room = 1 << 20;
  return request;
}

const PollRequest kPlain = asking(DigestForm::squid);

PollRequest of_a_hearsay(bool conditional) {
  PollRequest request = asking(DigestForm::native);
  request.known = PeerKind::hearsay;
  request.conditional = conditional;
  return request;
}

PollResponse native_response(const std::string& body) {
  PollResponse response;
  response.status = 200;
  response.server = "Hearsay/0.1.0";
  response.via = "1.1 b";
  response.etag = "\"00000000000000ab-5\"";
  response.body.assign(body.begin(), body.end());
  return response;
}

PollResponse response_with(const digest::SquidDigest& digest) {
  PollResponse response;
  response.status = 200;
  response.server = "Hearsay/0.1.0";
  response.via = "1.1 b";
  response.etag = "\"00ff-17\"";
  response.body = *digest::encode(digest);
  return response;
}

TEST(Judge, TakesAGoodDigest) {
  const PollResult result = read_poll(kPlain, response_with(digest_of({"a"})));
  EXPECT_EQ(result.outcome, Polled::fetched);
  EXPECT_EQ(result.kind, PeerKind::hearsay);
  EXPECT_EQ(*result.claims.filter, digest_of({"a"}).filter);
  EXPECT_EQ(result.claims.entries, 1U);
  EXPECT_EQ(result.etag, "\"00ff-17\"");
  EXPECT_EQ(result.generation, 17U);
  EXPECT_EQ(result.error, "");
}

TEST(Judge, SaysOfOneThatNamesNobodyThatNothingCanProveItsAnswers) {
  PollResponse response = response_with(digest_of({"a"}));
  response.via.clear();
  const PollResult result = read_poll(kPlain, response);
  EXPECT_EQ(result.outcome, Polled::fetched);
  EXPECT_EQ(result.error, kNamesNobody);
  response.x_cache = "MISS from squid-a.test";
  EXPECT_EQ(read_poll(kPlain, response).error, "");
  response.x_cache.clear();
  response.epochs = "00000000000000ab";
  EXPECT_EQ(read_poll(kPlain, response).error, "");
}

TEST(Judge, LearnsNothingOfAHearsaysFormsFromThePageOfAServerThatHasItsAddress) {
  auto request = of_a_hearsay(false);
  request.form_is_a_guess = true;
  PollResponse page = native_response("<html>");
  page.via.clear();
  page.server = "nginx";
  EXPECT_EQ(read_poll(request, page).outcome, Polled::failed);
  page.server = "squid/5.7";
  EXPECT_EQ(read_poll(request, page).outcome, Polled::other_form);
}

TEST(Enter, APollForTheOtherFormIsNoSuccess) {
  PollReport report;
  enter(report, no_response(kPlain, "no connection"), kNow);
  PollResult guess = no_response(kPlain, "");
  guess.outcome = Polled::other_form;
  enter(report, guess, kNow + 1s);
  EXPECT_EQ(report.failures_in_a_row, 1U);
}

TEST(Judge, RefusesAHostileBodyAndSaysWhy) {
  struct Case {
    void (*spoil)(std::vector<std::uint8_t>&);
  };
  for (const Case& c :
       {Case{[](auto& body) { body.clear(); }}, Case{[](auto& body) { body.resize(127); }},
        Case{[](auto& body) { body.pop_back(); }}, Case{[](auto& body) { body.push_back(0); }},
        Case{[](auto& body) { body[19] += 1; }}, Case{[](auto& body) { body[21] = 8; }},
        Case{[](auto& body) { std::fill(body.begin() + 128, body.end(), 0xff); }}}) {
    PollResponse response = response_with(digest_of({"a"}));
    c.spoil(response.body);
    const PollResult result = read_poll(kPlain, response);
    EXPECT_EQ(result.outcome, Polled::failed);
    EXPECT_EQ(result.claims.filter, nullptr);
    EXPECT_TRUE(result.error.starts_with("bad digest: ")) << result.error;
  }
}

TEST(Judge, RefusesAMaskThatTheRoomDoesNotHold) {
  const PollResponse response = response_with(digest_of({"a"}));
  PollRequest request = kPlain;
  request.room = response.body.size() - digest::kSquidControlBytes;
  EXPECT_EQ(read_poll(request, response).outcome, Polled::fetched);
  --request.room;
  EXPECT_EQ(read_poll(request, response).error, kTooLarge);
}

TEST(Judge, ReadsTheStatusByTheKindOfPeer) {
  struct Case {
    long status;
    const char* server;
    bool conditional;
    Polled expected;
  };
  for (const Case& c : {Case{304, "Hearsay/0.1.0", true, Polled::unchanged},
                        Case{304, "Hearsay/0.1.0", false, Polled::failed},
                        Case{404, "squid/5.7", false, Polled::building},
                        Case{404, "Hearsay/0.1.0", false, Polled::failed},
                        Case{403, "squid/5.7", false, Polled::failed},
                        Case{302, "squid/5.7", false, Polled::failed},
                        Case{206, "squid/5.7", false, Polled::failed}}) {
    PollResponse response = response_with(digest_of({"a"}));
    response.status = c.status;
    response.server = c.server;
    PollRequest request = kPlain;
    request.conditional = c.conditional;
    const PollResult result = read_poll(request, response);
    EXPECT_EQ(result.outcome, c.expected) << c.status << c.server;
    EXPECT_EQ(result.error.empty(), c.expected == Polled::unchanged) << c.status << c.server;
  }
}

TEST(Judge, KeepsOnlyAHearsaysWellFormedStrongEtag) {
  struct Case {
    std::string etag;
    bool kept;
    std::optional<std::uint64_t> generation;
  };
  for (const Case& c : {Case{"\"ab-1\"", true, 1}, Case{"\"ab\"", true, std::nullopt},
                        Case{"\"ab-1x\"", true, std::nullopt}, Case{"\"ab-\"", true, std::nullopt},
                        Case{"\"a-99999999999999999999\"", true, std::nullopt},
                        Case{"W/\"ab-1\"", false, std::nullopt}, Case{"ab-1", false, std::nullopt},
                        Case{"\"", false, std::nullopt}, Case{"\"a\"b\"", false, std::nullopt},
                        Case{"\"a b\"", false, std::nullopt}, Case{"", false, std::nullopt},
                        Case{'"' + std::string(63, 'a') + '"', false, std::nullopt}}) {
    PollResponse response = response_with(digest_of({"a"}));
    response.etag = c.etag;
    const PollResult result = read_poll(kPlain, response);
    EXPECT_EQ(result.etag, c.kept ? c.etag : "");
    EXPECT_EQ(result.generation, c.generation) << c.etag;
  }
  PollResponse squid = response_with(digest_of({"a"}));
  squid.server = "squid/5.7";
  EXPECT_EQ(read_poll(kPlain, squid).etag, "");
}

TEST(Judge, TakesANativeDigestAndWhatChangedInIt) {
  const PollResult whole =
      read_poll(asking(DigestForm::native), native_response(body_of(native_of({"a"}))));
  EXPECT_EQ(whole.outcome, Polled::fetched);
  EXPECT_EQ(whole.kind, PeerKind::hearsay);
  EXPECT_EQ(whole.generation, 5U);
  EXPECT_EQ(whole.etag, "\"00000000000000ab-5\"");
  EXPECT_EQ(*whole.claims.native, native_of({"a"}));
  PollRequest request = asking(DigestForm::native);
  request.base = whole.claims.native;
  const auto next = native_of({"a", "b"}, 9);
  const PollResult changed = read_poll(request, native_response(delta_of(native_of({"a"}), next)));
  EXPECT_EQ(changed.outcome, Polled::fetched);
  EXPECT_EQ(*changed.claims.native, next);
  EXPECT_TRUE(changed.claims.filter->contains(key("b")));
}

TEST(Judge, AsksForAllWhereADeltaDoesNotFitWhatIsHeld) {
  PollRequest request = asking(DigestForm::native);
  request.base = std::make_shared<const digest::NativeDigest>(native_of({"z"}));
  const auto next = native_of({"a", "b"}, 9);
  const auto delta = native_response(delta_of(native_of({"a"}), next));
  EXPECT_EQ(read_poll(request, delta).outcome, Polled::resync);
  EXPECT_NE(read_poll(request, delta).error, "");
  const auto other = native_response(delta_of(native_of({"a"}, 6), next));
  EXPECT_EQ(read_poll(request, other).outcome, Polled::resync);
  EXPECT_EQ(read_poll(asking(DigestForm::native), other).outcome, Polled::failed)
      << "all was asked for";
}

TEST(Judge, TriesTheOtherFormWhereOursIsNotGiven) {
  struct Case {
    long status;
    const char* server;
    Polled if_a_guess;
  };
  for (const Case& c :
       {Case{404, "", Polled::other_form}, Case{404, "Hearsay/0.1.0", Polled::other_form},
        Case{400, "squid/5.7", Polled::other_form}, Case{500, "nginx", Polled::other_form},
        Case{200, "nginx", Polled::other_form}, Case{503, "Hearsay/0.1.0", Polled::failed},
        Case{403, "Hearsay/0.1.0", Polled::failed}}) {
    PollResponse response = native_response("<html>");
    response.status = c.status;
    response.server = c.server;
    PollRequest request = asking(DigestForm::native);
    EXPECT_NE(read_poll(request, response).outcome, Polled::other_form) << c.status << c.server;
    request.form_is_a_guess = true;
    EXPECT_EQ(read_poll(request, response).outcome, c.if_a_guess) << c.status << c.server;
    request.form = DigestForm::squid;
    EXPECT_NE(read_poll(request, response).outcome, Polled::other_form) << c.status << c.server;
  }
}

TEST(Judge, RefusesANativeDigestThatTheRoomDoesNotHold) {
  PollRequest request = asking(DigestForm::native);
  request.room = 1499;
  const auto response = native_response(body_of(native_of({"a"})));
  EXPECT_EQ(read_poll(request, response).error, kTooLarge);
  request.room = 1500;
  EXPECT_EQ(read_poll(request, response).outcome, Polled::fetched);
}

// The header of a digest that is empty, or says so, and has this many bits. Nothing follows it.
std::string bare(std::uint64_t bits, std::uint64_t entries, std::uint64_t bits_set) {
  const auto shape = native_of({}).filter.shape();
  digest::NativeHead head{.shape = shape,
                          .epoch = 0xab,
                          .generation = 5,
                          .capacity = 1,
                          .entries = entries,
                          .bits_set = bits_set};
  head.shape.bits = bits;
  head.checksum = digest::checksum_of(std::vector<std::uint8_t>(head.shape.byte_count()));
  const auto message = digest::encode_delta(head, 0, {});
  return {message.begin(), message.end()};
}

TEST(Judge, RefusesANativeDigestThatIsLargeWithoutEntries) {
  PollRequest request = asking(DigestForm::native);
  request.room = 64 << 20;
  const auto outcome = [&](const std::string& body) {
    EXPECT_EQ(body.size(), digest::kNativeHeaderBytes);
    return read_poll(request, native_response(body));
  };
  constexpr std::uint64_t kLarge = std::uint64_t{8} << 23;
  EXPECT_EQ(outcome(bare(kSmallDigest, 0, 0)).outcome, Polled::fetched);
  for (const auto& body : {bare(kLarge, 0, 0), bare(kLarge, kLarge, 0), bare(kLarge, 0, kLarge)}) {
    const PollResult result = outcome(body);
    EXPECT_EQ(result.outcome, Polled::failed);
    EXPECT_EQ(result.claims.filter, nullptr);
    EXPECT_NE(result.error, "");
  }
}

// The most bits per entry that can be set, for the least share of the capacity at which a digest is
// not rebuilt.
TEST(Judge, TakesTheLargestNativeDigestThatIsOurs) {
  PollRequest request = asking(DigestForm::native);
  request.room = 64 << 20;
  for (const std::uint64_t entries : {0, 1, 341, 20'000}) {
    const std::uint64_t capacity = std::max<std::uint64_t>(1024, 3 * entries);
    auto digest = native_of({}, 5, capacity);
    auto shape = digest.filter.shape();
    shape.bits = 127 * capacity;
    digest.filter = *digest::BloomFilter::create(shape);
    for (std::uint64_t i = 0; i < entries; ++i) digest.filter.insert(key(std::to_string(i)));
    digest.entries = entries;
    digest.checksum = digest::checksum_of(digest.filter.bytes());
    const auto response = native_response(body_of(digest));
    EXPECT_EQ(read_poll(request, response).outcome, Polled::fetched) << entries;
  }
}

TEST(Enter, GivesWayUntilTheNextGoodPoll) {
  PollReport report;
  enter(report, read_poll(kPlain, response_with(digest_of({"a"}))), kNow);
  give_way(report);
  EXPECT_FALSE(report.counts(kNow));
  EXPECT_EQ(report.etag, "");
  EXPECT_EQ(report.generation, std::nullopt);
  EXPECT_NE(report.last_error.find("peer_memory"), std::string::npos);
  enter(report, read_poll(kPlain, response_with(digest_of({"a"}))), kNow + 1s);
  EXPECT_TRUE(report.counts(kNow + 1s));
  EXPECT_EQ(report.last_error, "");
}

TEST(Enter, CountsAResyncAndGoesOnWithWhatItHas) {
  PollReport report;
  enter(report, read_poll(asking(DigestForm::native), native_response(body_of(native_of({"a"})))),
        kNow);
  PollResult resync;
  resync.outcome = Polled::resync;
  enter(report, resync, kNow + 1s);
  EXPECT_EQ(report.polls.resyncs, 1U);
  EXPECT_EQ(report.claims.native, nullptr);
  EXPECT_EQ(report.etag, "");
  EXPECT_TRUE(report.counts(kNow + 1s));
  EXPECT_TRUE(report.claims.filter->contains(key("a")));
  EXPECT_EQ(report.polls.failed, 0U);
}

TEST(Enter, KeepsTheOldDigestThroughFailuresUntilItIsTooOld) {
  PollReport report;
  enter(report, read_poll(kPlain, response_with(digest_of({"a"}))), kNow);
  EXPECT_TRUE(report.counts(kNow + 59s));
  enter(report, no_response(of_a_hearsay(false), "no connection"), kNow + 59s);
  EXPECT_TRUE(report.claims.filter->contains(key("a")));
  EXPECT_EQ(report.last_error, "no connection");
  EXPECT_EQ(report.failures_in_a_row, 1U);
  EXPECT_FALSE(report.counts(kNow + 60s));
  enter(report, no_response(of_a_hearsay(false), "no connection"), kNow + 60s);
  EXPECT_EQ(report.claims.filter, nullptr);
  EXPECT_EQ(report.etag, "");
  EXPECT_EQ(report.polls.made, 3U);
  EXPECT_EQ(report.polls.failed, 2U);
}

TEST(Enter, AGoodPollConfirmsAndForgivesFailures) {
  PollReport report;
  enter(report, read_poll(kPlain, response_with(digest_of({"a"}))), kNow);
  enter(report, no_response(of_a_hearsay(false), "no connection"), kNow + 30s);
  PollResponse unchanged;
  unchanged.via = "1.1 b";
  unchanged.status = 304;
  enter(report, read_poll(of_a_hearsay(true), unchanged), kNow + 50s);
  EXPECT_TRUE(report.counts(kNow + 109s));
  EXPECT_EQ(report.confirmed, kNow + 50s);
  EXPECT_EQ(report.generation, 17U);
  EXPECT_EQ(report.failures_in_a_row, 0U);
  EXPECT_EQ(report.last_error, "");
}

}  // namespace
}  // namespace peers
