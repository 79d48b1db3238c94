// What the proxy refuses by default, and to which clients.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

std::string own_host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

json access(const json& values) {
  return {{"access", values}};
}

TEST(Posture, KeepsClientsFromThisMachineByDefault) {
  Scene scene(access({{"deny_to", nullptr}}));
  const std::string port = ":" + std::to_string(scene.origin.port()) + "/a";
  for (const char* host : {"127.0.0.1", "127.0.0.2", "127.1", "2130706433", "0x7f.1", "0.0.0.0",
                           "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost",
                           "LOCALHOST", "localhost.", "a.localhost", "169.254.169.254"}) {
    Client client(scene.proxy.port());
    const int status = client.get("http://" + (host + port)).status;
    EXPECT_TRUE(status == 403 || status == 400) << host << ": " << status;
  }
  EXPECT_EQ(scene.origin.connections(), 0U);
}

TEST(Posture, KeepsTunnelsFromThisMachineByDefault) {
  ScriptedOrigin origin;
  const ProxyProcess proxy(access({{"deny_to", nullptr}, {"connect_ports", {origin.port()}}}));
  for (const char* host : {"127.0.0.1", "localhost", "[::1]"}) {
    Client client(proxy.port());
    const std::string authority = host + (":" + std::to_string(origin.port()));
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read().status, 403) << authority;
  }
  EXPECT_EQ(origin.connections(), 0U);
}

TEST(Posture, NeverConnectsToItself) {
  Listener listener;
  const ProxyProcess proxy(access({{"connect_ports", {listener.port()}}}), listener);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Client client(proxy.port());
    const std::string authority = host + (":" + std::to_string(proxy.port()));
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read().status, 403) << authority;
  }
}

TEST(Posture, AsksAConfiguredPeerOnADeniedAddress) {
  PeerScene scene({"/a"});
  ScriptedOrigin peer;
  const std::string url = "http://origin.test/a";
  peer.on(kDigestPath, digest_reply(digest_claiming({url})));
  peer.sign_as("b");
  peer.on("/a", cacheable("from the peer"));
  const ProxyProcess proxy(with_peer("b", peer.port(), access({{"deny_to", {"loopback"}}})));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  EXPECT_EQ(Client(proxy.port()).get(url).body, "from the peer");
  EXPECT_EQ(
      Client(proxy.port()).get("http://127.0.0.1:" + std::to_string(peer.port()) + "/a").status,
      403);
}

TEST(Posture, RefusesClientsThatAreNotListed) {
  Scene scene(access({{"clients", {"192.0.2.0/24"}}}));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 403);
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Posture, RefusesDigestsAndMonitoringToOthers) {
  const ProxyProcess proxy(access({{"monitor", {"192.0.2.1"}}, {"admin", {"192.0.2.1"}}}));
  for (const char* path : {"/digest", "/metrics", "/health", kDigestPath}) {
    EXPECT_EQ(proxy.page(path).status, 403) << path;
  }
}

TEST(Posture, ShowsDigestsToPeersThatWeDoNotAsk) {
  const ProxyProcess proxy(
      access({{"monitor", {"192.0.2.1"}}, {"admin", {"192.0.2.1"}}, {"peers", {"127.0.0.1"}}}));
  EXPECT_EQ(proxy.page(kDigestPath).status, 200);
  EXPECT_EQ(proxy.page("/digest").status, 403);
}

TEST(Posture, KeepsItsOwnPagesFromBeingReadThroughANeighbour) {
  const ProxyProcess proxy;
  for (const char* path : {"/digest", "/metrics", "/health"}) {
    for (const Field& field : {Field{"Via", "1.1 other"}, Field{"X-Forwarded-For", "10.0.0.9"},
                               Field{"Forwarded", "for=10.0.0.9"}}) {
      const int status = proxy.page(path, {field}).status;
      EXPECT_EQ(status, 403) << path << ' ' << field.first;
    }
    Client client(proxy.port());
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    const int status = client.read().status;
    EXPECT_TRUE(status >= 400 && status < 500) << path << ": " << status;  // DNS rebinding
  }
}

TEST(Posture, OneCheckOfTheHostFieldHoldsForEveryPageOfItsOwn) {
  const ProxyProcess proxy(json{{"access", {{"own_names", {"cache-a.test"}}}}});
  const auto status_under = [&](const std::string& path, const std::string& host) {
    Client client(proxy.port());
    client.send(origin_form_text(host, "GET", path));
    return client.read().status;
  };
  for (const std::string path :
       {"/", "/digest", "/metrics", "/health", "/digest/native", kDigestPath}) {
    EXPECT_EQ(status_under(path, "attacker.example"), 403) << path << " DNS rebinding";
    EXPECT_EQ(status_under(path, "cache-a.test:" + std::to_string(proxy.port())), 200) << path;
    EXPECT_EQ(status_under(path, proxy.address()), 200) << path;
  }
}

// The digest as Squid 5.7 asks for it, except for some fields.
int status_of_squids_poll(const ProxyProcess& proxy, const Fields& instead) {
  Fields fields{{"Accept", "application/cache-digest"},
                {"Via", "1.1 squid-a.test (squid/5.7)"},
                {"X-Forwarded-For", "::"}};
  for (const auto& [name, value] : instead) {
    std::erase_if(fields, [&](const Field& field) { return field.first == name; });
    if (!value.empty()) fields.emplace_back(name, value);
  }
  return proxy.page(kDigestPath, fields).status;
}

