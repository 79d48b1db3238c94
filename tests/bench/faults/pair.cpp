#include "tests/bench/faults/pair.hpp"

#include <csignal>
#include <stdexcept>

#include "tests/support/await.hpp"

namespace bench {

using support::json;

namespace {

constexpr std::size_t kHolder = 0;
constexpr std::size_t kAsker = 1;
constexpr std::chrono::seconds kLongest{60};  // that a digest takes

}  // namespace

Pair::Pair(bool disk, bool mutual, const std::string& memory)
    : mutual_(mutual), memory_(memory), disks_(disk ? 2 : 0) {
  start_holder();
  const json peers = json::array({peer("holder", at_holder_.port())});
  asker_ = std::make_unique<support::ProxyProcess>(with_disk(mesh_settings("asker", peers), kAsker),
                                                   at_asker_);
  await_claims(0);
}

json Pair::with_disk(json settings, std::size_t which) const {
  if (!disks_.empty()) {
    settings["cache"]["disk"] = {{"path", disks_[which].path()}, {"size", "2GiB"}};
  }
  return settings;
}

void Pair::kill_holder() {
  holder_->process().signal(SIGKILL);
  holder_->process().wait();
  holder_.reset();
}

void Pair::start_holder() {
  if (holder_) return;
  const json peers = mutual_ ? json::array({peer("asker", at_asker_.port())}) : json::array();
  json settings = with_disk(mesh_settings("holder", peers), kHolder);
  settings["listen"] = {"127.0.0.1:" + std::to_string(at_holder_.port())};
  settings["cache"]["memory"] = memory_;
  holder_ = std::make_unique<support::ProxyProcess>(settings);
}

void Pair::await_claims(std::size_t least) const {
  const auto are_known = [this, least] {
    const json peer = books();
    const auto state = peer.at("state");
    const bool counts = state == "usable" || state == "trying" || state == "down";
    return counts && peer.at("entries") >= least &&
           peer.at("entries") == holder_->digest().at("entries");
  };
  if (!support::await(are_known, kLongest)) {
    throw std::runtime_error("the neighbour's digest is not used: " + books().dump() +
                             holder_->digest().dump());
  }
}

}  // namespace bench
