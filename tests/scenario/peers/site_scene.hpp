// A site of three Hearsays.
#pragma once

#include <deque>
#include <thread>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {

inline const Fields kStored{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};

// Hearsays "0", "1", "2" that are neighbours of each other, and their origin.
struct Site {
  static constexpr std::size_t kMembers = 3;

  explicit Site(const json& settings = json::object()) {
    for (std::size_t self = 0; self < kMembers; ++self) {
      json all = settings;
      all["name"] = std::to_string(self);
      all["peers"] = json::array();
      for (std::size_t i = 0; i < kMembers; ++i) {
        if (i == self) continue;
        const auto peer = with_peer(std::to_string(i), listeners[i].port());
        all["peers"].push_back(peer.at("peers")[0]);
      }
      if (settings.contains("cache")) all["cache"]["disk"]["path"] = home / std::to_string(self);
      members.emplace_back(all, listeners[self]);
    }
    if (!await([this] { return is_complete(); })) throw TimedOut("a digest is not used");
  }

  bool is_complete() const {
    for (const auto& member : members) {
      for (const json& peer : member.digest().at("peers")) {
        if (peer.at("state") != "usable") return false;
      }
    }
    return true;
  }
  std::string epoch_of(std::size_t member) const { return members[member].digest().at("epoch"); }
  double questions(std::size_t member) const {
    return members[member].metric("hearsay_requests_total{result=\"site_question\"}");
  }
  // How many responses neighbours have given that had claimed nothing.
  double given_unclaimed() const {
    double given = 0;
    for (const auto& member : members) {
      for (const char* peer : {"0", "1", "2"}) {
        given +=
            member.metric("hearsay_peer_unclaimed_hits_total{peer=\"" + std::string(peer) + "\"}");
      }
    }
    return given;
  }
  // What a member answers to the question of another that nobody claims. `from`: the last byte of
  // the asker's address, 1 that of the members.
  Response told(std::size_t member, const std::string& path, const std::string& asker,
                std::uint8_t from = 1) const {
    const Fields fields{{"Cache-Control", "only-if-cached"}, {"Hearsay-Fetch", asker}};
    return Client(members[member].port(), from).get(origin.url(path), fields);
  }

  // All members' clients ask for the path at once.
  std::vector<Response> ask_all(const std::string& path) const {
    std::vector<Response> answers(kMembers);
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < kMembers; ++i) {
      clients.emplace_back(
          [&, i] { answers[i] = Client(members[i].port()).get(origin.url(path)); });
    }
    clients.clear();
    return answers;
  }

  support::TemporaryDirectory home;
  ScriptedOrigin origin;
  std::deque<Listener> listeners{kMembers};
  std::deque<ProxyProcess> members;
};

}  // namespace scenario
