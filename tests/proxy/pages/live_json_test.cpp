#include "proxy/pages/texts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

using nlohmann::json;
using Found = observe::RecentRequests::Found;

Found found(observe::Tag tag, std::uint64_t number, std::string url = "http://a.test/") {
  observe::RequestRecord record;
  record.tag = tag;
  record.status = 200;
  return {0, std::make_shared<observe::RecentRequest>(observe::RecentRequest{
                 .number = number,
                 .ended = std::chrono::system_clock::time_point(std::chrono::milliseconds(1500)),
                 .took = std::chrono::milliseconds(7),
                 .client = "192.0.2.7",
                 .method = "GET",
                 .url = std::move(url),
                 .record = record})};
}

std::vector<std::uint64_t> numbers(const std::vector<Found>& requests) {
  std::vector<std::uint64_t> all;
  for (const auto& one : requests) all.push_back(one.request->number);
  return all;
}

TEST(NewestOfEachKind, KeepsAFailureAmongManyOthers) {
  std::vector<Found> requests{found(observe::Tag::failed, 1)};
  for (std::uint64_t i = 2; i < 100; ++i) requests.push_back(found(observe::Tag::miss, i));
  requests.push_back(found(observe::Tag::mem_hit, 100));
  EXPECT_EQ(numbers(newest_of_each_kind(requests, 2)),
            (std::vector<std::uint64_t>{1, 98, 99, 100}));
}

TEST(RequestsJson, TellsTheFactsOfTheLog) {
  const auto told = json::parse(requests_json({found(observe::Tag::mem_hit, 3)}));
  EXPECT_EQ(told, (json{{{"id", "0-3"},
                         {"kind", "hit"},
                         {"time", 1.5},
                         {"took_ms", 7},
                         {"client", "192.0.2.7"},
                         {"neighbour", nullptr},
                         {"method", "GET"},
                         {"url", "http://a.test/"},
                         {"status", 200},
                         {"bytes", 0},
                         {"result", "TCP_MEM_HIT"},
                         {"verdict", "answered from memory"}}}));
}

TEST(RequestsJson, NamesTheNeighbourThatAsked) {
  observe::RecentRequest request = *found(observe::Tag::miss, 1).request;
  request.record.neighbour = "b";
  const Found one{0, std::make_shared<observe::RecentRequest>(std::move(request))};
  EXPECT_EQ(json::parse(requests_json({one})).at(0).at("neighbour"), "b");
}

TEST(RequestsJson, StaysJsonWithBytesThatAreNoText) {
  const auto told =
      json::parse(requests_json({found(observe::Tag::miss, 1, "http://a.test/\xff\"\n")}));
  EXPECT_EQ(told.at(0).at("url"), "http://a.test/\xEF\xBF\xBD\"\n");
}

TEST(NewsJson, IsOneLineForAServerSentEvent) {
  const Scene scene;
  const auto news = with_requests(news_json(scene.shared.pages, *scene.policy, Audience::admins),
                                  {found(observe::Tag::failed, 1, "a\nb")});
  EXPECT_EQ(news.find('\n'), std::string::npos);
  const auto told = json::parse(news);
  EXPECT_EQ(told.at("health").at("status"), "ok");
  EXPECT_EQ(told.at("digest").at("name"), "cache-a");
  EXPECT_EQ(told.at("requests").size(), 1U);
}

TEST(NewsJson, TellsOfAFailureBeforeManyMisses) {
  const Scene scene;
  std::vector<Found> requests{found(observe::Tag::failed, 1)};
  for (std::uint64_t i = 2; i < 102; ++i) requests.push_back(found(observe::Tag::miss, i));
  const auto told =
      json::parse(
          with_requests(news_json(scene.shared.pages, *scene.policy, Audience::admins), requests))
          .at("requests");
  ASSERT_EQ(told.size(), kMostNews + 1);
  EXPECT_EQ(told.front().at("kind"), "failed");
  EXPECT_EQ(told.back().at("id"), "0-101");
}

}  // namespace
}  // namespace proxy::pages
