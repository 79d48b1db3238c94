// A proxy with a disk beside a neighbour that claims the large resource.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/scenario/large/large_scene.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {

// Settings of another proxy with its own disk, whose only neighbour is at this port.
inline json with_neighbour(const char* name, std::uint16_t port,
                           const std::filesystem::path& home) {
  return with_peer(
      name, port,
      json{{"cache", {{"disk", {{"path", (home / "c").string()}, {"size", "512MiB"}}}}}});
}

// A scripted neighbour "p" that claims the large resource, and a proxy that asks it.
struct LargePeer : LargeScene {
  explicit LargePeer(std::uint64_t bytes, const json& more = json::object()) : LargeScene(bytes) {
    peer.on(kDigestPath, digest_reply(digest_claiming({origin.url("/a")})));
    peer.sign_as("p");
    peer.on("/a", [this](const Request& request) { return answer(request); });
    json settings = with_neighbour("p", peer.port(), home_b.path());
    settings.merge_patch(more);
    asking.emplace(settings);
    EXPECT_TRUE(await([&] { return books().at("state") == "usable"; }));
  }
  json books() const { return asking->digest_peer("p"); }
  Response ask_for(const std::string& range, Fields fields = {}) {
    Client client(asking->port());
    if (!range.empty()) fields.emplace_back("Range", "bytes=" + range);
    return client.get(origin.url("/a"), fields);
  }
  std::vector<std::string> asked_of_peer() const {
    std::vector<std::string> ranges;
    for (const auto& request : peer.requests("/a")) ranges.push_back(request.field("Range"));
    return ranges;
  }
  // Stores a range from the origin alone.
  void hold(const std::string& range) {
    ask_for(range, {{"Cache-Control", "no-cache"}});
    EXPECT_EQ(peer.count("/a"), 0U);
  }

  ScriptedOrigin peer;
  TemporaryDirectory home_b;
  std::optional<ProxyProcess> asking;
};

}  // namespace scenario
