// Our digest for neighbours, and the exchange that polls theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "peers/exchange.hpp"
#include "peers/publisher.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/pages/waiting_clients.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/tiers/store_holdings.hpp"
#include "proxy/upstream/name_health.hpp"

namespace proxy::server {

// The first follow() starts the control thread, on which all periodic work is done: it publishes
// our digest, polls the neighbours, and writes to the log what became of disk and neighbours. For
// the main thread.
class Neighbourhood {
 public:
  // `storage` and `clock` outlive this object. The control thread calls `changed` when a neighbour
  // went down or is back.
  Neighbourhood(Storage& storage, const config::DigestSettings& settings, machine::Clock& clock,
                std::function<void()> changed);

  // The publisher of our digest.
  [[nodiscard]] peers::Publisher& publisher() { return publisher_; }

  // From now on polls the policy's neighbours, and makes our digest by the policy's settings. If
  // neither the neighbours nor these settings changed, the control thread goes on; otherwise it is
  // stopped, and another one is started. `polls`: the polls of neighbours that wait here for a
  // change of our digest, which wakes them. `polls` and `names` outlive this object.
  void follow(const policy::Policy& policy, pages::WaitingClients& polls,
              const upstream::NameHealth& names);
  // Stops the control thread.
  void stop();
  // How many turns the control thread has taken; nothing while there is none. Any thread.
  [[nodiscard]] std::optional<std::uint64_t> turns() const;

 private:
  void tick(const peers::PeerDirectory& neighbours, pages::WaitingClients& polls,
            const upstream::NameHealth& names);

  Storage& storage_;
  machine::Clock& clock_;
  const std::function<void()> changed_;
  tiers::StoreHoldings holdings_;
  peers::Publisher publisher_;
  observe::PeerWatch watch_;
  config::DigestSettings settings_;
  std::shared_ptr<peers::PeerDirectory> polled_;
  std::atomic<bool> has_thread_ = false;
  std::atomic<std::uint64_t> turns_ = 0;
  std::optional<peers::Exchange> exchange_;
};

}  // namespace proxy::server
