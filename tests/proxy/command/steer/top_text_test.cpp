#include "proxy/command/steer/top_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace proxy::command {
namespace {

using namespace std::chrono_literals;

const Samples kBefore(
    "hearsay_requests_total{result=\"hit\"} 100\n"
    "hearsay_requests_total{result=\"own_page\"} 1000\n"
    "hearsay_body_bytes_total{source=\"cache\"} 0\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"0.001\"} 10\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"0.01\"} 10\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"+Inf\"} 10\n");
const Samples kAfter(
    "hearsay_requests_total{result=\"hit\"} 150\n"
    "hearsay_requests_total{result=\"disk_hit\"} 10\n"
    "hearsay_requests_total{result=\"miss\"} 20\n"
    "hearsay_requests_total{result=\"own_page\"} 2000\n"
    "hearsay_body_bytes_total{source=\"cache\"} 3072\n"
    "hearsay_body_bytes_total{source=\"sibling\"} 512\n"
    "hearsay_body_bytes_total{source=\"parent\"} 256\n"
    "hearsay_body_bytes_total{source=\"origin\"} 256\n"
    "hearsay_sent_bytes_total 8192\n"
    "hearsay_connections 12\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"0.001\"} 20\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"0.01\"} 50\n"
    "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"+Inf\"} 50\n"
    "hearsay_peer_true_hits_total{peer=\"b\"} 2\n"
    "hearsay_peer_true_hits_total{peer=\"c\"} 8\n"
    "hearsay_peer_saved_bytes_total{peer=\"c\"} 512\n");

TEST(Rates, AreWhatGrewBetweenTwoLooks) {
  const auto rates = rates_between(kBefore, kAfter, 2s);
  EXPECT_EQ(rates.requests, 40) << "without those for our own pages";
  EXPECT_EQ(rates.hits, 0.75);
  EXPECT_EQ(rates.byte_hits, 0.75);
  EXPECT_EQ(rates.to_clients, 4096);
  EXPECT_EQ(rates.from_neighbours, 256);
  EXPECT_EQ(rates.from_origins, 256);
  EXPECT_EQ(rates.median, 0.01);
  ASSERT_EQ(rates.peers.size(), 2U);
  EXPECT_EQ(rates.peers[0].name, "c") << "the busiest first";
  EXPECT_EQ(rates.peers[0].true_hits, 4);
  EXPECT_EQ(rates.peers[0].saved, 256);
}

TEST(Rates, HaveNoMedianWhereHalfOfTheTimesAreBeyondTheBuckets) {
  const Samples after(
      "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"10\"} 1\n"
      "hearsay_request_first_byte_seconds_bucket{outcome=\"hit\",le=\"+Inf\"} 4\n");
  const auto rates = rates_between(Samples(""), after, 1s);
  EXPECT_FALSE(rates.median);
  EXPECT_EQ(top_text(rates).find("inf"), std::string::npos);
}

TEST(Rates, AreUnknownAndNotZeroWhereNothingHappened) {
  const auto rates = rates_between(kAfter, kAfter, 1s);
  EXPECT_EQ(rates.requests, 0);
  EXPECT_FALSE(rates.hits);
  EXPECT_FALSE(rates.byte_hits);
  EXPECT_FALSE(rates.median);
  EXPECT_NE(top_text(rates).find("hits                             -\n"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(top_json(rates)).at("hit_ratio").is_null());
}

TEST(Rates, OfAProxyThatWasRestartedAreNotNegative) {
  const auto rates = rates_between(kAfter, kBefore, 1s);
  EXPECT_EQ(rates.requests, 0);
  EXPECT_EQ(rates.to_clients, 0);
}

TEST(Rates, LeaveOutWhatWasSentToTheOneWhoLooks) {
  EXPECT_EQ(rates_between(kBefore, kAfter, 1s, 192).to_clients, 8000);
  EXPECT_EQ(rates_between(kBefore, kAfter, 1s, 10'000).to_clients, 0);
}

TEST(TopText, SaysTimesInTheirUnit) {
  for (const auto& [seconds, text] : std::initializer_list<std::pair<double, std::string_view>>{
           {0.0005, "<= 0.5 ms\n"}, {0.25, "<= 250 ms\n"}, {1, "<= 1 s\n"}, {10, "<= 10 s\n"}}) {
    Rates rates;
    rates.median = seconds;
    EXPECT_NE(top_text(rates).find(text), std::string::npos) << top_text(rates);
  }
}

TEST(TopText, FitsAPhone) {
  const auto text = top_text(rates_between(kBefore, kAfter, 1ms));
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    EXPECT_LE(end - at, 38U) << text.substr(at, end - at);
    at = end + 1;
  }
}

}  // namespace
}  // namespace proxy::command
