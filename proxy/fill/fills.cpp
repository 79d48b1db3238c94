#include "proxy/fill/fills.hpp"

#include <algorithm>

namespace proxy::fill {

Fills::Entered Fills::enter(const digest::Key& key, const std::string& url, const FillPlace& place,
                            Time now, const Fill* unfit) {
  // Made before the lock is taken, though a request that joins has no use for it: no other request
  // shall wait for the allocator.
  auto fill = net::make_shared_in_frames<Fill>(url, place);
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  if (shard.unshared.holds(key, now)) return {fill, Turn::alone};
  const auto [listed, is_new] = shard.fills.try_emplace(key, fill);
  if (is_new || listed->second.get() == unfit) {
    listed->second = fill;
    fill->record_listed();
    return {std::move(fill), Turn::first};
  }
  if (listed->second->url() != url) return {std::move(fill), Turn::alone};  // the keys collide
  return {listed->second, Turn::join};
}

std::shared_ptr<Fill> Fills::under_way(const digest::Key& key, const std::string& url, Time now) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  if (shard.unshared.holds(key, now)) return nullptr;
  const auto listed = shard.fills.find(key);
  const bool is_it = listed != shard.fills.end() && listed->second->url() == url;
  return is_it ? listed->second : nullptr;
}

std::shared_ptr<Fill> Fills::begin_refresh(const digest::Key& key, const std::string& url,
                                           const FillPlace& place) {
  auto fill = net::make_shared_in_frames<Fill>(url, place);
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  // A fill under way renews the entry as well as a refresh does.
  if (shard.refreshing.size() >= kMostRefreshes || shard.fills.contains(key)) return nullptr;
  if (!shard.refreshing.insert(key).second) return nullptr;
  shard.fills.emplace(key, fill);
  fill->record_listed();
  return fill;
}

void Fills::end_refresh(const digest::Key& key) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  shard.refreshing.erase(key);
}

void Fills::leave(const digest::Key& key, const Fill& fill) {
  if (!fill.was_listed()) return;
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  shard.delist(key, fill);
}

void Fills::leave_unshared(const digest::Key& key, const Fill& fill, Time now) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  shard.delist(key, fill);
  shard.unshared.remember(key, now + kNotShared);
}

void Fills::Shard::delist(const digest::Key& key, const Fill& fill) {
  const auto listed = fills.find(key);
  if (listed != fills.end() && listed->second.get() == &fill) fills.erase(listed);
}

void Fills::record_unshared(const digest::Key& key, Time now) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  shard.unshared.remember(key, now + kNotShared);
}

bool Fills::recently_unshared(const digest::Key& key, Time now) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  return shard.unshared.holds(key, now);
}

void Fills::invalidate(const digest::Key& key, Time now) {
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  // Under one lock with the list: a fill that is listed later has begun after the change.
  shard.invalidated.remember(key, now + kInvalidated);
  shard.fills.erase(key);
}

void Fills::clear() {
  for (auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    shard.fills.clear();
  }
}

// The purge is remembered before fills are delisted. So a fill that is listed after its shard was
// searched has begun after the purge was remembered.
void Fills::invalidate(const cache::PurgePattern& purge, Time now) {
  {
    const threads::MutexLock lock(purges_mutex_);
    purges_.remember(purge, now);
    // Threads may arrive here in another order than that of their times.
    last_purge_ = std::max(last_purge_.load(), now);
  }
  for (auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    std::erase_if(shard.fills, [&](const auto& fill) { return purge.covers(fill.second->url()); });
  }
}

bool Fills::recently_invalidated(const digest::Key& key, std::string_view name, Time now) {
  if (purged(name, now - kInvalidated + Time::duration(1), 0)) return true;
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  return shard.invalidated.may_hold(key, now);
}

bool Fills::outdated(const digest::Key& key, std::string_view name, Time asked,
                     cache::GiverTag giver) {
  if (purged(name, asked, giver)) return true;
  auto& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  // A change at a time t is remembered until t + kInvalidated.
  return shard.invalidated.may_hold(key, asked + kInvalidated - Time::duration(1));
}

bool Fills::purged(std::string_view name, Time since, cache::GiverTag giver) {
  // Asked for each response that is stored: mostly there was no purge, and no lock is needed.
  if (last_purge_.load() < since) return false;
  const threads::MutexLock lock(purges_mutex_);
  return purges_.may_cover(name, since, giver);
}

}  // namespace proxy::fill
