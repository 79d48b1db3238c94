// What the dashboard reads: the history, the latest requests, and the news of each second.
#include <gtest/gtest.h>

#include <deque>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

// A client that watches.
struct Watcher {
  explicit Watcher(const ProxyProcess& proxy, std::uint8_t from = 1) : client(proxy.port(), from) {
    client.send(origin_form_text(proxy.address(), "GET", "/hearsay/events"));
    response = client.read_head();
  }

  // The next news.
  json next() {
    constexpr std::string_view kBegin = "data: ";
    for (;;) {
      std::string line;
      while (!line.ends_with("\n\n")) {
        const auto byte = client.read_body(1);
        if (byte.empty()) return nullptr;
        line += byte;
      }
      if (line.starts_with(kBegin)) return json::parse(line.substr(kBegin.size()));
    }
  }

  Client client;
  Response response;
};

json page(const ProxyProcess& proxy, std::string_view path) {
  return json::parse(proxy.page(path).body);
}

std::uint64_t sum(const json& numbers) {
  std::uint64_t all = 0;
  for (const auto& number : numbers) all += number.get<std::uint64_t>();
  return all;
}

TEST(Dashboard, RemembersWhatHappened) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  const auto history = [&] { return page(scene.proxy, "/hearsay/history?span=hour"); };
  ASSERT_TRUE(await([&] { return !history().at("requests").empty(); }));
  for (int i = 0; i < 3; ++i) scene.client.get(scene.origin.url("/a"));
  ASSERT_TRUE(await([&] { return sum(history().at("requests")) == 3; }));
  const auto told = history();
  EXPECT_EQ(sum(told.at("hits")), 2U);
  EXPECT_EQ(sum(told.at("cache_bytes")), 10U);
  EXPECT_EQ(sum(told.at("origin_bytes")), 5U);
  EXPECT_EQ(sum(told.at("failed")), 0U);
  EXPECT_EQ(told.at("step_seconds"), 1);
}

TEST(Dashboard, TellsWhatBecameOfARequestInWords) {
  PeerScene scene({"/right", "/wrong"});
  scene.peer.on("/right", cacheable("from the peer"));
  scene.peer.on("/wrong", Reply(504));
  const auto verdict_for = [&](const std::string& path) {
    scene.get(path);
    std::string verdict;
    EXPECT_TRUE(await([&] {
      for (const auto& request : page(*scene.proxy, "/hearsay/requests")) {
        if (request.at("url") == scene.origin.url(path)) verdict = request.at("verdict");
      }
      return !verdict.empty();
    }));
    return verdict;
  };
  EXPECT_TRUE(verdict_for("/right").starts_with(
      "asked b: its digest claimed this; it was right; stored for "));
  EXPECT_TRUE(verdict_for("/wrong").starts_with("asked b: its digest claimed this; it was wrong"));
  EXPECT_TRUE(verdict_for("/other").starts_with("fetched from the origin: nobody claimed it;"));
  scene.given_on("/other");
  EXPECT_TRUE(await([&] {
    const auto requests = page(*scene.proxy, "/hearsay/requests");
    const auto& newest = requests.back();
    return newest.at("neighbour") == "b" && newest.at("url") == scene.origin.url("/other");
  }));
}

TEST(Dashboard, TellsTheNewsEachSecond) {
  PeerScene scene({"/a"});
  Watcher watcher(*scene.proxy);
  EXPECT_EQ(watcher.response.status, 200);
  EXPECT_EQ(watcher.response.field("Content-Type"), "text/event-stream");
  const auto first = watcher.next();
  scene.get("/b");
  const auto is_told = [&](const json& news) {
    const auto& requests = news.at("requests");
    return std::any_of(requests.begin(), requests.end(), [&](const json& request) {
      return request.at("url") == scene.origin.url("/b");
    });
  };
  auto news = watcher.next();
  for (int i = 0; i < 5 && !is_told(news); ++i) news = watcher.next();
  EXPECT_TRUE(is_told(news));
  EXPECT_GT(news.at("end"), first.at("end"));
  EXPECT_EQ(news.at("health").at("status"), "ok");
  EXPECT_EQ(news.at("digest").at("peers").at(0).at("name"), "b");
  EXPECT_EQ(news.at("now").at("watchers"), 1);
  for (const auto* series : {"requests", "hits", "failed", "refused", "sent_bytes", "cache_bytes",
                             "neighbour_bytes", "origin_bytes"}) {
    EXPECT_TRUE(news.at("sample").at(series).is_number_unsigned()) << series;
  }
}

