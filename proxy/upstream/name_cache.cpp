#include "proxy/upstream/name_cache.hpp"

#include <utility>

namespace proxy::upstream {

const NameCache::Answer* NameCache::find(std::string_view name, Clock::time_point now) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || found->second->until <= now) return nullptr;
  return &found->second->answer;
}

void NameCache::put(std::string name, Answer answer, Clock::time_point until) {
  if (const auto known = by_name_.find(name); known != by_name_.end()) erase(known->second);
  const auto entry =
      entries_.insert(entries_.end(), Entry{std::move(name), std::move(answer), until});
  by_name_.emplace(entry->name, entry);
  if (entries_.size() > capacity_) erase(entries_.begin());
}

void NameCache::erase(Entries::iterator entry) {
  by_name_.erase(entry->name);
  entries_.erase(entry);
}

}  // namespace proxy::upstream
