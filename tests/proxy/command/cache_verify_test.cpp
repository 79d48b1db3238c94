#include "proxy/command/cache.hpp"

#include "tests/proxy/command/cache_scene.hpp"

namespace proxy::command {
namespace {

class CacheVerify : public CacheScene {};

TEST_F(CacheVerify, SaysHowMuchIsGood) {
  store({response("http://a/1"), response("http://a/2")});
  const Said told = said(&verify, CacheOptions{});
  EXPECT_EQ(told.code, 0);
  EXPECT_TRUE(contains(told.out, "good records    2\n")) << told.out;
  EXPECT_TRUE(contains(told.out, "damaged places  0\n")) << told.out;
  EXPECT_EQ(said(&verify, CacheOptions{}).code, 0);  // nothing was changed
}

TEST_F(CacheVerify, NamesEachDamagedPlace) {
  store({response("http://a/1", "first"), response("http://a/2", "other")});
  damage("other");
  damage("http://a/1");
  const Said told = said(&verify, CacheOptions{});
  EXPECT_EQ(told.code, 1);
  EXPECT_TRUE(contains(told.out,
                       "00000001.segment, offset 32: the checksum of a record's head does not "
                       "fit; "))
      << told.out;
  EXPECT_TRUE(contains(told.out, "a record's body does not fit; ")) << told.out;
  EXPECT_TRUE(contains(told.out, " bytes lost; http://a/2\n")) << told.out;
  EXPECT_TRUE(contains(told.out, "damaged places  2\n")) << told.out;
}

TEST_F(CacheVerify, SaysItInJsonLines) {
  store({response("http://a/\x7f", "body")});
  damage("body");
  const Said told = said(&verify, CacheOptions{.json = true});
  const auto end = told.out.find('\n');
  const Json place = Json::parse(told.out.substr(0, end));
  EXPECT_EQ(place.at("segment"), "00000001.segment");
  EXPECT_EQ(place.at("offset"), 32);
  EXPECT_TRUE(contains(told.out, R"("url":"http://a/\u007f")")) << told.out;
  EXPECT_EQ(Json::parse(told.out.substr(end)).at("damaged_places"), 1);
}

TEST_F(CacheVerify, IsForAStoppedCache) {
  const cache::disk::Scene running(directory_.path());
  const Said told = said(&verify, CacheOptions{});
  EXPECT_EQ(told.code, 2);
  EXPECT_TRUE(contains(told.err, "the settings do not say")) << told.err;
}

}  // namespace
}  // namespace proxy::command