TEST(Posture, ASquidMayReadTheDigestAndItsClientsMayNot) {
  const ProxyProcess proxy;
  EXPECT_EQ(status_of_squids_poll(proxy, {}), 200);
  EXPECT_EQ(status_of_squids_poll(proxy, {{"X-Forwarded-For", ""}}), 200) << "forwarded_for delete";
  EXPECT_EQ(status_of_squids_poll(proxy, {{"Via", ""}, {"X-Forwarded-For", ""}}), 200);
  const Fields of_clients[] = {{{"X-Forwarded-For", "10.0.0.9"}},
                               {{"X-Forwarded-For", "::, 10.0.0.9"}},
                               {{"Via", "1.1 b"}},
                               {{"Via", "1.1 a, 1.1 b (squid/5.7)"}},
                               {{"Forwarded", "for=10.0.0.9"}},
                               {{"X-Real-IP", "10.0.0.9"}},
                               {{"User-Agent", "curl/7.88"}},
                               {{"Accept", "*/*"}}};
  for (const auto& fields : of_clients) {
    EXPECT_EQ(status_of_squids_poll(proxy, fields), 403) << fields[0].first << fields[0].second;
  }
}

TEST(Posture, NoClientReadsADigestThroughANeighbour) {
  const ProxyProcess proxy;
  const ProxyProcess neighbour;
  for (const std::string path : {"/digest/native", kDigestPath}) {
    Client client(neighbour.port());
    const Fields fields{{"Accept", "application/cache-digest"}, {"X-Forwarded-For", "::"}};
    EXPECT_EQ(client.get(proxy.url() + path, fields).status, 403) << path;
  }
}

json public_gateway(const ScriptedOrigin& origin, const json& more = json::object()) {
  json settings{{"reverse", {{{"host", "www.test"}, {"to", origin.url("")}}}},
                {"access", {{"clients", {"any"}}}}};
  settings.merge_patch(more);
  return settings;
}

TEST(Posture, APublicGatewayIsNoProxyForOtherHosts) {
  ScriptedOrigin origin;
  ScriptedOrigin peer;
  const std::string intranet = "http://intranet.test/a";
  origin.otherwise([](const Request&) { return cacheable("of the origin"); });
  peer.on(kDigestPath, digest_reply(digest_claiming({intranet})));
  peer.sign_as("b");
  peer.on("/a", cacheable("secret"));
  const ProxyProcess proxy(with_peer("b", peer.port(), public_gateway(origin)));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  Client client(proxy.port());
  EXPECT_EQ(client.get(intranet).status, 403);
  EXPECT_EQ(client.get(origin.url("/a")).status, 403);
  client.send("CONNECT intranet.test:443 HTTP/1.1\r\nHost: intranet.test:443\r\n\r\n");
  EXPECT_EQ(client.read().status, 403);
  EXPECT_EQ(peer.count("/a") + origin.count(), 0U);
  Client other(proxy.port());
  EXPECT_EQ(other.get("http://www.test/b").body, "of the origin")
      << "absolute-form, RFC 9112 3.2.2";
  EXPECT_EQ(proxy.page("/health").status, 200);
}

TEST(Posture, TheSettingForwardDecidesOtherwise) {
  for (const bool forward : {true, false}) {
    ScriptedOrigin origin;
    origin.on("/a", cacheable("a"));
    const ProxyProcess all(public_gateway(origin, {{"forward", forward}}));
    EXPECT_EQ(Client(all.port()).get(origin.url("/a")).status, forward ? 200 : 403);
    const ProxyProcess ours(json{{"forward", forward}});
    EXPECT_EQ(Client(ours.port()).get(origin.url("/a")).status, forward ? 200 : 403);
  }
}

TEST(Posture, WhatMayNotBeReachedIsNotAskedOfANeighbour) {
  const std::string url = "http://" + own_host_name() + "/a";  // resolves by /etc/hosts
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({url, "http://nowhere.test/a"})));
  peer.sign_as("b");
  peer.on("/a", cacheable("from the peer"));
  for (const json& denied : {json{"any"}, json{"0.0.0.0/1", "128.0.0.0/1", "::/0"}}) {
    const ProxyProcess proxy(with_peer("b", peer.port(), access({{"deny_to", denied}})));
    ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
    EXPECT_EQ(Client(proxy.port()).get(url).status, 403) << denied;
  }
  EXPECT_EQ(peer.count("/a"), 0U);
}

TEST(Posture, LimitsHeads) {
  Scene scene(json{{"limits", {{"head", "4KiB"}, {"fields", 20}}}});
  Fields many;
  for (int i = 0; i < 30; ++i) many.emplace_back("X-" + std::to_string(i), "1");
  const std::pair<std::string, std::string> too_large[] = {
      {request_text("GET", scene.origin.url("/a"), {{"X", std::string(5000, 'x')}}), "limits.head"},
      {request_text("GET", scene.origin.url("/a"), many), "limits.fields"},
      // No end is in sight.
      {"GET " + scene.origin.url("/") + std::string(5000, 'x'), "limits.head"},
  };
  for (const auto& [request, setting] : too_large) {
    Client client(scene.proxy.port());
    client.send(request);
    const Response refused = client.read();
    EXPECT_EQ(refused.status, 431) << request.substr(0, 60);
    EXPECT_TRUE(contains(refused.body, setting)) << refused.body;
    EXPECT_TRUE(contains(nearest_cache_status(refused), "detail=\"exceeds/" + setting + '"'))
        << nearest_cache_status(refused);
    EXPECT_TRUE(client.is_closed());
    EXPECT_TRUE(await([&, name = setting] {
      return contains(read_file(scene.proxy.access_log_path()), " exceeds/" + name + "\n");
    }));
  }
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Posture, LimitsHeadsOfResponses) {
  Scene scene(json{{"limits", {{"head", "4KiB"}}}});
  scene.origin.on("/a", Reply(200, {{"X", std::string(5000, 'x')}}).body("hello"));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 502);
}

}  // namespace
}  // namespace scenario
