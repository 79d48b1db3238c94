#include "proxy/command/cache.hpp"

#include "tests/proxy/command/cache_scene.hpp"

namespace proxy::command {
namespace {

class CacheDrop : public CacheScene {
 protected:
  std::size_t listed() { return lines_in(said(&list, CacheOptions{.json = true}).out); }
};

TEST_F(CacheDrop, NoStartFindsItAgain) {
  store({response("http://a/1"), response("http://a/12"), response("http://a/2")});
  const Said told = said(&drop, CacheOptions{.url = "http://a/1"});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.out, "dropped 1 response\n");
  EXPECT_FALSE(body("http://a/1"));
  EXPECT_TRUE(body("http://a/12"));
  EXPECT_EQ(listed(), 2U);
}

TEST_F(CacheDrop, TakesAllThatIsStoredOfTheUrl) {
  const std::string large = "reverse:http://a/";
  store({selector("http://a/", 7), variant("http://a/", "x", 7), object(large, 3, 2 << 20),
         block(large, 3, 1), response("http://b/")});
  EXPECT_EQ(said(&drop, CacheOptions{.url = "http://a/"}).out, "dropped 2 responses\n");
  const cache::disk::Scene disk(directory_.path());
  EXPECT_EQ(disk->catalog().index.entries(), 1U);
}

TEST_F(CacheDrop, TakesWhatBeginsSoOrAll) {
  store({response("http://a/x/1"), response("http://a/y"), response("reverse:http://a/x/2"),
         response("http://b/")});
  EXPECT_EQ(said(&drop, CacheOptions{.prefix = "http://a/x/"}).out, "dropped 2 responses\n");
  EXPECT_FALSE(body("http://a/x/1"));
  EXPECT_FALSE(body("reverse:http://a/x/2"));
  EXPECT_TRUE(body("http://b/"));
  EXPECT_EQ(said(&drop, CacheOptions{.all = true}).out, "dropped 2 responses\n");
  EXPECT_EQ(listed(), 0U);
  EXPECT_FALSE(body("http://b/"));
}

TEST_F(CacheDrop, LetsTheProxyStoreItAnew) {
  store({response("http://a/1")});
  EXPECT_EQ(said(&drop, CacheOptions{.all = true}).code, 0);
  store({response("http://a/1", "new")});
  EXPECT_EQ(body("http://a/1").value(), "new");
}

TEST_F(CacheDrop, SaysWhereThereWasNothingOrNoCache) {
  store({response("http://a/1")});
  const Said none = said(&drop, CacheOptions{.url = "http://a/2"});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, "dropped 0 responses\n");
  const cache::disk::Scene running(directory_.path());
  EXPECT_TRUE(contains(said(&drop, CacheOptions{.all = true}).err, "the settings do not say"));
}

}  // namespace
}  // namespace proxy::command
