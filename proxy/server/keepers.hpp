// Which of the responses stored here a neighbour keeps, too.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "peers/directory.hpp"
#include "peers/publisher.hpp"
#include "peers/snapshot.hpp"

namespace proxy {

// The cache asks this before it evicts. The neighbours change with the settings.
class Keepers {
 public:
  // `publisher`: of our digest; outlives the threads that ask. One thread at a time.
  void follow(std::shared_ptr<const peers::PeerDirectory> directory,
              const peers::Publisher& publisher) {
    known_.replace(std::make_unique<const Known>(Known{std::move(directory), &publisher}));
  }

  // See PeerDirectory::is_kept_elsewhere(). Any thread, never waits.
  bool elsewhere(const digest::Claim& claim) const {
    return known_.read([&claim](const Known& known) {
      return known.directory &&
             known.directory->is_kept_elsewhere(claim.key, known.publisher->epoch(),
                                                std::chrono::steady_clock::now(), claim.rule);
    });
  }

 private:
  struct Known {
    std::shared_ptr<const peers::PeerDirectory> directory;  // null: no neighbours yet
    const peers::Publisher* publisher = nullptr;
  };

  peers::Snapshot<Known> known_{std::make_unique<const Known>()};
};

}  // namespace proxy
