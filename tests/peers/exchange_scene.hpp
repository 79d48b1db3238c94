// An exchange with scripted neighbours.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "peers/exchange.hpp"
#include "tests/peers/samples.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scripted_origin.hpp"

namespace peers {

using namespace std::chrono_literals;
using samples::body_of;
using samples::delta_of;
using samples::digest_of;
using samples::key;
using samples::native_of;
using support::Fields;
using support::Gate;
using support::Reply;

inline const auto now = std::chrono::steady_clock::now;

inline const Fields kHearsay{{"Server", "Hearsay/0.1.0"}, {"ETag", "\"00000000000000ab-5\""}};
inline const Fields kSquid{{"Server", "squid/5.7"},
                           {"Date", "Tue, 14 Nov 2023 22:13:20 GMT"},
                           {"Expires", "Tue, 14 Nov 2023 23:13:20 GMT"},
                           {"Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT"}};

inline Reply answer(const Fields& fields, std::string body) {
  return Reply(200, fields).body(std::move(body));
}

inline Reply good() {
  return answer(kHearsay, body_of(native_of({"x"})));
}

inline Reply unchanged() {
  return Reply(304, {{"Server", "Hearsay/0.1.0"}});
}

// A neighbour that answers its requests by their number, from 0.
struct ScriptedPeer : support::ScriptedOrigin {
  using Script = std::function<Reply(std::size_t number)>;

  explicit ScriptedPeer(Script script) {
    otherwise([this, script = std::move(script)](const auto&) { return script(count() - 1); });
  }
  explicit ScriptedPeer(const Reply& always)
      : ScriptedPeer([always](std::size_t) { return always; }) {}
};

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() {
    settings_.period = 5ms;
    settings_.poll = 20ms;
    setenv("http_proxy", "http://127.0.0.1:1", 1);  // must be ignored
  }

  void start(std::vector<config::PeerSettings> peers, PollLimits limits = {}) {
    directory_.emplace(peers);
    auto needs = this->needs([this] { beat(); });
    needs.limits = limits;
    needs.names_us = [this](Epoch epoch) { return epoch == our_epoch_; };
    exchange_.emplace(std::move(needs));
  }
  void start(const ScriptedPeer& peer, PollLimits limits = {}) {
    start({samples::peer("b", peer.port())}, limits);
  }

  Exchange::Needs needs(std::function<void()> tick) {
    return {.directory = *directory_,
            .settings = settings_,
            .agent = "Hearsay/test",
            .tick = std::move(tick),
            .now = now,
            .random = digest::unpredictable()};
  }

  void beat() {
    const std::lock_guard lock(mutex_);
    ++beats_;
    changed_.notify_all();
  }
  // Tests the condition again at each tick of the exchange.
  template <class Condition>
  [[nodiscard]] bool reached(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, condition);
  }
  [[nodiscard]] bool beats_pass(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&, target = beats_ + count] { return beats_ >= target; });
  }

  PeerStatus status(std::size_t id = 0) const { return directory_->status(now())[id]; }
  bool claims(const char* name) const { return !directory_->claimants(key(name), now()).empty(); }

  config::DigestSettings settings_;
  Epoch our_epoch_ = 1;
  std::optional<PeerDirectory> directory_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int beats_ = 0;

 protected:
  std::optional<Exchange> exchange_;
};

}  // namespace peers
