#include <utility>
#include <vector>

#include "proxy/cache/disk/catalog/walk.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/live_relations.hpp"
#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

class LiveList final : public Slices {
 public:
  LiveList(const Live& live, std::string prefix)
      : live_(live), relations_(live_), prefix_(std::move(prefix)) {}

  bool next(cache::Time now, std::string& out) override {
    const SliceLimit limit(out);
    while (!limit.reached()) {
      if (list_memory(now, out)) continue;
      if (live_.disk && list_disk(now, out)) continue;
      if (unreadable_ > 0) append(out, Report().add("unreadable", unreadable_));
      return false;
    }
    return true;
  }

 private:
  bool wants(std::string_view name) const { return cache::url_in(name).starts_with(prefix_); }

  // Both list some more entries, and return whether there may be further ones.
  bool list_memory(cache::Time now, std::string& out) {
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
      const bool is_block = one.entry->head.empty();
      if (is_block || !wants(one.entry->url) || relations_.on_disk(one)) continue;
      auto facts = facts_of(*one.entry, relations_.stored_blocks(one.key, *one.entry), now);
      facts.hits = one.hits;
      append(out, report_of(facts, one.entry->url));
    }
    return true;
  }

  bool list_disk(cache::Time now, std::string& out) {
    if (!walk_) walk_.emplace(live_.disk->disk().catalog().index, is_response);
    const auto step = walk_->next();
    if (!step) return false;
    const auto stored = live_.disk->disk().open(step->key, step->place, disk::Wait::yes);
    if (!stored) {
      unreadable_ += stored.error() == disk::Error::gone ? 0 : 1;
      return true;
    }
    const auto url = stored->url();
    if (!wants(url) || !live_.disk->disk().holds(step->key, url, step->place.at)) return true;
    auto facts = facts_of(*stored, relations_, now);
    if (!facts) return true;
    add_uses(*facts, live_, url, *step);
    append(out, report_of(*facts, url));
    return true;
  }

  const Live live_;
  const LiveRelations relations_;
  const std::string prefix_;
  std::size_t shard_ = 0;          // the next shard of the memory
  std::vector<digest::Key> keys_;  // of the last shard, not yet listed
  std::optional<disk::Walk> walk_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace

std::unique_ptr<Slices> list_live(const Live& live, std::string prefix) {
  return std::make_unique<LiveList>(live, std::move(prefix));
}

}  // namespace proxy::inspect
