#include "proxy/command/cache.hpp"

#include "tests/proxy/command/cache_scene.hpp"

namespace proxy::command {
namespace {

class CacheShow : public CacheScene {};

TEST_F(CacheShow, TellsWhatTheRecordSaysAndTheHead) {
  store({response("http://a/other"), response("http://a/x", "12345")});
  const Said told = said(&show, CacheOptions{.url = "HTTP://A:80/x#part"});
  EXPECT_EQ(told.code, 0) << told.err;
  for (const std::string line :
       {"stored as               http://a/x\n", "record                  whole\n",
        "segment                 00000001.segment\n", "body bytes              5\n",
        "head checksum           good\n", "body checksum           good\n",
        "status                  200\n", "lifetime seconds        7,000\n", "  HTTP/1.1 200 X\n",
        "  Cache-Control: max-age=7000\n"}) {
    EXPECT_TRUE(contains(told.out, line)) << line << told.out;
  }
  EXPECT_FALSE(contains(told.out, "other"));
}

TEST_F(CacheShow, SaysItInJsonLines) {
  store({response("http://a/x"), response("reverse:http://a/x", "1234567")});
  const Said told = said(&show, CacheOptions{.url = "http://a/x", .json = true});
  ASSERT_EQ(lines_in(told.out), 2U);
  const Json second = Json::parse(told.out.substr(told.out.find('\n')));
  EXPECT_EQ(second.at("stored_as"), "reverse:http://a/x");
  EXPECT_EQ(second.at("body_bytes"), 7);
  EXPECT_EQ(second.at("version"), 0);
  EXPECT_TRUE(contains(second.at("head").get<std::string>(), "max-age=7000"));
}

TEST_F(CacheShow, TellsOfWhichRequestsAVariantIs) {
  NewRecord variant =
      response("http://a/", "", "Cache-Control: max-age=7000\r\nVary: Cookie\r\n", {}, 7,
               "Cookie: \xc2\x9b"
               "2J\r\n");
  store({variant});
  const Said told = said(&show, CacheOptions{.url = "http://a/"});
  EXPECT_TRUE(contains(told.out, "for cookie              \\xc2\\x9b2J\n")) << told.out;
  EXPECT_TRUE(contains(told.out, "reachable               no\n")) << told.out;
}

TEST_F(CacheShow, HasNothingForATerminalToActUpon) {
  store({response("http://a/", "",
                  "Cache-Control: max-age=7000\r\nX: \xc2\x9b"
                  "2J\r\n")});
  const Said told = said(&show, CacheOptions{.url = "http://a/"});
  EXPECT_TRUE(contains(told.out, "  X: \\xc2\\x9b2J\n")) << told.out;
}

TEST_F(CacheShow, TellsWhichBlocksOfALargeObjectAreHeld) {
  const std::string url = "http://a/";
  store({object(url, 3, (9 << 20) + 1), block(url, 3, 9), block(url, 3, 2), block(url, 3, 0),
         block(url, 3, 1), block(url, 2, 5)});
  const Said told = said(&show, CacheOptions{.url = url});
  for (const std::string line :
       {"record                  large\n", "blocks                  10\n",
        "blocks held             0-2, 9\n", "bytes held              40,960\n",
        "status                  200\n"}) {
    EXPECT_TRUE(contains(told.out, line)) << line << told.out;
  }
  EXPECT_FALSE(contains(told.out, "block\n")) << told.out;
}

TEST_F(CacheShow, SaysThatABodyIsDamaged) {
  store({response("http://a/", "the body")});
  damage("the body");
  EXPECT_EQ(
      json_of(said(&show, CacheOptions{.url = "http://a/", .json = true})).at("body_checksum"),
      "damaged: a checksum does not fit");
}

TEST_F(CacheShow, EndsAsGrepDoes) {
  store({response("http://a/")});
  const Said none = said(&show, CacheOptions{.url = "http://a/x"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out + none.err, "");
  const Said wrong = said(&show, CacheOptions{.url = "a\x1b"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "\"a?\" is no URL")) << wrong.err;
}

}  // namespace
}  // namespace proxy::command
