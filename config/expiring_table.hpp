// Values by key, each kept until a time.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace config {

// Bounded: forgets the value first whose time is over first; of two with one time, the value that
// was put first. Not thread-safe.
template <class Key, class Value, class Hash = std::hash<Key>>
class ExpiringTable : boost::noncopyable {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ExpiringTable(std::size_t capacity) : capacity_(capacity) {}

  // Finds the key's value. Null: there is none, or its time is over. Valid until the next put().
  template <class Name>
  [[nodiscard]] const Value* find(const Name& key, Clock::time_point now) const {
    if (!last_ || last_->first != key) {
      const auto found = kept_.find(key);
      if (found == kept_.end()) return nullptr;
      last_ = &*found;
    }
    const auto& kept = last_->second;
    return now < kept.place->first ? &kept.value : nullptr;
  }

  // Replaces the key's value, if it has one. The new value may be the one that is forgotten.
  void put(const Key& key, Value value, Clock::time_point until) {
    if (const auto known = kept_.find(key); known != kept_.end()) {
      auto& kept = known->second;
      kept.value = std::move(value);
      auto place = order_.extract(kept.place);
      place.key() = until;
      kept.place = order_.insert(std::move(place));
      return;
    }
    // The place first: where no memory is left for the entry, it is taken back.
    const auto place = order_.emplace(until, nullptr);
    try {
      place->second = &kept_.emplace(key, Kept{std::move(value), place}).first->first;
    } catch (...) {
      order_.erase(place);
      throw;
    }
    if (kept_.size() > capacity_) remove_first();
  }

  // Whether another key has a place without the loss of one whose time is not over.
  [[nodiscard]] bool make_room(Clock::time_point now) {
    while (kept_.size() >= capacity_ && order_.begin()->first <= now) remove_first();
    return kept_.size() < capacity_;
  }

  // The values whose time is not over, the next to be forgotten first.
  [[nodiscard]] std::vector<Value> values(Clock::time_point now) const {
    std::vector<Value> all;
    for (auto place = order_.upper_bound(now); place != order_.end(); ++place)
      all.push_back(kept_.find(*place->second)->second.value);
    return all;
  }

  void clear() {
    last_ = nullptr;
    kept_.clear();
    order_.clear();
  }

 private:
  using Order = std::multimap<Clock::time_point, const Key*>;  // by the end of their time
  struct Kept {
    Value value;
    typename Order::iterator place;
  };
  using All = std::unordered_map<Key, Kept, Hash, std::equal_to<>>;

  void remove_first() {
    last_ = nullptr;
    kept_.erase(kept_.find(*order_.begin()->second));
    order_.erase(order_.begin());
  }

  const std::size_t capacity_;
  All kept_;
  Order order_;
  // The last value that find() found, since the next call mostly looks for the same key.
  mutable const typename All::value_type* last_ = nullptr;
};

}  // namespace config
