#include "proxy/command/steering.hpp"

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

TEST(Samples, AreReadByNameAndLabels) {
  const Samples samples(
      "# HELP a Blanks and more.\n# TYPE a counter\n"
      "a 7\na{x=\"1\"} 2\na{x=\"with a blank\"} 3\nab 100\nb 1.5e3\nno number\nd x\n\ne 4");
  EXPECT_EQ(samples.find("a"), 7);
  EXPECT_EQ(samples.find("a{x=\"with a blank\"}"), 3);
  EXPECT_EQ(samples.sum("a"), 12) << "ab is another metric";
  EXPECT_EQ(samples.find("b"), 1500);
  EXPECT_EQ(samples.find("e"), 4) << "the last line may end without";
  EXPECT_FALSE(samples.find("d"));
  EXPECT_FALSE(samples.find("# HELP a Blanks and"));
  EXPECT_EQ(samples.get("nothing"), 0);
}

struct Labelled {
  const char* labels;
  const char* name;
  std::optional<std::string> value;
};
class Label : public testing::TestWithParam<Labelled> {};

TEST_P(Label, IsFoundByItsWholeName) {
  EXPECT_EQ(label(GetParam().labels, GetParam().name), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Labels, Label,
    testing::Values(Labelled{"le=\"0.1\"} 7", "le", "0.1"},
                    Labelled{"role=\"x\",le=\"+Inf\"}", "le", "+Inf"},
                    Labelled{"role=\"x\"}", "le", std::nullopt},
                    Labelled{"peer=\"a \\\"b\\\" \\\\\"}", "peer", "a \"b\" \\"},
                    Labelled{"peer=\"", "peer", ""}, Labelled{"", "peer", std::nullopt}));

}  // namespace
}  // namespace proxy::command
