#include "peers/reply.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;
using samples::digest_of;
using samples::key;

const Time kNow{1000s};
const Question kPlain{.known = Kind::unknown, .conditional = false, .room = 1 << 20};

Reply reply_with(const digest::SquidDigest& digest) {
  Reply reply;
  reply.status = 200;
  reply.server = "Hearsay/0.1.0";
  reply.etag = "\"00ff-17\"";
  reply.body = *digest::encode(digest);
  return reply;
}

TEST(Judge, TakesAGoodDigest) {
  const Verdict verdict = judge(kPlain, reply_with(digest_of({"a"})));
  EXPECT_EQ(verdict.outcome, Polled::fetched);
  EXPECT_EQ(verdict.kind, Kind::hearsay);
  EXPECT_EQ(*verdict.digest, digest_of({"a"}));
  EXPECT_EQ(verdict.etag, "\"00ff-17\"");
  EXPECT_EQ(verdict.generation, 17U);
  EXPECT_EQ(verdict.error, "");
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
    Reply reply = reply_with(digest_of({"a"}));
    c.spoil(reply.body);
    const Verdict verdict = judge(kPlain, reply);
    EXPECT_EQ(verdict.outcome, Polled::failed);
    EXPECT_EQ(verdict.digest, nullptr);
    EXPECT_TRUE(verdict.error.starts_with("bad digest: ")) << verdict.error;
  }
}

TEST(Judge, RefusesAMaskThatTheRoomDoesNotHold) {
  const Reply reply = reply_with(digest_of({"a"}));
  Question question = kPlain;
  question.room = reply.body.size() - digest::kSquidControlBytes;
  EXPECT_EQ(judge(question, reply).outcome, Polled::fetched);
  --question.room;
  EXPECT_EQ(judge(question, reply).error, kTooLarge);
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
    Reply reply = reply_with(digest_of({"a"}));
    reply.status = c.status;
    reply.server = c.server;
    Question question = kPlain;
    question.conditional = c.conditional;
    const Verdict verdict = judge(question, reply);
    EXPECT_EQ(verdict.outcome, c.expected) << c.status << c.server;
    EXPECT_EQ(verdict.error.empty(), c.expected == Polled::unchanged) << c.status << c.server;
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
    Reply reply = reply_with(digest_of({"a"}));
    reply.etag = c.etag;
    const Verdict verdict = judge(kPlain, reply);
    EXPECT_EQ(verdict.etag, c.kept ? c.etag : "");
    EXPECT_EQ(verdict.generation, c.generation) << c.etag;
  }
  Reply squid = reply_with(digest_of({"a"}));
  squid.server = "squid/5.7";
  EXPECT_EQ(judge(kPlain, squid).etag, "");
}

TEST(Enter, KeepsTheOldDigestThroughFailuresUntilItIsTooOld) {
  Report report;
  enter(report, judge(kPlain, reply_with(digest_of({"a"}))), kNow);
  EXPECT_TRUE(report.counts(kNow + 59s));
  enter(report, no_reply({.known = Kind::hearsay}, "no connection"), kNow + 59s);
  EXPECT_TRUE(report.digest->filter.contains(key("a")));
  EXPECT_EQ(report.last_error, "no connection");
  EXPECT_EQ(report.failures_in_a_row, 1U);
  EXPECT_FALSE(report.counts(kNow + 60s));
  enter(report, no_reply({.known = Kind::hearsay}, "no connection"), kNow + 60s);
  EXPECT_EQ(report.digest, nullptr);
  EXPECT_EQ(report.etag, "");
  EXPECT_EQ(report.polls, 3U);
  EXPECT_EQ(report.polls_failed, 2U);
}

TEST(Enter, AGoodPollConfirmsAndForgivesFailures) {
  Report report;
  enter(report, judge(kPlain, reply_with(digest_of({"a"}))), kNow);
  enter(report, no_reply({.known = Kind::hearsay}, "no connection"), kNow + 30s);
  Reply unchanged;
  unchanged.status = 304;
  enter(report, judge({.known = Kind::hearsay, .conditional = true}, unchanged), kNow + 50s);
  EXPECT_TRUE(report.counts(kNow + 109s));
  EXPECT_EQ(report.confirmed, kNow + 50s);
  EXPECT_EQ(report.generation, 17U);
  EXPECT_EQ(report.failures_in_a_row, 0U);
  EXPECT_EQ(report.last_error, "");
}

}  // namespace
}  // namespace peers
