#include "proxy/inspect/peek.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/inspect/live_relations.hpp"
#include "proxy/inspect/slice.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

struct Opened {
  disk::Walk::Step at;
  disk::StoredRecord record;
};

std::optional<Opened> open(const Live& live, const disk::Key& key, const std::string& name) {
  auto& store = live.disk->disk();
  const auto place = store.catalog().index.find(key);
  if (!place || !store.holds(key, name, place->at)) return std::nullopt;
  auto record = store.open(key, *place, disk::Wait::yes);
  if (!record || record->url() != name) return std::nullopt;
  return Opened{{key, *place}, std::move(*record)};
}

// The record that answers such a request, as DiskTier::read() finds it.
std::optional<Opened> select(const Live& live, const digest::Key& key, const std::string& name,
                             const http::Fields& request, Peeked& peeked) {
  auto opened = open(live, key, name);
  if (!opened || opened->at.place.kind != RecordKind::selector) return opened;
  peeked.varies_there = true;
  const auto selector = cache::decode_selector(opened->record.head());
  if (!selector) return std::nullopt;
  http::NormalForms forms(request);
  return open(live, cache::variant_key(key, *selector, forms), name);
}

void peek_at_memory(const Live& live, const digest::Key& key, const std::string& name,
                    cache::Time now, Peeked& peeked) {
  const LiveRelations relations(live);
  std::vector<cache::Store::Response> held;
  live.memory.look(key, held);
  for (const auto& one : held) {
    if (one.entry->url() != name) continue;
    auto facts = facts_of(*one.entry, relations.stored_blocks(key, *one.entry), now);
    facts.hits = one.hits;
    if (relations.on_disk(one)) facts.where = "memory and disk";
    peeked.all.push_back({one.entry, facts});
  }
}

void peek_at_disk(const Live& live, cache::Budget& budget, const digest::Key& key,
                  const std::string& name, const http::Fields& request, cache::Time now,
                  Peeked& peeked) {
  const auto opened = select(live, key, name, request, peeked);
  if (!opened || !is_response(opened->at.place)) return;
  const LiveRelations relations(live);
  auto facts = facts_of(opened->record, relations, now);
  auto saved = cache::decode_head(name, opened->record.head(), opened->record.header());
  if (!facts || !saved || !saved->entry.variant.matches(request)) return;
  add_uses(*facts, live, name, opened->at);
  auto entry = cache::Entry::make(budget, std::move(saved->entry));
  entry->body.size = entry->object() ? saved->length : opened->record.body_bytes();
  peeked.found.entry = entry;
  peeked.all.push_back({std::move(entry), *facts});
}

}  // namespace

Peeked peek(const Live& live, cache::Budget& budget, const std::string& name,
            const http::Fields& request, cache::Time now) {
  const auto key = digest::key_of(digest::Method::get, name);
  Peeked peeked;
  peek_at_memory(live, key, name, now, peeked);
  peeked.found = live.memory.peek(key, name, request);
  if (!peeked.found.entry && live.disk) {
    peek_at_disk(live, budget, key, name, request, now, peeked);
    peeked.found.varies = peeked.found.varies || (peeked.varies_there && !peeked.found.entry);
  }
  return peeked;
}

}  // namespace proxy::inspect
