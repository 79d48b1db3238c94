#include "proxy/command/cache_list.hpp"

#include "tests/proxy/command/cache_scene.hpp"

namespace proxy::command {
namespace {

class CacheList : public CacheScene {};

TEST_F(CacheList, TellsOfEachEntryInTheOrderOfTheLog) {
  store({response("http://a/1", std::string(2000, 'b'), "Cache-Control: max-age=9999\r\n",
                  std::chrono::hours(2)),
         response("http://a/2", "x", "Cache-Control: no-cache\r\n")});
  const Said told = said(&list, ListOptions{});
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(told.out,
            "kind       size   age fresh claim  URL\n"
            "whole   2.0 KiB    2h   46m   46m  http://a/1\n"
            "whole       1 B    0s    0s    0s  http://a/2\n");
  EXPECT_TRUE(contains(told.err, "2 entries, ")) << told.err;
}

TEST_F(CacheList, SaysItInJsonLines) {
  store({response("http://a/1", "12345")});
  const Json entry = json_of(said(&list, ListOptions{.json = true}));
  EXPECT_EQ(entry.at("url"), "http://a/1");
  EXPECT_EQ(entry.at("kind"), "whole");
  EXPECT_EQ(entry.at("bytes"), 5);
  EXPECT_GT(entry.at("disk_bytes"), 5 + 80);
  EXPECT_EQ(entry.at("status"), 200);
  EXPECT_GT(entry.at("fresh_seconds"), 6900);
  EXPECT_GT(entry.at("claimable_seconds"), 6900);
  EXPECT_LT(entry.at("age_seconds"), 60);
  EXPECT_TRUE(entry.at("hits").is_null());
}

TEST_F(CacheList, TakesWhatBeginsSoInForwardAndReverseMode) {
  store({response("http://a/x/1"), response("http://a/y"), response("reverse:http://a/x/2")});
  const Said told = said(&list, ListOptions{.prefix = "http://a/x"});
  EXPECT_EQ(lines_in(told.out), 3U);
  EXPECT_TRUE(contains(told.out, "  http://a/x/1\n")) << told.out;
  EXPECT_TRUE(contains(told.out, "  reverse:http://a/x/2\n")) << told.out;
}

TEST_F(CacheList, HasNothingForATerminalToActUpon) {
  store({response("http://a/\x1b[2J\nforged\x7f\xc2\x9b\\")});
  const Said told = said(&list, ListOptions{});
  EXPECT_TRUE(contains(told.out, "  http://a/\\x1b[2J\\x0aforged\\x7f\\xc2\\x9b\\x5c\n"))
      << told.out;
  const Said json = said(&list, ListOptions{.json = true});
  EXPECT_TRUE(contains(json.out, R"("http://a/\u001b[2J\nforged\u007f\u009b\\")")) << json.out;
}

TEST_F(CacheList, LeavesOutVariantsThatNothingLeadsTo) {
  const std::string vary = "Cache-Control: max-age=7000\r\nVary: Cookie\r\n";
  Record selector = response("http://a/");
  selector.header.kind = Kind::selector;
  selector.head = cache::encode(cache::Selector{7, "cookie"});
  selector.body = {};
  Record found = response("http://a/", "found", vary, {}, 7);
  found.header.key = cache::disk::key_for("a key of its own");
  Record lost = response("http://a/", "lost....", vary, {}, 6);
  lost.header.key = cache::disk::key_for("another");
  store({selector, found, lost});
  const Said told = said(&list, ListOptions{});
  EXPECT_EQ(lines_in(told.out), 2U) << told.out;
  EXPECT_TRUE(contains(told.out, "whole       5 B")) << told.out;
}

TEST_F(CacheList, CountsWhatIsHeldOfALargeObject) {
  Record object = response("http://a/large");
  object.header.kind = Kind::object;
  object.header.version = 3;
  object.body = {};
  const auto block = [&](std::uint32_t number, std::uint64_t version) {
    Record record = object;
    record.header.kind = Kind::block;
    record.header.version = version;
    record.header.block = number;
    record.body = cache::disk::body_of(std::string(10'240, 'x'));
    return record;
  };
  store({block(7, 3), object, block(1, 3), block(2, 2)});
  const Said told = said(&list, ListOptions{});
  EXPECT_EQ(lines_in(told.out), 2U) << told.out;
  EXPECT_TRUE(contains(told.out, "large    20 KiB")) << told.out;
}

TEST_F(CacheList, GoesOnBehindADamagedRecord) {
  store({response("http://a/damaged"), response("http://a/good")});
  damage("http://a/damaged");
  const Said told = said(&list, ListOptions{});
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(lines_in(told.out), 2U);
  EXPECT_TRUE(contains(told.err, "1 more cannot be read")) << told.err;
}

TEST_F(CacheList, SaysWhatToDoWhereItCannotLook) {
  const Said nothing = said(&list, ListOptions{});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_TRUE(contains(nothing.err, "there is no cache")) << nothing.err;
  const cache::disk::Scene running(directory_.path());
  const Said used = said(&list, ListOptions{});
  EXPECT_EQ(used.code, 2);
  EXPECT_TRUE(contains(used.err, "is using this cache; stop it first")) << used.err;
}

}  // namespace
}  // namespace proxy::command
