#include "proxy/inspect/live.hpp"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "tests/proxy/cache/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::inspect {
namespace {

using cache::entry_of;
using cache::key_of;
using cache::Stock;
using nlohmann::json;

class LiveCache : public ::testing::Test {
 protected:
  LiveCache() { EXPECT_TRUE(disk_.start()); }
  ~LiveCache() override { (void)disk_.stop(); }

  static Stock stock(const std::string& url, std::uint32_t body = 10) {
    Stock stock;
    stock.url = url;
    stock.body = body;
    return stock;
  }
  void keep(const Stock& stock, bool on_disk = true) {
    const auto response = cache::kept(entry_of(budget_, stock));
    const auto key = key_of(stock.url);
    ASSERT_EQ(memory_.put(key, response, cache::kStart), cache::Stored::yes);
    const auto good = [] { return true; };
    EXPECT_TRUE(!on_disk || disk_.put(key, response, {}, good));
    ASSERT_TRUE(disk_.disk().queue().settle(std::chrono::seconds(20)));
  }
  void find(const std::string& url) {
    (void)memory_.find(key_of(url), url, cache::Request().head.fields);
  }
  std::vector<json> lines(std::unique_ptr<SlicedWalk> slices) {
    std::string text;
    machine::Clock clock(cache::kStart + std::chrono::seconds(40));
    while (slices->next(clock, text)) {
    }
    std::vector<json> all;
    for (std::istringstream in(text); std::getline(in, text);) all.push_back(json::parse(text));
    return all;
  }
  std::vector<json> listed(const std::string& prefix = "") {
    return lines(list_live(live_, prefix));
  }
  void flip(std::string_view what) const {
    const auto path = directory_ / "00000001.segment";
    std::string bytes = support::read_file(path);
    bytes[bytes.find(what)] ^= 1;
    support::write_file(path, bytes);
  }

  const support::TemporaryDirectory directory_;
  cache::Budget budget_{4 << 20};
  machine::Clock clock_;
  cache::DiskTier disk_{budget_,
                        clock_,
                        {directory_.path(), std::uint64_t{4} << 20, 256 * 1024},
                        cache::disk::PurgeRules::as_prefix,
                        digest::unpredictable()};
  cache::Store memory_{budget_, {}, &disk_.disk().catalog().index};
  const Live live_{memory_, &disk_};
};

TEST_F(LiveCache, IsListedOnceWhereverItLies) {
  keep(stock("http://a/both"));
  keep(stock("http://a/memory", 20), false);
  keep(stock("reverse:http://a/disk"));
  memory_.remove(key_of("reverse:http://a/disk"));
  for (int i = 0; i < 3; ++i) find("http://a/both");
  find("http://a/memory");
  const auto all = listed();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].at("url"), "http://a/memory");
  EXPECT_EQ(all[0].at("where"), "memory");
  EXPECT_EQ(all[0].at("hits"), 1);
  EXPECT_EQ(all[0].at("bytes"), 20);
  EXPECT_EQ(all[0].at("disk_bytes"), 0);
  EXPECT_EQ(all[1].at("url"), "http://a/both");
  EXPECT_EQ(all[1].at("where"), "memory and disk");
  EXPECT_EQ(all[1].at("hits"), 3);
  EXPECT_EQ(all[1].at("age_seconds"), 40);
  EXPECT_EQ(all[1].at("fresh_seconds"), 60);
  EXPECT_EQ(all[2].at("url"), "reverse:http://a/disk");
  EXPECT_EQ(all[2].at("where"), "disk");
  EXPECT_EQ(listed("http://a/d").size(), 1U);
  EXPECT_EQ(listed("http://a/c").size(), 0U);
}

TEST_F(LiveCache, KeepsItsHitsWhenMemoryHasNoMoreRoomForIt) {
  keep(stock("http://a/"));
  for (int i = 0; i < 3; ++i) find("http://a/");
  std::vector<cache::Ref<cache::Block>> much;
  while (memory_.entries() > 0) {
    much.push_back(cache::Block::make(budget_, 1 << 20));
    memory_.make_room();
  }
  EXPECT_EQ(listed().at(0).at("hits"), 3);
  EXPECT_EQ(listed().at(0).at("where"), "disk");
  EXPECT_TRUE(disk_.disk().find(key_of("http://a/"), "http://a/"));
  EXPECT_EQ(listed().at(0).at("hits"), 4) << "found on the disk";
}

