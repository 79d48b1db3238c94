// Two real neighbours on loopback, of which one can be killed and started again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "tests/bench/faults/full_mesh.hpp"
#include "tests/support/temporary_directory.hpp"

namespace bench {

// "asker" has the neighbour "holder".
class Pair {
 public:
  // `disk`: both have one. `mutual`: the holder has the asker as a neighbour, too; else it fetches
  // by itself. `memory`: of the holder.
  Pair(bool disk, bool mutual, const std::string& memory = "1GiB");

  const support::ProxyProcess& asker() const { return *asker_; }
  const support::ProxyProcess& holder() const { return *holder_; }

  // Ends the holder by SIGKILL. Its port refuses connections until it is started again.
  void kill_holder();
  // Starts the holder, with its disk, unless it runs.
  void start_holder();
  // Waits until the asker uses a digest with as many entries as the holder has now, and not fewer
  // than `least`. Throws if that takes too long.
  void await_claims(std::size_t least) const;
  // The asker's record of the holder, as in /digest.
  support::json books() const { return asker_->digest_peer("holder"); }

 private:
  support::json with_disk(support::json settings, std::size_t which) const;

  const bool mutual_;
  const std::string memory_;
  support::ReservedPort at_holder_;
  support::Listener at_asker_;
  std::deque<support::TemporaryDirectory> disks_;
  std::unique_ptr<support::ProxyProcess> holder_;
  std::unique_ptr<support::ProxyProcess> asker_;
};

}  // namespace bench
