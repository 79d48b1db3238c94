// Plays one script to its end.
#pragma once

#include <deque>
#include <optional>

#include "tests/fuzz/proxy/ends.hpp"
#include "tests/fuzz/proxy/script.hpp"
#include "tests/fuzz/proxy/world.hpp"
#include "tests/support/temporary_directory.hpp"

namespace fuzz {

class Play {
 public:
  explicit Play(const Script& script);

  // Aborts if the proxy breaks a promise.
  void run();

 private:
  void act(const Step& step);
  void begin_world();
  // Runs proxy and ends until nothing moves.
  void settle();
  void connect_client();
  void answer(const Step& step);
  // All ends leave, in an orderly way, and the time-outs pass.
  void end_connections();

  const Script& script_;
  std::optional<support::TemporaryDirectory> disk_;
  System system_;
  std::deque<ClientEnd> clients_;
  std::deque<ServerEnd> servers_;
  ServerEnd* answered_last_[2] = {nullptr, nullptr};  // an origin's, a neighbour's
  std::optional<World> world_;
};

}  // namespace fuzz