TEST_F(LiveCache, IsListedByVariants) {
  for (const char* cookie : {"1", "2"}) {
    Stock variant = stock("http://a/");
    variant.lines += "Vary: Cookie\r\n";
    variant.request = std::string("Cookie: ") + cookie + "\r\n";
    keep(variant);
  }
  const auto all = listed();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].at("where"), "memory and disk");
  const auto shown = lines(show_live(live_, "http://a/"));
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown[0].at("selects_by"), "cookie");
  EXPECT_EQ(shown[2].at("for_cookie"), "2");
  EXPECT_EQ(shown[2].at("reachable"), true);
}

TEST_F(LiveCache, ShowsWhatMemoryAloneHolds) {
  keep(stock("http://a/"), false);
  find("http://a/");
  const auto shown = lines(show_live(live_, "http://a/"));
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].at("where"), "memory");
  EXPECT_EQ(shown[0].at("hits"), 1);
  EXPECT_TRUE(shown[0].at("head").get<std::string>().find("max-age=100") != std::string::npos);
  EXPECT_TRUE(lines(show_live(live_, "http://a/b")).empty());
}

TEST_F(LiveCache, DropsWhatVerifyingFindsDamaged) {
  for (const char* url : {"http://a/good", "http://a/damaged"}) keep(stock(url));
  flip("http://a/damaged");
  std::size_t told = 0;
  const auto said = lines(verify_live(disk_, [&told](const auto&) { ++told; }));
  EXPECT_EQ(told, 1U);
  EXPECT_GT(said.front().at("expected_bytes"), 0);
  EXPECT_EQ(said.back().at("good_records"), 1);
  EXPECT_EQ(said.back().at("damaged_places"), 1);
  EXPECT_EQ(said.at(said.size() - 2).at("what"), "the checksum of a record's head does not fit");
  EXPECT_FALSE(disk_.may_have(key_of("http://a/damaged")));
}

TEST_F(LiveCache, SumsByHostAndListsTheLargestOfBothTiersOnce) {
  keep(stock("http://a.test/1", 2));
  keep(stock("http://a.test/Two", 4));
  keep(stock("http://b.test:81/", 1), false);
  find("http://a.test/1");
  const auto sums = lines(sum_live(live_, ""));
  ASSERT_EQ(sums.size(), 6U);
  EXPECT_EQ(sums[0], (json{{"host", "a.test"}, {"entries", 2}, {"bytes", 6}, {"hits", 1}}));
  EXPECT_EQ(sums[1], (json{{"host", "b.test:81"}, {"entries", 1}, {"bytes", 1}, {"hits", 0}}));
  EXPECT_EQ(sums[2].at("url"), "http://a.test/Two");
  EXPECT_EQ(sums[4].at("url"), "http://b.test:81/");
  EXPECT_EQ(sums[5], (json{{"hosts", 2}, {"entries", 3}, {"bytes", 7}, {"hits", 1}}));
  EXPECT_EQ(lines(sum_live(live_, "TWO")).back().at("entries"), 1) << "in any case of letters";
}

TEST_F(LiveCache, SumsTheRestBeyondTheTwoHundredHostsThatTakeMost) {
  for (int i = 0; i < 203; ++i) {
    keep(stock("http://" + std::to_string(i) + ".test/", i < 3 ? 1 : 2), false);
  }
  const auto sums = lines(sum_live(live_, ""));
  EXPECT_EQ(sums.size(), 200U + 1 + 200 + 1);
  EXPECT_EQ(sums[200], (json{{"other_hosts", 3}, {"entries", 3}, {"bytes", 3}, {"hits", 0}}));
  EXPECT_EQ(sums.back().at("hosts"), 203);
}

TEST_F(LiveCache, DoesWithoutADisk) {
  keep(stock("http://a/"), false);
  const Live memory_alone{memory_, nullptr};
  EXPECT_EQ(lines(list_live(memory_alone, "")).size(), 1U);
  EXPECT_EQ(lines(show_live(memory_alone, "http://a/")).size(), 1U);
}

}  // namespace
}  // namespace proxy::inspect
