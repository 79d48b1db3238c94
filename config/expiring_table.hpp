// Values by key, each kept until a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace config {

// Bounded: forgets the key first that was put first. A key that is put again counts as new. Not
// thread-safe.
template <class Key, class Value, class Hash = std::hash<Key>>
class ExpiringTable {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ExpiringTable(std::size_t capacity) : capacity_(capacity) {}
  ExpiringTable(const ExpiringTable&) = delete;
  ExpiringTable& operator=(const ExpiringTable&) = delete;

  // Null: there is no value, or its time is over. Valid until the next put().
  template <class Name>
  [[nodiscard]] const Value* find(const Name& key, Clock::time_point now) const {
    if (!last_ || last_->first != key) {
      const auto found = kept_.find(key);
      if (found == kept_.end()) return nullptr;
      last_ = &*found;
    }
    return now < last_->second.until ? &last_->second.value : nullptr;
  }

  void put(const Key& key, Value value, Clock::time_point until) {
    if (const auto known = kept_.find(key); known != kept_.end()) {
      auto& kept = known->second;
      kept.value = std::move(value);
      kept.until = until;
      order_.splice(order_.end(), order_, kept.place);
      return;
    }
    // The place first: where no memory is left for the entry, it is taken back.
    const auto place = order_.insert(order_.end(), nullptr);
    try {
      *place = &kept_.emplace(key, Kept{std::move(value), until, place}).first->first;
    } catch (...) {
      order_.erase(place);
      throw;
    }
    if (kept_.size() <= capacity_) return;
    last_ = nullptr;
    kept_.erase(kept_.find(*order_.front()));
    order_.pop_front();
  }

 private:
  using Order = std::list<const Key*>;
  struct Kept {
    Value value;
    Clock::time_point until;
    typename Order::iterator place;
  };
  using All = std::unordered_map<Key, Kept, Hash, std::equal_to<>>;

  const std::size_t capacity_;
  All kept_;
  Order order_;  // the oldest first
  // What find() has found; mostly, the next call wants it, too.
  mutable const typename All::value_type* last_ = nullptr;
};

}  // namespace config
