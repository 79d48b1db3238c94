// The whole proxy in process: one thread, no listener, no control thread.
#pragma once

#include <filesystem>
#include <string>

#include "peers/poll.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/server/worker.hpp"
#include "proxy/tiers/store_holdings.hpp"
#include "tests/fuzz/proxy/script.hpp"
#include "tests/fuzz/proxy/system.hpp"

namespace fuzz {

inline constexpr const char* kNeighbours[] = {"10.9.0.2", "10.9.0.3"};  // b and c
inline constexpr const char* kName = "cache-a";

// Made and used within a System.
class World {
 public:
  // `disk`: the directory of the cache; empty: none.
  World(const Script& script, const std::filesystem::path& disk);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Serves a client's connection; takes the descriptor over.
  void serve(int near);
  // Runs until nothing is ready, the disk included. Returns whether anything was.
  bool run();
  // What the control thread does now and then: publishes our digest, and looks at the disk.
  void look_around();
  // Neighbour b has answered a poll.
  void hear_poll(std::string_view text);

  const proxy::policy::Policy& policy() const { return *policy_; }
  bool has_connections() const { return !worker_.crowd.sessions.empty(); }
  // Bytes of bodies that are passed on unstored.
  std::uint64_t in_transit() const { return storage_.transit.used(); }

 private:
  void claim_everything();

  const proxy::policy::PinnedPolicy policy_;
  const std::vector<proxy::net::tcp::endpoint> listening_;
  proxy::machine::Clock clock_;
  proxy::server::Storage storage_;
  proxy::tiers::StoreHoldings holdings_;
  peers::Publisher publisher_;
  proxy::server::Loop aside_;
  proxy::server::Shared shared_;
  proxy::server::Worker worker_;
  peers::PollReport heard_;  // of b
};

}  // namespace fuzz
