#include "proxy/pages/waiting_clients.hpp"

#include <algorithm>
#include <utility>

namespace proxy::pages {

WaitingClients::Waiting::Waiting(WaitingClients& all, const config::Address& from, Rank rank,
                                 net::Executor executor)
    : all_(all), from_(from), rank_(rank), wakeup_(executor), has_place_(all.admit(*this)) {}

WaitingClients::Waiting::~Waiting() {
  if (!has_place_) return;
  const threads::MutexLock lock(all_.mutex_);
  std::erase(all_.clients_, this);
}

net::Task<WaitingClients::News> WaitingClients::Waiting::next(std::chrono::milliseconds at_most) {
  co_await wakeup_.wait(at_most);
  const threads::MutexLock lock(all_.mutex_);
  // Taken out: a wake-up for another reason must not send the same news again.
  co_return std::exchange(news_, nullptr);
}

void WaitingClients::tell(const News& to_admins, const News& to_others) {
  const threads::MutexLock lock(mutex_);
  for (Waiting* client : clients_) {
    // What was not read yet is replaced: a slow dashboard shows the latest state, not a backlog.
    client->news_ = client->rank_ == Rank::admin ? to_admins : to_others;
    client->wakeup_.notify();
  }
}

void WaitingClients::wake_all() {
  const threads::MutexLock lock(mutex_);
  for (Waiting* client : clients_) client->wakeup_.notify();
}

std::size_t WaitingClients::count() const {
  const threads::MutexLock lock(mutex_);
  return clients_.size();
}

bool WaitingClients::any_admin() const {
  const threads::MutexLock lock(mutex_);
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const Waiting* client) { return client->rank_ == Rank::admin; });
}

bool WaitingClients::admit(Waiting& client) {
  const threads::MutexLock lock(mutex_);
  std::size_t others = 0, of_address = 0;
  for (const Waiting* one : clients_) {
    if (one->rank_ == Rank::admin) continue;
    ++others;
    if (one->from_ == client.from_) ++of_address;
  }
  // The limits for others leave admins alone: without that, a few dashboards that stay open
  // elsewhere would lock out whoever is to find out why.
  const bool is_one_too_many = others >= limits_.others || of_address >= limits_.of_one_address;
  if (clients_.size() >= limits_.all || (client.rank_ != Rank::admin && is_one_too_many))
    return false;
  clients_.push_back(&client);
  return true;
}

}  // namespace proxy::pages
