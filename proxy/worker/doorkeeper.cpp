#include "proxy/worker/doorkeeper.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "proxy/worker/worker.hpp"

namespace proxy {

void Doorkeeper::make_room(const Newcomer& newcomer) {
  const auto now = Clock::now();
  if (now < asked_ + kPause) return;
  asked_ = now;
  if (close_some(newcomer) == Closed::yes) return;
  const auto& everywhere = worker_.process.on_each_worker;
  if (!everywhere) return;
  // The first thread that has a connection to close closes it; two threads at a time may.
  const auto done = std::make_shared<std::atomic<bool>>(false);
  everywhere([newcomer, done](Worker& worker) {
    if (*done) return;
    if (worker.doorkeeper.close_some(newcomer) == Closed::yes) *done = true;
  });
}

void Doorkeeper::free_descriptors() {
  worker_.process.warnings.warn(Shortage::descriptors);
  const auto& everywhere = worker_.process.on_each_worker;
  worker_.outgoing.pool.clear();
  if (everywhere && Clock::now() >= asked_ + kPause) {
    everywhere([](Worker& worker) { worker.outgoing.pool.clear(); });
  }
  make_room({.place = Newcomer::Place::others});
}

Doorkeeper::Closed Doorkeeper::close_some(const Newcomer& newcomer) {
  const auto now = Clock::now();
  if (now < looked_ + kPause) return Closed::no;
  looked_ = now;
  std::vector<SessionList::Item*> items;
  std::vector<Waiting> waiting;
  for (auto& item : worker_.sessions.items()) {
    const auto waits = item.waits();
    if (!waits) continue;
    items.push_back(&item);
    waiting.push_back(*waits);
  }
  const auto chosen = whom_to_close(waiting, newcomer);
  for (const auto index : chosen) items[index]->cut(Cut::crowded);
  return chosen.empty() ? Closed::no : Closed::yes;
}

}  // namespace proxy
