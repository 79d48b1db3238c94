#include "proxy/crowd/doorkeeper.hpp"

#include <utility>
#include <vector>

#include "proxy/crowd/crowd.hpp"

namespace proxy::crowd {

void Doorkeeper::make_room(Newcomer newcomer, Time now) {
  if (now < asked_ + kPause) return;
  const bool in_a_row = now < std::exchange(asked_, now) + kInARow;
  const auto closed = std::make_shared<std::atomic<bool>>(false);
  const auto useful = std::make_shared<std::atomic<bool>>(false);
  if (newcomer.shortage == Newcomer::Shortage::others) {
    in_vain_ = in_a_row && useful_ && !*useful_ ? in_vain_ + 1 : 0;
    useful_ = useful;
    if (in_vain_ < kInVain) newcomer.spared_below = half_of_most(now);
  }
  // The first thread that has a connection to close closes it; two threads at a time may.
  // A thread that has just looked on behalf of another newcomer may have some later.
  const auto close = [newcomer, closed, useful](CrowdOfThread& crowd) {
    if (*closed) return;
    const auto result = crowd.doorkeeper.close_some(newcomer);
    if (result == Closed::yes) *closed = true;
    if (result != Closed::no) *useful = true;
  };
  close(crowd_);
  const auto& everywhere = crowd_.all.on_each_thread;
  if (!*closed && everywhere) everywhere(close);
}

std::size_t Doorkeeper::half_of_most(Time now) {
  // The count looks at every client, and a crowd of newcomers would pay for it each time.
  if (now < counted_ + kCounted) return half_of_most_;
  counted_ = now;
  half_of_most_ = crowd_.all.clients.most_of_one(&ClientShare::connections) / 2;
  return half_of_most_;
}

void Doorkeeper::free_descriptors(Time now) {
  crowd_.all.warnings.warn(Shortage::descriptors, now);
  const auto& everywhere = crowd_.all.on_each_thread;
  // First what costs nobody more than a handshake later.
  pool_.clear();
  if (everywhere && now >= asked_ + kPause) {
    everywhere([](CrowdOfThread& crowd) { crowd.doorkeeper.pool_.clear(); });
  }
  make_room({.shortage = Newcomer::Shortage::others}, now);
}

// Reads the clock itself: on another thread it runs some time after it was asked for, and what has
// piled up meanwhile is one search.
Doorkeeper::Closed Doorkeeper::close_some(const Newcomer& newcomer) {
  const auto now = clock_.steady();
  if (now < looked_ + kPause) return Closed::not_looked;
  looked_ = now;
  std::vector<SessionList::Item*> items;
  std::vector<WaitingConnection> waiting;
  for (auto& item : crowd_.sessions.items()) {
    const auto waits = item.waits();
    if (!waits) continue;
    items.push_back(&item);
    waiting.push_back(*waits);
  }
  const auto chosen = whom_to_close(waiting, newcomer);
  for (const auto index : chosen) items[index]->cut(observe::Cut::crowded);
  return chosen.empty() ? Closed::no : Closed::yes;
}

}  // namespace proxy::crowd
