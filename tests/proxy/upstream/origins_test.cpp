#include "proxy/upstream/route.hpp"

#include <gtest/gtest.h>

namespace proxy::upstream {
namespace {

using std::chrono::seconds;

const Origins::Clock::time_point kFirst{seconds(1'000)};

std::vector<Endpoint> three() {
  return {{false, "a", 80}, {false, "b", 80}, {true, "c", 443}};
}

// The server that a new request asks first.
std::size_t first(Origins& origins, Origins::Clock::time_point now) {
  Origins::Tried none;
  return origins.next(none, now).value();
}

TEST(Origins, AreAskedInOrderAndEachOnce) {
  Origins origins(three());
  Origins::Tried tried;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(origins.next(tried, kFirst), i);
  EXPECT_EQ(origins.next(tried, kFirst), std::nullopt);
  EXPECT_EQ(origins[2].host, "c");
}

TEST(Origins, RestWhenTheyHaveFailed) {
  Origins origins(three());
  origins.failed(0, kFirst);
  EXPECT_EQ(first(origins, kFirst), 1U);
  EXPECT_EQ(first(origins, kFirst + Origins::kRest - seconds(1)), 1U);
  origins.worked(0, kFirst);
  EXPECT_EQ(first(origins, kFirst), 0U);
}

TEST(Origins, AreTriedByOneRequestWhenTheyHaveRested) {
  Origins origins(three());
  origins.failed(0, kFirst);
  const auto rested = kFirst + Origins::kRest;
  EXPECT_EQ(first(origins, rested), 0U);
  EXPECT_EQ(first(origins, rested), 1U) << "until that one has been answered";
  EXPECT_EQ(first(origins, rested + Origins::kRest), 0U) << "or was given up";
}

TEST(Origins, AreAskedAllTheSameWhenAllRest) {
  Origins origins(three());
  for (const std::size_t i : {1, 0, 2}) origins.failed(i, kFirst + seconds(i == 1 ? 0 : 1));
  Origins::Tried tried;
  EXPECT_EQ(origins.next(tried, kFirst + seconds(1)), 1U) << "it has rested longest";
  EXPECT_EQ(origins.next(tried, kFirst + seconds(1)), 0U);
  EXPECT_EQ(origins.next(tried, kFirst + seconds(1)), 2U);
}

TEST(Origins, AreNotTakenForDeadForOneSlowAnswer) {
  Origins origins(three());
  const auto asked = kFirst;
  const auto given_up = kFirst + seconds(60);
  origins.worked(0, asked + seconds(1));
  origins.silent_since(asked, 0, given_up);
  EXPECT_EQ(first(origins, given_up), 0U) << "it has answered others meanwhile";
  origins.silent_since(asked + seconds(2), 0, given_up);
  EXPECT_EQ(first(origins, given_up), 1U);
}

}  // namespace
}  // namespace proxy::upstream
