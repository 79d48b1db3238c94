// Each response that is not stored says why, in Cache-Status, in both logs and in /metrics.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

struct NotStoredCase {
  const char* reason;
  Reply answer;
  Fields fields = {};
  std::string method = "GET";
  json settings = json::object();
};

json never_stored() {
  return {{"rules", json::array({{{"name", "r"}, {"host", "*"}, {"never_store", true}}})}};
}
json small() {
  return {{"cache", {{"max_object", "1KiB"}}}};
}

std::vector<NotStoredCase> reasons() {
  const std::string past = "Thu, 01 Jan 1970 00:00:00 GMT";
  return {
      {"no-store", cacheable("x", "no-store")},
      {"private", cacheable("x", "private, max-age=9")},
      {"authorization", cacheable("x"), {{"Authorization", "Basic bWU6bWU="}}},
      {"no-lifetime", Reply().body("x")},
      {"no-cache", cacheable("x", "no-cache")},
      {"expired", Reply(200, {{"Expires", past}}).body("x")},
      {"max-age", cacheable("x", "max-age=0")},
      {"max-age", cacheable("x", "s-maxage=0")},
      {"status", Reply(302, {{"Location", "/b"}})},
      {"partial",
       Reply(416, {{"Cache-Control", "max-age=9"}, {"Content-Range", "bytes */1"}}),
       {{"Range", "bytes=7-"}}},
      {"vary", cacheable("x").with("Vary", "*")},
      {"vary-too-long",
       cacheable("x").with("Vary", "Accept-Encoding"),
       {{"Accept-Encoding", std::string(5000, 'a')}}},
      {"set-cookie", cacheable("x").with("Set-Cookie", "a=b")},
      {"request-no-store", cacheable("x"), {{"Cache-Control", "no-store"}}},
      {"for-origin", cacheable("x"), {{"If-Match", "\"1\""}}},
      {"method", cacheable("x"), {}, "POST"},
      {"method", cacheable("x"), {}, "HEAD"},
      {"rule", cacheable("x"), {}, "GET", never_stored()},
      {"too-large", cacheable(std::string(2000, 'x')), {}, "GET", small()},
  };
}

// The last line of the log as JSON about the path.
json logged_json(const ProxyProcess& proxy, std::string_view path) {
  json found;
  await([&] {
    std::istringstream lines(read_file(proxy.access_log_path()));
    for (std::string line; std::getline(lines, line);) {
      if (contains(line, std::string(path) + "\"")) found = json::parse(line);
    }
    return !found.is_null();
  });
  return found;
}

double counted(const ProxyProcess& proxy, const std::string& reason) {
  return proxy.metric("hearsay_not_stored_total{reason=\"" + reason + "\"}");
}

class NotStored : public testing::TestWithParam<NotStoredCase> {};

TEST_P(NotStored, SaysWhy) {
  const auto& tested = GetParam();
  json settings = tested.settings;
  settings["log"]["format"] = "json";
  Scene scene(settings);
  scene.origin.on("/a", tested.answer);
  const auto response = scene.client.request(tested.method, scene.origin.url("/a"), tested.fields);
  const std::string status = nearest_cache_status(response);
  EXPECT_TRUE(contains(status, "not-stored/" + std::string(tested.reason))) << status;
  EXPECT_FALSE(contains(status, "; stored")) << status;
  const json line = logged_json(scene.proxy, "/a");
  EXPECT_EQ(line.value("not_stored", ""), tested.reason) << line;
  EXPECT_EQ(counted(scene.proxy, tested.reason), 1);
}

INSTANTIATE_TEST_SUITE_P(Because, NotStored, testing::ValuesIn(reasons()), [](const auto& tested) {
  std::string name = tested.param.reason + std::to_string(tested.index);
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

TEST(NotStored, IsAWordAtTheEndOfASquidLine) {
  Scene scene;
  scene.origin.on("/a", cacheable("x", "no-store"));
  scene.origin.on("/b", cacheable("x"));
  for (const char* const path : {"/a", "/b"}) scene.client.get(scene.origin.url(path));
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/a")).words,
            std::vector<std::string>{"not-stored/no-store"});
  EXPECT_TRUE(scene.proxy.logged(scene.origin.url("/b")).words.empty());
}

// The head was sent before the reason was known.
TEST(NotStored, IsLoggedThoughTheHeadPromisedMore) {
  Scene scene(json{{"cache", {{"max_object", "1KiB"}}}, {"log", {{"format", "json"}}}});
  scene.origin.on(
      "/large",
      Reply(200, {{"Cache-Control", "max-age=9"}}).chunked().send(std::string(3000, 'x')));
  scene.client.get(scene.origin.url("/large"));
  EXPECT_EQ(logged_json(scene.proxy, "/large").value("not_stored", ""), "too-large");
  scene.origin.on("/cut", Reply(200, {{"Cache-Control", "max-age=9"}}).sized(9).send("x").cut());
  Client(scene.proxy.port()).get(scene.origin.url("/cut"));
  const json cut = logged_json(scene.proxy, "/cut");
  EXPECT_EQ(cut.value("not_stored", ""), "incomplete") << cut;
  EXPECT_EQ(cut.value("failure", ""), "cut") << cut;
  EXPECT_EQ(counted(scene.proxy, "too-large"), 1);
  EXPECT_EQ(counted(scene.proxy, "incomplete"), 1);
}

TEST(NotStored, IsWhatWasPurgedWhileItArrived) {
  Scene scene(json{{"log", {{"format", "json"}}}});
  Gate gate;
  const std::string url = scene.origin.url("/a");
  scene.origin.on(
      "/a", Reply(200, {{"Cache-Control", "max-age=60"}}).sized(2).send("a").wait(gate).send("b"));
  scene.client.send(request_text("GET", url));
  Response response = scene.client.read_head();
  Client(scene.proxy.port()).request("PURGE", url, kOnPurpose);
  gate.open();
  scene.client.read_rest(response);
  EXPECT_TRUE(await([&] { return counted(scene.proxy, "outdated") == 1; }));
}

TEST(NotStored, IsWhatAValidationForbidsToStore) {
  Scene scene;
  scene.origin.on("/a", [](const Request& request) {
    if (request.has("If-None-Match")) return Reply(304, {{"Cache-Control", "no-store"}});
    return cacheable("x", "max-age=0").with("ETag", "\"1\"");
  });
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  const std::string status = nearest_cache_status(scene.client.get(url));
  EXPECT_TRUE(contains(status, "detail=\"not-stored/no-store\"")) << status;
  EXPECT_EQ(counted(scene.proxy, "no-store"), 1);
}

}  // namespace
}  // namespace scenario
