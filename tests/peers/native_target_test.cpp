#include "peers/native_target.hpp"

#include <gtest/gtest.h>

#include "peers/publisher.hpp"

namespace peers {
namespace {

TEST(NativeTarget, SaysWhatIsHeld) {
  const digest::NativeDigest held{
      .epoch = 0xab, .generation = 17, .filter = *digest::BloomFilter::create({8, 1})};
  EXPECT_EQ(native_target(&held), "/digest/native?epoch=00000000000000ab&since=17");
  EXPECT_EQ(native_base(native_target(&held)), (NativeBase{0xab, 17}));
  EXPECT_EQ(native_target(nullptr), "/digest/native");
}

TEST(NativeTarget, SaysNothingUnlessItSaysItWell) {
  for (const char* target :
       {"", "/digest/native", "/digest/native?", "?epoch=ab", "?since=1", "?epoch=&since=1",
        "?epoch=ab&since=", "?epoch=xy&since=1", "?epoch=ab&since=-1", "?epoch=ab&since=1x",
        "?epoch=12345678901234567&since=1", "?epoch=a&since=99999999999999999999",
        "?epoch=zz&epoch=ab&since=1", "?&&=&"}) {
    EXPECT_EQ(native_base(target), NativeBase{}) << target;
  }
  EXPECT_EQ(native_base("?since=2&x=y&epoch=ab&epoch=cd"), (NativeBase{0xab, 2}));
}

TEST(NativeTarget, SaysHowLongItsAnswerMayWait) {
  using namespace std::chrono_literals;
  const digest::NativeDigest held{
      .epoch = 0xab, .generation = 17, .filter = *digest::BloomFilter::create({8, 1})};
  const std::string target = native_target(&held, 5s);
  EXPECT_EQ(target, "/digest/native?epoch=00000000000000ab&since=17&wait=5000");
  EXPECT_EQ(native_base(target), (NativeBase{0xab, 17})) << "also by a Hearsay without held polls";
  EXPECT_EQ(hold_asked(target), 5s);
  EXPECT_EQ(native_target(nullptr, 5s), "/digest/native") << "whoever holds nothing does not wait";
}

TEST(NativeTarget, NeverAsksForAnEndlessWait) {
  using namespace std::chrono_literals;
  for (const char* target : {"", "/digest/native", "?wait=", "?wait=-1", "?wait=1x", "?wait=x",
                             "?wait=99999999999999999999", "?epoch=ab&since=1"}) {
    EXPECT_EQ(hold_asked(target), 0ms) << target;
  }
  EXPECT_EQ(hold_asked("?wait=30001"), kLongestHold);
  EXPECT_EQ(hold_asked("?wait=18446744073709551615"), kLongestHold);
}

TEST(NativeEtag, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_native_etag(native_etag(0xAB, 12)), (NativeBase{0xAB, 12}));
  for (const char* text :
       {"", "\"", "\"\"", "\"-\"", "00000000000000ab-12", "\"00000000000000ab\"", "\"ab-12\"",
        "\"00000000000000ab-\"", "\"00000000000000ab-x\"", "W/\"00000000000000ab-12\"",
        "\"00000000000000ab-99999999999999999999\"", "\"00000000000000ab-12", "a-b-c"}) {
    EXPECT_EQ(parse_native_etag(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace peers
