#include <utility>

#include "proxy/inspect/live_parts.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using Opened = LiveRelations::Opened;

// The response that the store has for the key of `name`.
struct Wanted {
  const std::string& name;
  const http::Fields& request;
  const digest::Key key = digest::key_of(digest::Method::get, name);
};

// The record that answers such a request, as DiskTier::read() finds it.
std::optional<Opened> select(const LiveRelations& relations, const Wanted& wanted, Peeked& peeked) {
  auto opened = relations.open(wanted.key, wanted.name);
  if (!opened || opened->at.place.kind != disk::RecordKind::selector) return opened;
  peeked.varies_there = true;
  const auto selector = cache::decode_selector(opened->record.head());
  if (!selector) return std::nullopt;
  http::NormalForms forms(wanted.request);
  return relations.open(cache::variant_key(wanted.key, *selector, forms), wanted.name);
}

// Adds the entry on disk, without its body.
void add_from_disk(const LiveRelations& relations, cache::Budget& budget, const Wanted& wanted,
                   cache::Time now, Peeked& peeked) {
  const auto opened = select(relations, wanted, peeked);
  if (!opened || !is_response(opened->at.place)) return;
  auto facts = facts_of(opened->record, relations, now);
  auto saved = cache::decode_head(wanted.name, opened->record.head(), opened->record.header());
  if (!facts || !saved || !saved->entry.extras.variant.matches(wanted.request)) return;
  relations.add_uses(*facts, wanted.name, opened->at);
  auto entry = cache::Entry::make(budget, std::move(saved->entry));
  entry->body.size = entry->object() ? saved->length : opened->record.body_bytes();
  peeked.found.entry = entry;
  peeked.all.push_back({std::move(entry), *facts});
}

}  // namespace

Peeked peek(const Live& live, cache::Budget& budget, const std::string& name,
            const http::Fields& request, cache::Time now) {
  const LiveRelations relations(live);
  const Wanted wanted{name, request};
  Peeked peeked;
  std::vector<cache::Store::Response> held;
  live.memory.look(wanted.key, held);
  for (const auto& one : held) {
    if (one.entry->url() != name) continue;
    auto facts = relations.facts_in_memory(one, now);
    if (relations.on_disk(one)) facts.where = "memory and disk";
    peeked.all.push_back({one.entry, facts});
  }
  peeked.found = live.memory.peek(wanted.key, name, request);
  if (!peeked.found.entry && live.disk) {
    add_from_disk(relations, budget, wanted, now, peeked);
    peeked.found.varies = peeked.found.varies || (peeked.varies_there && !peeked.found.entry);
  }
  return peeked;
}

}  // namespace proxy::inspect
