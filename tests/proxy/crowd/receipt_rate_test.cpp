#include "proxy/crowd/receipt_rate.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;
using Met = ReceiptRate::Met;

TEST(ReceiptRate, OneByteNowAndThenDoesNotMeetIt) {
  ReceiptRate rate(100, 30s);
  EXPECT_EQ(rate.record(1, 29s), Met::yes) << "too early to tell";
  EXPECT_EQ(rate.record(1, 29s), Met::no);
  ReceiptRate slower(100, 30s);
  EXPECT_EQ(slower.record(1, 59s), Met::no);
}

TEST(ReceiptRate, IsAnAverageSoAClientMayPauseAndCatchUp) {
  ReceiptRate rate(100, 30s);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rate.record(4500, 0s), Met::yes);
    EXPECT_EQ(rate.record(1, 45s), Met::yes);
  }
}

TEST(ReceiptRate, ForgivesNothingForWhatCameLongAgo) {
  ReceiptRate rate(100, 30s);
  EXPECT_EQ(rate.record(1'000'000, 30s), Met::yes);
  EXPECT_EQ(rate.record(2999, 30s), Met::no);
}

TEST(ReceiptRate, OfZeroIsAlwaysMet) {
  ReceiptRate rate(0, 30s);
  EXPECT_EQ(rate.record(0, 1h), Met::yes);
}

}  // namespace
}  // namespace proxy::crowd
