// The cache of a running proxy, listed and dropped by its pages and by `hearsay cache`.
#include <gtest/gtest.h>

#include "tests/scenario/disk/cache_pages.hpp"
#include "tests/scenario/large/large_scene.hpp"

namespace scenario {
namespace {

class CacheOfARunningProxy : public testing::Test, public DiskScene {
 protected:
  CacheOfARunningProxy() {
    origin.on("/a", cacheable("the-body-of-a"));
    origin.on("/b/1", cacheable("1"));
    origin.on("/b/2", cacheable("2").with("Vary", "Cookie"));
    for (const char* path : {"/a", "/b/1", "/b/2"}) get(path);
    settle(4);
  }

  std::string url(const std::string& path) const { return origin.url(path); }
  Response page(const std::string& method, const std::string& path, const Fields& fields = {}) {
    return ask_page(proxy(), method, path, fields);
  }
  std::vector<json> listed(const std::string& prefix) {
    const auto response = page("GET", "/admin/cache/list?prefix=" + prefix);
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_TRUE(response.whole);
    EXPECT_EQ(response.field("Content-Type"), "application/x-ndjson");
    return lines_of(response.body);
  }
  // `hearsay cache` with the proxy's settings.
  Outcome run(const std::vector<std::string>& arguments, std::uint16_t port) {
    return run_cache(arguments, directory(), port);
  }
  Outcome run(const std::vector<std::string>& arguments) { return run(arguments, proxy().port()); }
  // Flips a bit of these bytes on the disk.
  void flip(std::string_view what) const {
    const auto path = directory() / "00000001.segment";
    std::string bytes = read_file(path);
    bytes[bytes.find(what)] ^= 1;
    write_file(path, bytes);
  }
};

TEST_F(CacheOfARunningProxy, IsListedByPrefixWithSizeAgeAndHits) {
  for (int i = 0; i < 3; ++i) get("/b/1");
  const auto all = listed(url("/"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].at("url"), url("/a")) << "in the order in which they were written";
  const auto some = listed(url("/b/"));
  ASSERT_EQ(some.size(), 2U);
  EXPECT_EQ(some[0].at("url"), url("/b/1"));
  EXPECT_EQ(some[0].at("bytes"), 1);
  EXPECT_LE(some[0].at("age_seconds"), 30);
  EXPECT_EQ(some[0].at("hits"), 3);
  EXPECT_EQ(some[1].at("hits"), 0);
  EXPECT_EQ(some[0].at("where"), "memory and disk");
  crash();
  get("/b/1");
  const auto after = listed(url("/b/"));
  EXPECT_EQ(after.at(0).at("where"), "memory and disk");
  EXPECT_EQ(after.at(0).at("hits"), 1) << "since the start";
  EXPECT_EQ(after.at(1).at("where"), "disk");
}

TEST_F(CacheOfARunningProxy, TellsHowOftenALargeResponseWasFound) {
  LargeScene large(5 * kMiB);
  large.get();
  for (int start = 0; start < 2; ++start) {
    large.settle(start == 0 ? 6 : 0);
    for (int i = 0; i < 3; ++i) large.get("0-99");
    const auto page = "/admin/cache/list?prefix=" + large.origin.url("/a");
    const auto found = [&] {
      const auto lines = lines_of(ask_page(large.proxy(), "GET", page).body);
      return lines.empty() ? -1 : lines.at(0).at("hits").get<int>();
    };
    EXPECT_TRUE(await([&] { return found() == 3; })) << found();
    large.restart();
  }
}

TEST_F(CacheOfARunningProxy, IsShownByUrl) {
  const auto shown = lines_of(page("GET", "/admin/cache/show?url=" + url("/b/2")).body);
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0].at("selects_by"), "cookie");
  EXPECT_TRUE(contains(shown[1].at("head").get<std::string>(), "Vary: Cookie"));
  EXPECT_EQ(shown[1].at("body_checksum"), "good");
  const auto nothing = page("GET", "/admin/cache/show?url=" + url("/c"));
  EXPECT_EQ(nothing.status, 200);
  EXPECT_EQ(nothing.body, "");
  EXPECT_EQ(page("GET", "/admin/cache/show").status, 400);
  EXPECT_EQ(page("GET", "/admin/cache/show?url=a").status, 400);
  EXPECT_EQ(page("GET", "/admin/cache/list?begin=a").status, 400);
}

