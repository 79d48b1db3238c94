#include "proxy/worker/doorkeeper.hpp"

#include <vector>

#include "proxy/worker/worker.hpp"

namespace proxy {

void Doorkeeper::make_room(const Newcomer& newcomer) {
  const auto now = Clock::now();
  if (now < asked_ + kPause) return;
  asked_ = now;
  const auto& everywhere = worker_.process.on_each_worker;
  if (!everywhere) return close_some(newcomer);
  everywhere([newcomer](Worker& worker) { worker.doorkeeper.close_some(newcomer); });
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

void Doorkeeper::close_some(const Newcomer& newcomer) {
  const auto now = Clock::now();
  if (now < looked_ + kPause) return;
  looked_ = now;
  std::vector<SessionList::Item*> items;
  std::vector<Waiting> waiting;
  for (auto& item : worker_.sessions.items()) {
    const auto waits = item.waits();
    if (!waits) continue;
    items.push_back(&item);
    waiting.push_back(*waits);
  }
  for (const auto index : whom_to_close(waiting, newcomer)) items[index]->cut(Cut::crowded);
}

}  // namespace proxy
