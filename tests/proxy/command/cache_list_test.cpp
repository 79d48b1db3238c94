#include "proxy/command/cache.hpp"

#include "tests/proxy/command/cache_scene.hpp"

namespace proxy::command {
namespace {

class CacheList : public CacheScene {};

TEST_F(CacheList, TellsOfEachEntryInTheOrderOfTheLog) {
  store({response("http://a/1", std::string(2000, 'b'), "Cache-Control: max-age=9999\r\n",
                  std::chrono::hours(2)),
         response("http://a/2", "x", "Cache-Control: no-cache\r\n")});
  const Said told = said(&list, CacheOptions{});
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(told.out,
            "kind       size   age fresh claim  hits  URL\n"
            "whole   2.0 KiB    2h   46m   46m     ?  http://a/1\n"
            "whole       1 B    0s    0s    0s     ?  http://a/2\n");
  EXPECT_TRUE(contains(told.err, "2 entries, ")) << told.err;
}

TEST_F(CacheList, SaysItInJsonLines) {
  store({response("http://a/1", "12345")});
  const Json entry = json_of(said(&list, CacheOptions{.json = true}));
  EXPECT_EQ(entry.at("url"), "http://a/1");
  EXPECT_EQ(entry.at("kind"), "whole");
  EXPECT_EQ(entry.at("bytes"), 5);
  EXPECT_GT(entry.at("disk_bytes"), 5 + 80);
  EXPECT_EQ(entry.at("status"), 200);
  EXPECT_GT(entry.at("fresh_seconds"), 6900);
  EXPECT_GT(entry.at("claimable_seconds"), 6900);
  EXPECT_LT(entry.at("age_seconds"), 60);
  EXPECT_TRUE(entry.at("hits").is_null());
  EXPECT_EQ(entry.at("where"), "disk");
}

TEST_F(CacheList, TakesWhatBeginsSoInForwardAndReverseMode) {
  store({response("http://a/x/1"), response("http://a/y"), response("reverse:http://a/x/2")});
  const Said told = said(&list, CacheOptions{.prefix = "http://a/x"});
  EXPECT_EQ(lines_in(told.out), 3U);
  EXPECT_TRUE(contains(told.out, "  http://a/x/1\n")) << told.out;
  EXPECT_TRUE(contains(told.out, "  reverse:http://a/x/2\n")) << told.out;
}

TEST_F(CacheList, HasNothingForATerminalToActUpon) {
  store({response("http://a/\x1b[2J\nforged\x7f\xc2\x9b\\")});
  const Said told = said(&list, CacheOptions{});
  EXPECT_TRUE(contains(told.out, "  http://a/\\x1b[2J\\x0aforged\\x7f\\xc2\\x9b\\x5c\n"))
      << told.out;
  const Said json = said(&list, CacheOptions{.json = true});
  EXPECT_TRUE(contains(json.out, R"("http://a/\u001b[2J\nforged\u007f\u009b\\")")) << json.out;
}

TEST_F(CacheList, LeavesOutVariantsThatNothingLeadsTo) {
  store({selector("http://a/", 7), variant("http://a/", "found", 7),
         variant("http://a/", "lost....", 6)});
  const Said told = said(&list, CacheOptions{});
  EXPECT_EQ(lines_in(told.out), 2U) << told.out;
  EXPECT_TRUE(contains(told.out, "whole       5 B")) << told.out;
}

TEST_F(CacheList, TellsOfALargeObjectHowMuchIsHeld) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const std::string part = "http://a/part";
  const std::string all = "http://a/large";
  store({block(part, 3, 7), object(part, 3, 9 * kMiB), block(part, 3, 1), block(part, 2, 2),
         object(all, 4, 2 * kMiB), block(all, 4, 0), block(all, 4, 1)});
  const Said told = said(&list, CacheOptions{});
  EXPECT_EQ(lines_in(told.out), 3U) << told.out;
  EXPECT_TRUE(contains(told.out, "part    9.0 MiB")) << told.out;
  EXPECT_TRUE(contains(told.out, "large   2.0 MiB")) << told.out;
  const Json first = Json::parse(said(&list, CacheOptions{.prefix = part, .json = true}).out);
  EXPECT_EQ(first.at("bytes"), 9 * kMiB);
  EXPECT_EQ(first.at("held_bytes"), 2 * 10'240);
  EXPECT_GT(first.at("disk_bytes"), 2 * 10'240 + 3 * 80);
  EXPECT_EQ(first.at("claimable_seconds"), 0) << "not all is held";
}

TEST_F(CacheList, TellsUntilWhenAllOfALargeObjectIsClaimed) {
  const std::string url = "http://a/";
  store({block(url, 3, 0), block(url, 3, 1), object(url, 3, 2 << 20)});
  const Json told = Json::parse(said(&list, CacheOptions{.json = true}).out);
  EXPECT_GT(told.at("claimable_seconds"), 6900);
}

TEST_F(CacheList, GoesOnBehindADamagedRecord) {
  store({response("http://a/damaged"), response("http://a/good")});
  damage("http://a/damaged");
  const Said told = said(&list, CacheOptions{});
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(lines_in(told.out), 2U);
  EXPECT_TRUE(contains(told.err, "1 more cannot be read")) << told.err;
}

TEST_F(CacheList, SaysWhatToDoWhereItCannotLook) {
  const Said nothing = said(&list, CacheOptions{});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.err, "there is no cache")) << nothing.err;
  const cache::disk::Scene running(directory_.path());
  const Said used = said(&list, CacheOptions{});
  EXPECT_EQ(used.code, 2);
  EXPECT_TRUE(contains(used.err, "a port that the settings do not say")) << used.err;
}

}  // namespace
}  // namespace proxy::command