TEST_F(CacheOfARunningProxy, IsVerifiedAndLosesDamagedRecords) {
  crash();  // memory is empty
  EXPECT_EQ(run({"verify"}).exit_code, 0);
  flip("the-body-of-a");
  const Outcome verified = run({"verify"});
  EXPECT_EQ(verified.exit_code, 1) << verified.errors;
  EXPECT_TRUE(contains(verified.output, "a record's body does not fit; ")) << verified.output;
  EXPECT_TRUE(contains(verified.output, url("/a") + '\n')) << verified.output;
  EXPECT_EQ(disk("corrupt_total"), 1);
  EXPECT_TRUE(contains(proxy().process().errors(), "of " + url("/a") + " was dropped"));
  EXPECT_EQ(run({"verify"}).exit_code, 0) << "it is gone";
  EXPECT_EQ(get("/a").body, "the-body-of-a");
  EXPECT_EQ(origin.requests("/a").size(), 2U);
}

TEST_F(CacheOfARunningProxy, DropsForGood) {
  const json order{{"url", url("/a")}};
  const auto dropped = ask_page(proxy(), "POST", "/admin/cache/drop", kOnPurpose, order.dump());
  EXPECT_EQ(json::parse(dropped.body).at("purged"), 1);
  EXPECT_FALSE(holds("/a"));
  crash();
  EXPECT_FALSE(holds("/a"));
  EXPECT_EQ(run({"drop", url("/a")}).exit_code, 1);
  EXPECT_EQ(run({"drop", "--prefix", url("/b/")}).output, "dropped 2 responses\n");
  EXPECT_EQ(run({"list"}).output, "kind       size   age fresh claim  hits  URL\n");
  restart();
  EXPECT_FALSE(holds("/b/1"));
}

TEST_F(CacheOfARunningProxy, IsForAdministratorsWhoAskDirectlyAndOnPurpose) {
  const std::string drop = json{{"url", url("/a")}}.dump();
  for (const char* path : {"/admin/cache/list", "/admin/cache/show?url=http://a/"}) {
    EXPECT_EQ(page("GET", path).status, 200) << path;
    EXPECT_EQ(page("GET", path, {{"Via", "1.1 b"}}).status, 403) << path;
    EXPECT_EQ(page("GET", path, {{"X-Forwarded-For", "10.0.0.1"}}).status, 403) << path;
    EXPECT_EQ(page("POST", path, kOnPurpose).status, 405) << path;
  }
  for (const char* path : {"/admin/cache/verify", "/admin/cache/drop"}) {
    EXPECT_EQ(ask_page(proxy(), "POST", path, {}, drop).status, 403) << path;
    const Fields via{{"X-Hearsay", "1"}, {"Via", "1.1 b"}};
    EXPECT_EQ(ask_page(proxy(), "POST", path, via, drop).status, 403) << path;
    EXPECT_EQ(page("GET", path, kOnPurpose).status, 405) << path;
  }
  EXPECT_TRUE(holds("/a"));
  const ProxyProcess strict(json{{"access", {{"admin", {"192.0.2.1"}}}}});
  for (const char* path : {"/admin/cache/list", "/admin/cache/show?url=http://a/"}) {
    EXPECT_EQ(ask_page(strict, "GET", path).status, 403) << path;
  }
  EXPECT_EQ(ask_page(strict, "POST", "/admin/cache/verify").status, 403);
}

