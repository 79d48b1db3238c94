// A proxy beside a neighbour: a scripted one, which may answer as badly as a test likes, or another
// proxy.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "digest/squid_digest.hpp"
#include "tests/scenario/scene.hpp"

namespace scenario {

inline constexpr const char* kDigestPath = "/squid-internal-periodic/store_digest";

// A digest in Squid's form that claims the URLs.
inline std::string digest_claiming(const std::vector<std::string>& urls,
                                   std::uint32_t capacity = 1024) {
  auto digest = *digest::SquidDigest::empty(capacity, 10);
  for (const auto& url : urls) digest.insert(digest::key_of(digest::Method::get, url));
  const std::vector<std::uint8_t> bytes = *digest::encode(digest);
  return {bytes.begin(), bytes.end()};
}

// The response in which a Hearsay serves a digest. Its Server makes the proxy poll at short
// intervals.
inline Reply digest_reply(std::string body) {
  return Reply(200, {{"Server", "Hearsay/0.1.0"}, {"Content-Type", "application/cache-digest"}})
      .body(std::move(body));
}

// An origin, a scripted neighbour "b" whose digest claims some of the origin's paths, and a proxy
// that uses this digest.
struct PeerScene {
  // `trust`: the neighbour's setting.
  explicit PeerScene(const std::vector<std::string>& claimed_paths,
                     const json& settings = json::object(), const char* trust = "site") {
    std::vector<std::string> urls;
    for (const auto& path : claimed_paths) urls.push_back(origin.url(path));
    peer.on(kDigestPath, digest_reply(digest_claiming(urls)));
    peer.sign_as("b");
    origin.otherwise([](const Request&) { return cacheable("from the origin"); });
    settings_ = with_peer("b", peer.port(), settings);
    settings_["peers"][0]["trust"] = trust;
    begin();
  }

  void begin() {
    proxy = std::make_unique<ProxyProcess>(settings_);
    if (!await([&] { return proxy->digest_peer("b").at("state") == "usable"; })) {
      throw TimedOut("the peer's digest is not used: " + proxy->digest().dump(2));
    }
    client = std::make_unique<Client>(proxy->port());
  }
  // Ends the proxy like a crash, and starts it again.
  void crash() {
    proxy->process().signal(SIGKILL);
    proxy->process().wait();
    begin();
  }

  Response get(const std::string& path, const Fields& fields = {}) const {
    return client->get(origin.url(path), fields);
  }
  // What a neighbour that asks for the path gets.
  Response given_on(const std::string& path) const {
    return get(path, {{"Cache-Control", "only-if-cached"}, {"Via", "1.1 c.test"}});
  }
  json books() const { return proxy->digest_peer("b"); }

  ScriptedOrigin origin;
  ScriptedOrigin peer;
  std::unique_ptr<ProxyProcess> proxy;
  std::unique_ptr<Client> client;

 private:
  json settings_;
};

// Settings with which a slow neighbour is raced against the origin.
inline const json kSparesTheOrigin{{"digest", {{"prefer", "origin-load"}}},
                                   {"timeouts", {{"peer_first_byte", "20s"}}}};

// Settings with which each neighbour is asked before the origin, for as long as a program with a
// sanitizer may take to answer.
inline const json kAsksAllNeighbours{{"timeouts", {{"peer_first_byte", "2s"}}}};

// A proxy with two neighbours, "b" and "c", which claim the same paths.
struct TwoPeers {
  explicit TwoPeers(const std::vector<std::string>& paths,
                    const json& how_long = support::kSanitized ? kAsksAllNeighbours
                                                               : kSparesTheOrigin) {
    std::vector<std::string> urls;
    for (const auto& path : paths) urls.push_back(origin.url(path));
    for (auto* peer : {&b, &c}) peer->on(kDigestPath, digest_reply(digest_claiming(urls)));
    b.sign_as("b");
    c.sign_as("c");
    const auto delay = allowed(std::chrono::seconds(1));  // no hedge wins
    origin.otherwise([=](const Request&) { return cacheable("from the origin").slow(delay, 0); });
    json settings = with_peer("b", b.port(), how_long);
    settings["peers"].push_back(with_peer("c", c.port())["peers"][0]);
    proxy = std::make_unique<ProxyProcess>(settings);
    for (const char* name : {"b", "c"}) {
      if (!await([&] { return proxy->digest_peer(name).at("state") == "usable"; })) {
        throw TimedOut("a digest is not used");
      }
    }
    client = std::make_unique<Client>(proxy->port());
  }

  ScriptedOrigin origin;
  ScriptedOrigin b;
  ScriptedOrigin c;
  std::unique_ptr<ProxyProcess> proxy;
  std::unique_ptr<Client> client;
};

// Two proxies, "a" and "b", that are neighbours of each other.
struct Neighbours {
  explicit Neighbours(const json& settings = json::object())
      : a(with_peer("b", at_b.port(), named("a", settings)), at_a),
        b(with_peer("a", at_a.port(), named("b", settings)), at_b) {}

  static json named(const char* name, json settings) {
    settings["name"] = name;
    return settings;
  }

  // Waits until b uses a digest of a with so many entries.
  bool b_knows(std::size_t entries) const {
    return await([&] { return b.digest_peer("a").at("entries") == entries; });
  }

  Listener at_a;
  Listener at_b;
  ProxyProcess a;
  ProxyProcess b;
};

}  // namespace scenario
