// access.block and access.allow: URLs and hosts that are refused to all clients, by every way of
// asking.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

// A proxy with these lists. The origin is at 127.0.0.1, also by the name localhost.
struct Listed {
  explicit Listed(std::string_view block, std::string_view allow = "",
                  const json& settings = json::object()) {
    write_file(directory / "block", block);
    write_file(directory / "allow", allow);
    json all = settings;
    all["access"]["block"] = {(directory / "block").string()};
    all["access"]["allow"] = {(directory / "allow").string()};
    all["access"]["connect_ports"] = {origin.port()};
    proxy = std::make_unique<ProxyProcess>(all);
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }

  std::string url(std::string_view host, std::string_view path) const {
    return "http://" + std::string(host) + ":" + std::to_string(origin.port()) + std::string(path);
  }
  Response get(std::string_view host, std::string_view path, const Fields& fields = {}) const {
    return Client(proxy->port()).get(url(host, path), fields);
  }
  Response connect(std::string_view host) const {
    Client client(proxy->port());
    const std::string authority = std::string(host) + ":" + std::to_string(origin.port());
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    return client.read("CONNECT");
  }

  TemporaryDirectory directory;
  ScriptedOrigin origin;
  std::unique_ptr<ProxyProcess> proxy;
};

TEST(Lists, RefuseHostsAndSayWhy) {
  const Listed scene("# a list\r\n0.0.0.0 ads.test\r\nlocalhost\r\n");
  const Response response = scene.get("localhost", "/a");
  EXPECT_EQ(response.status, 403);
  EXPECT_TRUE(contains(response.body, "list")) << response.body;
  EXPECT_TRUE(contains(response.body, "access.block")) << response.body;
  EXPECT_EQ(scene.get("X.Ads.TEST.", "/a").status, 403);
  EXPECT_EQ(scene.connect("localhost").status, 403);
  EXPECT_EQ(scene.get("127.0.0.1", "/a").status, 200);
  EXPECT_EQ(scene.connect("127.0.0.1").status, 200);
  EXPECT_EQ(scene.proxy->logged(scene.url("localhost", "/a")).result, "TCP_DENIED");
  EXPECT_EQ(scene.proxy->metric("hearsay_blocked_total"), 3);
  EXPECT_EQ(scene.proxy->metric("hearsay_list_entries{list=\"block\"}"), 2);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Lists, RefuseUrlsThatBeginAsListed) {
  ScriptedOrigin port_giver;  // receives no request
  const Listed scene("127.0.0.1/unused\n" + port_giver.url("/never"), "");
  EXPECT_EQ(scene.get("127.0.0.1", "/unused").status, 200);  // the list means port 80
  EXPECT_EQ(Client(scene.proxy->port()).get(port_giver.url("/never/x?y")).status, 403);
  EXPECT_EQ(Client(scene.proxy->port()).get(port_giver.url("/neve")).status, 404);
}

TEST(Lists, Give504ToOnlyIfCached) {
  const Listed scene("localhost");
  const Fields only_if_cached{{"Cache-Control", "only-if-cached"}};
  EXPECT_EQ(scene.get("localhost", "/a", only_if_cached).status, 504);
}

TEST(Lists, RefuseNamesThatLeadToAListedAddress) {
  const Listed scene("127.0.0.0/8\n::1\n");
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Response response = scene.get(host, "/a");
    EXPECT_EQ(response.status, 403) << host;
    EXPECT_TRUE(contains(response.body, "access.block")) << response.body;
    EXPECT_EQ(scene.connect(host).status, 403) << host;
  }
  EXPECT_EQ(scene.proxy->metric("hearsay_blocked_total"), 4);
  EXPECT_EQ(scene.origin.connections(), 0U);
}

// A connection opened for an allowed URL serves no refused one.
TEST(Lists, LetThroughWhatIsAllowedAndNoMore) {
  const Listed scene("127.0.0.0/8\n::1\nads.test\n", "");
  const std::string allowed = scene.url("localhost", "/ok/");
  write_file(scene.directory / "allow", allowed);
  const ProxyProcess proxy(json{{"access",
                                 {{"block", {(scene.directory / "block").string()}},
                                  {"allow", {(scene.directory / "allow").string()}}}}});
  Client client(proxy.port());
  EXPECT_EQ(client.get(allowed + "1").body, "hello");
  EXPECT_EQ(client.get(scene.url("localhost", "/no")).status, 403);
  EXPECT_EQ(client.get(allowed + "2").body, "hello");
  EXPECT_EQ(client.get(scene.url("127.0.0.1", "/ok/1")).status, 403);
  EXPECT_EQ(scene.origin.connections(), 1U);
}

TEST(Lists, ApplyBeforeANeighbourIsAsked) {
  const TemporaryDirectory directory;
  write_file(directory / "block", "127.0.0.1\n");
  PeerScene scene({"/a"}, {{"access", {{"block", {(directory / "block").string()}}}}});
  scene.peer.on("/a", cacheable("from the peer"));
  EXPECT_EQ(scene.client->get(scene.origin.url("/a")).status, 403);
  EXPECT_EQ(scene.peer.count("/a"), 0U);
}

TEST(Lists, WarnOfLinesThatAreNothing) {
  const Listed scene("localhost\n||ads.test^\n*.ads.test\n");
  EXPECT_EQ(scene.get("localhost", "/a").status, 403);
  const std::string& errors = scene.proxy->process().errors();
  EXPECT_TRUE(contains(errors, "block, line 2: \"||ads.test^\"")) << errors;
  EXPECT_TRUE(contains(errors, "2 such lines")) << errors;
}

TEST(Lists, ThatCannotBeReadStopTheStart) {
  const TemporaryDirectory directory;
  const json settings{{"listen", {"127.0.0.1:0"}}, {"access", {{"allow", {"/nowhere/allow"}}}}};
  write_file(directory / "settings.json", settings.dump());
  for (const char* subcommand : {"check", "serve"}) {
    const Command command{
        {hearsay_program(), subcommand, "--config", (directory / "settings.json").string()}};
    const Outcome outcome = run_to_end(command);
    EXPECT_EQ(outcome.exit_code, 2) << subcommand;
    EXPECT_TRUE(contains(outcome.errors, "/nowhere/allow (setting access.allow): cannot be read"))
        << outcome.errors;
  }
}

}  // namespace
}  // namespace scenario
