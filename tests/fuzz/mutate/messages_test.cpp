#include "tests/fuzz/mutate/messages.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/fuzz/mutate/dictionary.hpp"
#include "tests/support/strict_reading.hpp"

namespace fuzz {
namespace {

const std::string kRequest =
    "POST http://192.0.2.7/a HTTP/1.1\r\nHost: 192.0.2.7\r\nCache-Control: no-cache\r\n"
    "Content-Length: 4\r\n\r\nbody";
const std::string kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n3\r\nghi\r\n0\r\n\r\n";

TEST(MessageMutator, ChangesTheSameForTheSameSeed) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(MessageMutator(seed).change(kRequest, 4096),
              MessageMutator(seed).change(kRequest, 4096));
  }
}

TEST(MessageMutator, ExceedsNoLimit) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    EXPECT_LE(MessageMutator(seed).change(kRequest, kRequest.size()).size(), kRequest.size());
    EXPECT_LE(MessageMutator(seed).cross(kRequest, kChunked, 50).size(), 50U);
    EXPECT_LE(MessageMutator(seed).change("", 0).size(), 0U);
  }
}

TEST(MessageMutator, LeavesManyMessagesThatParse) {
  int parsed = 0;
  std::set<std::string> different;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const auto changed = MessageMutator(seed).change(kRequest, 4096);
    different.insert(changed);
    if (support::strict::read_requests(changed).end != support::strict::End::malformed) ++parsed;
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(different.size(), 200U);
}

TEST(MessageMutator, SplitsAndJoinsChunksWithoutChangingTheBody) {
  int reframed = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const auto changed = MessageMutator(seed).change(kChunked, 4096);
    const auto chunks = chunks_in(changed).size();
    if (chunks == 2) continue;
    const auto answer = support::strict::read_answer(changed);
    if (answer.end != support::strict::End::whole) continue;
    EXPECT_EQ(answer.message.body, "abcdefghi") << changed;
    ++reframed;
  }
  EXPECT_GT(reframed, 20);
}

TEST(MessageMutator, LetsAnswersDescribeTheirBodyInOtherWays) {
  const std::string answer =
      "HTTP/1.1 200 OK\r\nETag: \"v0\"\r\nContent-Length: 9\r\n\r\nabcdefghi";
  int interim = 0;
  std::set<std::string> tags, ranges;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const auto changed = MessageMutator(seed).change(answer, 4096);
    interim += changed.starts_with("HTTP/1.1 103 Early Hints\r\n");
    const auto read = support::strict::read_answer(changed);
    for (const auto& [name, value] : read.message.fields) {
      if (name == "etag") tags.insert(value);
      if (name == "content-range") ranges.insert(value);
    }
  }
  EXPECT_GT(interim, 10);
  EXPECT_GT(tags.size(), 2U);
  EXPECT_GT(ranges.size(), 2U);
}

TEST(MessageMutator, CrossesFieldLinesOnly) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto crossed = MessageMutator(seed).cross(kRequest, kChunked, 4096);
    EXPECT_NE(crossed.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_TRUE(crossed.ends_with("\r\n\r\nbody"));
  }
}

TEST(FieldLines, OfTheDictionaryAreKnownAsFields) {
  int fields = 0;
  for (const auto line : field_lines()) fields += is_field(line);
  EXPECT_GT(fields, 100);
}

}  // namespace
}  // namespace fuzz
