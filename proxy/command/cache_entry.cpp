#include "proxy/command/cache_entry.hpp"

#include <algorithm>

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using disk::Kind;
using std::chrono::milliseconds;

std::uint64_t seconds_until(cache::Time then, cache::Time now) {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(then - now).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(left, 0));
}

}  // namespace

Relations::Relations(const disk::Contents& contents) {
  contents.each(
      [this](const disk::Contents::Seen& seen) {
        if (!seen.stored) return true;
        const disk::RecordHeader& header = seen.stored->header();
        if (header.kind == Kind::block) {
          Held& held = objects_[header.version];
          held.blocks.push_back(header.block);
          held.bytes += header.body_bytes;
          held.disk_bytes += header.bytes();
        } else if (const auto selector = cache::decode_selector(seen.stored->head())) {
          selectors_.insert(selector->number);
        }
        return true;
      },
      [](const disk::Place& place) {
        return place.kind == Kind::block || place.kind == Kind::selector;
      });
}

const Relations::Held& Relations::held(const disk::RecordHeader& object) const {
  static const Held kNothing;
  const auto found = objects_.find(object.version);
  return found == objects_.end() ? kNothing : found->second;
}

std::optional<EntryFacts> facts_of(const disk::Stored& stored, const Relations& relations,
                                   cache::Time now) {
  const disk::RecordHeader& header = stored.header();
  if (header.kind == Kind::block || header.kind == Kind::selector) return std::nullopt;
  EntryFacts facts{.kind = "whole",
                   .bytes = stored.body_bytes(),
                   .held_bytes = stored.body_bytes(),
                   .disk_bytes = header.bytes()};
  if (header.kind == Kind::head) facts.disk_bytes += stored.body_bytes();
  if (header.kind == Kind::object) {
    const auto& held = relations.held(header);
    facts.kind = held.blocks.size() == header.block ? "large" : "part";
    facts.bytes = held.bytes;
    facts.held_bytes = held.bytes;
    facts.disk_bytes += held.disk_bytes;
  }
  const auto until = cache::Time(std::chrono::seconds(header.claim()));
  facts.claimable = seconds_until(until, now);
  const auto saved = cache::decode_head(stored.url(), stored.head(), header);
  if (!saved) return facts;
  if (!relations.leads_to(saved->selector)) return std::nullopt;
  const cache::Saved& entry = saved->entry;
  if (entry.object) facts.bytes = saved->length;
  facts.status = entry.status;
  facts.age = seconds_until(now, entry.times.response);
  const auto lifetime = entry.freshness.lifetime - entry.initial_age;
  facts.fresh = seconds_until(entry.times.response + lifetime, now);
  return facts;
}

}  // namespace proxy::command
