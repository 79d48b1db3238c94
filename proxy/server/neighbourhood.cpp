#include "proxy/server/neighbourhood.hpp"

#include <string>
#include <utility>

#include "proxy/version.hpp"

namespace proxy::server {
namespace {

// To list so many takes 20 ms, for which a start does not wait.
constexpr std::size_t kMany = 100'000;

tiers::StoreHoldings::FirstList first_list(const Storage& storage) {
  using First = tiers::StoreHoldings::FirstList;
  return storage.entries_on_disk() > kMany ? First::put_off : First::at_once;
}

}  // namespace

Neighbourhood::Neighbourhood(Storage& storage, const config::DigestSettings& settings,
                             machine::Clock& clock, std::function<void()> changed)
    : storage_(storage),
      clock_(clock),
      changed_(std::move(changed)),
      holdings_(storage.store, first_list(storage)),
      publisher_(holdings_, settings, clock.now(), digest::unpredictable()),
      settings_(settings) {}

void Neighbourhood::follow(const policy::Policy& policy, pages::WaitingClients& polls,
                           const upstream::NameHealth& names) {
  const auto& settings = policy.settings.digest;
  if (exchange_ && policy.directory == polled_ && settings == settings_) return;
  exchange_.reset();
  settings_ = settings;
  polled_ = policy.directory;
  // Between two control threads: while none runs, nobody else touches the publisher.
  publisher_.follow(settings, clock_.now());
  polls.wake_all();
  exchange_.emplace(peers::Exchange::Needs{
      .directory = *polled_,
      .settings = settings,
      .agent = std::string(kProduct),
      .tick = [this, &polls, &names, neighbours = polled_] { tick(*neighbours, polls, names); },
      .now = [this] { return clock_.steady(); },
      .random = digest::unpredictable(),
      .hurry = &storage_.newly_claimed,
      .turns = &turns_,
      .names_us = [this](peers::Epoch epoch) { return publisher_.names_us(epoch); }});
  has_thread_ = true;
}

void Neighbourhood::stop() {
  exchange_.reset();
  has_thread_ = false;
}

std::optional<std::uint64_t> Neighbourhood::turns() const {
  return has_thread_ ? std::optional(turns_.load(std::memory_order_relaxed)) : std::nullopt;
}

// After a quiet period the first key that we may claim is told at once: the alarm is set while
// nothing changes. What is stored during a tick must not bring on the next one, or ticks would
// follow each other without a pause while much is stored.
void Neighbourhood::tick(const peers::PeerDirectory& neighbours, pages::WaitingClients& polls,
                         const upstream::NameHealth& names) {
  const bool changed = publisher_.tick(clock_.now());
  changed ? storage_.newly_claimed.unset() : storage_.newly_claimed.set();
  if (changed) polls.wake_all();
  const auto now = clock_.steady();
  storage_.watch.look(now);
  if (watch_.look(neighbours.status(now), names, now)) changed_();
}

}  // namespace proxy::server