TEST_F(CacheOfARunningProxy, IsToldByTheCommandAsThatOfOneThatIsStopped) {
  const Outcome running = run({"list", "--json"});
  EXPECT_EQ(running.exit_code, 0) << running.errors;
  const Outcome shown = run({"show", url("/b/2"), "--json"});
  EXPECT_EQ(run({"show", url("/c")}).exit_code, 1);
  const auto port = proxy().port();
  end();
  const auto without = [](std::vector<json> lines) {
    for (auto& line : lines) {
      for (const char* changing :
           {"hits", "where", "age_seconds", "fresh_seconds", "claimable_seconds"}) {
        line.erase(changing);
      }
    }
    std::sort(lines.begin(), lines.end());  // the order of one URL's records differs
    return lines;
  };
  const Outcome stopped = run({"list", "--json"}, port);
  EXPECT_EQ(without(lines_of(running.output)), without(lines_of(stopped.output)));
  const Outcome shown_stopped = run({"show", url("/b/2"), "--json"}, port);
  EXPECT_EQ(without(lines_of(shown.output)), without(lines_of(shown_stopped.output)));
}

TEST_F(CacheOfARunningProxy, IsNotLookedIntoWhereNobodyAnswers) {
  support::Listener closed;
  const auto port = closed.port();
  closed.shut_down();
  const Outcome list = run({"list"}, port);
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_TRUE(contains(list.errors, "no proxy answers")) << list.errors;
  EXPECT_EQ(run({"drop", "--all"}, 0).exit_code, 2) << "a port that nobody knows";
  EXPECT_TRUE(holds("/a"));
}

TEST(CacheInMemoryAlone, IsListedAndDroppedToo) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("1234"));
  const ProxyProcess proxy;
  Client(proxy.port()).get(origin.url("/a"));
  const auto lines = lines_of(ask_page(proxy, "GET", "/admin/cache/list").body);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].at("where"), "memory");
  EXPECT_EQ(lines[0].at("bytes"), 4);
  EXPECT_EQ(ask_page(proxy, "POST", "/admin/cache/verify").status, 409);
  const std::string order = json{{"prefix", origin.url("/")}}.dump();
  ask_page(proxy, "POST", "/admin/cache/drop", kOnPurpose, order);
  EXPECT_EQ(ask_page(proxy, "GET", "/admin/cache/list").body, "");
}

// The argument is the URL that a client requests. The rules of its site shorten it to the URL under
// which the response is stored.
TEST(CacheInMemoryAlone, IsShownAndDroppedByTheRulesOfASite) {
  ScriptedOrigin origin;
  origin.on("/a?utm_a=1", cacheable("1234"));
  const json rule{{"name", "r"}, {"host", "*"}, {"drop_query", {"utm_*"}}};
  const ProxyProcess proxy(json{{"rules", {rule}}});
  const auto url = origin.url("/a?utm_a=1");
  Client(proxy.port()).get(url);
  const auto shown = lines_of(ask_page(proxy, "GET", "/admin/cache/show?url=" + url).body);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].at("stored_as"), origin.url("/a"));
  const std::string order = json{{"url", url}}.dump();
  const auto dropped = ask_page(proxy, "POST", "/admin/cache/drop", kOnPurpose, order);
  EXPECT_EQ(dropped.body, "{\"purged\": 1}\n");
}

TEST(CacheOfLargeObjects, TellsWhichBlocksAreStored) {
  LargeScene scene(9 * kMiB);
  scene.get("0-1048575");
  scene.settle(2);
  const auto list = lines_of(ask_page(scene.proxy(), "GET", "/admin/cache/list").body);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("kind"), "part");
  EXPECT_EQ(list[0].at("bytes"), 9 * kMiB);
  EXPECT_LT(list[0].at("held_bytes"), 9 * kMiB);
  EXPECT_EQ(list[0].at("held_bytes").get<std::uint64_t>() % kMiB, 0U);
  const auto path = "/admin/cache/show?url=" + scene.origin.url("/a");
  const auto shown = lines_of(ask_page(scene.proxy(), "GET", path).body);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown[0].at("blocks"), 9);
  EXPECT_EQ(shown[0].at("bytes_held"), list[0].at("held_bytes"));
}

}  // namespace
}  // namespace scenario
