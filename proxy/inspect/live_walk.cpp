#include "proxy/inspect/live_walk.hpp"

#include <algorithm>
#include <span>

#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {

namespace disk = cache::disk;

bool LiveWalk::step(cache::Time now, const Visit& visit) {
  if (visit_memory(now, visit)) return true;
  return live_.disk && visit_disk(now, visit);
}

bool LiveWalk::visit_memory(cache::Time now, const Visit& visit) {
  constexpr std::size_t kAtOnce = 128;
  if (keys_.empty()) {
    if (shard_ == cache::Store::kShards) return false;
    live_.memory.list(shard_++, keys_);
    return true;
  }
  const auto some = std::span(keys_).last(std::min(keys_.size(), kAtOnce));
  std::vector<cache::Store::Response> held;
  live_.memory.look(shard_ - 1, some, held);
  keys_.resize(keys_.size() - some.size());
  for (const auto& one : held) {
    const bool is_block = one.entry->head().empty();
    if (is_block || !wanted_(one.entry->url()) || relations_.on_disk(one)) continue;
    auto facts = facts_of(*one.entry, relations_.stored_blocks(one.key, *one.entry), now);
    facts.hits = one.hits;
    visit(facts, one.entry->url());
  }
  return true;
}

bool LiveWalk::visit_disk(cache::Time now, const Visit& visit) {
  if (!walk_) walk_.emplace(live_.disk->disk().catalog().index, is_response);
  const auto step = walk_->next();
  if (!step) return false;
  const auto stored = live_.disk->disk().open(step->key, step->place, disk::Wait::yes);
  if (!stored) {
    unreadable_ += stored.error() == disk::Error::gone ? 0 : 1;
    return true;
  }
  const auto url = stored->url();
  if (!wanted_(url) || !live_.disk->disk().holds(step->key, url, step->place.at)) return true;
  auto facts = facts_of(*stored, relations_, now);
  if (!facts) return true;
  add_uses(*facts, live_, url, *step);
  visit(*facts, url);
  return true;
}

}  // namespace proxy::inspect
