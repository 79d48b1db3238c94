// The digest that Hearsays exchange: it follows changes at once, in small deltas, and only
// the two neighbours know its salt.
#include <gtest/gtest.h>

#include <array>
#include <cinttypes>
#include <cstdio>

#include "digest/native_digest.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

constexpr const char* kNativePath = "/digest/native";
constexpr std::chrono::seconds kFresh{3};

digest::NativeDigest decoded(const Response& response, const digest::NativeDigest* held = nullptr) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(response.body.data());
  return *digest::decode_native({bytes, response.body.size()}, held, 1 << 24);
}

std::string since(const digest::NativeDigest& held) {
  std::array<char, 64> query{};
  std::snprintf(query.data(), query.size(), "?epoch=%016" PRIx64 "&since=%" PRIu64, held.epoch,
                held.generation);
  return kNativePath + std::string(query.data());
}

digest::Key key_of(const std::string& url) {
  return digest::key_of(digest::Method::get, url);
}

TEST(NativeDigest, TellsWhatChangedAndNothingWhereNothingDid) {
  Scene scene;
  scene.origin.otherwise([](const Request&) { return cacheable("x"); });
  const Response first = scene.proxy.page(kNativePath);
  const auto held = decoded(first);
  EXPECT_EQ(scene.proxy.page(kNativePath, {{"If-None-Match", first.field("ETag")}}).status, 304);
  for (int i = 0; i < 20; ++i) scene.client.get(scene.origin.url("/" + std::to_string(i)));
  ASSERT_TRUE(await([&] { return scene.proxy.digest().at("entries") == 20; }));
  const Response delta = scene.proxy.page(since(held), {{"If-None-Match", first.field("ETag")}});
  EXPECT_EQ(delta.status, 200);
  EXPECT_LT(delta.body.size(), 350U);
  const auto now = decoded(delta, &held);
  EXPECT_EQ(now.entries, 20U);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(now.filter.contains(key_of(scene.origin.url("/" + std::to_string(i))))) << i;
  }
}

TEST(NativeDigest, KeepsTheSaltBetweenNeighbours) {
  const ProxyProcess proxy;
  const auto salt = decoded(proxy.page(kNativePath)).filter.shape().salt;
  const std::string hex = digest::to_hex({salt});
  const std::string raw(salt.begin(), salt.end());
  for (const char* page : {"/digest", "/metrics", "/health", "/"}) {
    const std::string body = proxy.page(page).body;
    EXPECT_EQ(body.find(hex), std::string::npos) << page;
    EXPECT_EQ(body.find(raw), std::string::npos) << page;
  }
}

TEST(NativeDigest, IsWhatHearsaysUse) {
  const Neighbours neighbours;
  ASSERT_TRUE(neighbours.b_knows(0));
  const json books = neighbours.b.digest_peer("a");
  EXPECT_EQ(books.at("kind"), "hearsay");
  EXPECT_EQ(books.at("generation"), neighbours.a.digest().at("generation"));
  EXPECT_EQ(books.at("resyncs"), 0);
  EXPECT_EQ(books.at("bytes_received"), digest::kNativeHeaderBytes);
  const auto sent = [&] { return neighbours.a.digest_peer("b").at("bytes_sent"); };
  EXPECT_TRUE(await([&] { return sent() == digest::kNativeHeaderBytes; })) << sent();
}

// Only the settings name the neighbours, so the proxy must resolve the name to know its address.
TEST(NativeDigest, GoesToANeighbourThatIsKnownByName) {
  const auto named = [](const char* own, const char* peer, std::uint16_t port) {
    json settings = Neighbours::named(own, with_peer(peer, port));
    settings["peers"][0]["url"] = "http://localhost:" + std::to_string(port);
    settings["access"]["admin"] = json::array();
    settings["access"]["monitor"] = {"loopback"};
    return settings;
  };
  const Listener at_a;
  const Listener at_b;
  const ProxyProcess a(named("a", "b", at_b.port()), at_a);
  const ProxyProcess b(named("b", "a", at_a.port()), at_b);
  EXPECT_TRUE(await([&] { return a.digest_peer("b").at("state") == "usable"; }));
  EXPECT_TRUE(await([&] { return b.digest_peer("a").at("state") == "usable"; }));
  EXPECT_TRUE(await([&] { return a.digest_peer("b").at("bytes_sent").is_number(); }));
}

TEST(NativeDigest, TellsWithinThreeSecondsWhatCameAndWhatLeft) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("x"); });
  const Neighbours neighbours;
  ASSERT_TRUE(neighbours.b_knows(0));
  const auto b_claims_for_a = [&](std::size_t entries) {
    return await([&] { return neighbours.b.digest_peer("a").at("entries") == entries; }, kFresh);
  };
  for (int i = 0; i < 3; ++i) {
    const std::string url = origin.url("/" + std::to_string(i));
    Client(neighbours.a.port()).get(url);
    EXPECT_TRUE(b_claims_for_a(1)) << i;
    Client(neighbours.a.port()).request("POST", url, {}, "x");
    EXPECT_TRUE(b_claims_for_a(0)) << i;
  }
}

}  // namespace
}  // namespace scenario