// `from`: the last byte of the client's address.
TEST(Dashboard, HasRoomForTwoWatchersOfAnAddressAndForOthersOnceOneLeaves) {
  json settings;
  settings["access"]["admin"] = {"127.0.0.1"};
  const ProxyProcess proxy(settings);
  std::deque<Watcher> watchers;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(watchers.emplace_back(proxy, 2).response.status, 200);
  EXPECT_EQ(Watcher(proxy, 2).response.status, 503);
  EXPECT_EQ(Watcher(proxy, 3).response.status, 200);
  watchers.pop_front();
  EXPECT_TRUE(await([&] { return Watcher(proxy, 2).response.status == 200; }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(watchers.emplace_back(proxy).response.status, 200);
}

TEST(Dashboard, HasRoomForSixteenWatchersOfWhomOneIsAnAdmin) {
  json settings;
  settings["access"]["admin"] = {"127.0.0.1"};
  const ProxyProcess proxy(settings);
  std::deque<Watcher> watchers;
  for (std::uint8_t from = 2; from < 17; ++from) {
    EXPECT_EQ(watchers.emplace_back(proxy, from).response.status, 200);
  }
  EXPECT_EQ(Watcher(proxy, 17).response.status, 503);
  EXPECT_EQ(watchers.emplace_back(proxy).response.status, 200) << "the admin's place";
  EXPECT_EQ(Watcher(proxy).response.status, 503);
  watchers.pop_front();
  EXPECT_TRUE(await([&] { return Watcher(proxy, 17).response.status == 200; }));
}

TEST(Dashboard, LetsTheProxyEndWhileSomebodyWatches) {
  ProxyProcess proxy;
  Watcher watcher(proxy);
  watcher.next();
  const auto asked = std::chrono::steady_clock::now();
  EXPECT_EQ(proxy.terminate(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, support::allowed(std::chrono::seconds(6)))
      << "else it waits for all of timeouts.drain";
  while (!watcher.next().is_null()) {
  }
}

TEST(Dashboard, SumsTheContentsByHostAndListsTheLargest) {
  Scene scene;
  scene.origin.on("/a", cacheable("0123456789"));
  scene.origin.on("/Large", cacheable(std::string(1000, 'x')));
  for (const char* path : {"/a", "/a", "/Large"}) scene.client.get(scene.origin.url(path));
  const auto lines = [&](std::string_view query) {
    std::vector<json> all;
    std::istringstream text(
        scene.proxy.page("/admin/cache/sums" + std::string(query), kOnPurpose).body);
    for (std::string line; std::getline(text, line);) all.push_back(json::parse(line));
    return all;
  };
  const auto all = lines("");
  ASSERT_EQ(all.size(), 4U);
  const auto host = "127.0.0.1:" + std::to_string(scene.origin.port());
  EXPECT_EQ(all[0], (json{{"host", host}, {"entries", 2}, {"bytes", 1010}, {"hits", 1}}));
  EXPECT_EQ(all[1].at("url"), scene.origin.url("/Large"));
  EXPECT_EQ(all[2].at("url"), scene.origin.url("/a"));
  EXPECT_EQ(all[3], (json{{"hosts", 1}, {"entries", 2}, {"bytes", 1010}, {"hits", 1}}));
  EXPECT_EQ(lines("?contains=large").back().at("entries"), 1) << "in any case";
  EXPECT_EQ(lines("?contains=nothing").size(), 1U);
}

}  // namespace
}  // namespace scenario
