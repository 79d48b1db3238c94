#include "proxy/inspect/entry_facts.hpp"

#include <algorithm>

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;
using disk::RecordKind;

std::uint64_t seconds_until(cache::Time then, cache::Time now) {
  if (then <= now) return 0;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(then - now).count());
}

Report::Value value_of(const auto& number) {
  return number ? Report::Value(std::uint64_t{*number}) : Report::Value();
}

}  // namespace

std::optional<EntryFacts> facts_of(const disk::StoredRecord& stored, const Relations& relations,
                                   cache::Time now) {
  const disk::RecordHeader& header = stored.header();
  if (header.kind == RecordKind::block || header.kind == RecordKind::selector) return std::nullopt;
  EntryFacts facts{.bytes = stored.body_bytes(),
                   .held_bytes = stored.body_bytes(),
                   .disk_bytes = header.bytes()};
  // A newer head lies apart from the body of the entry.
  if (header.kind == RecordKind::head) facts.disk_bytes += stored.body_bytes();
  const auto saved = cache::decode_head(stored.url(), stored.head(), header);
  if (header.kind == RecordKind::object) {
    const auto held = relations.stored_blocks(stored, saved ? saved->length : 0);
    const bool whole = held.numbers.size() == header.block && !(saved && saved->entry.extras.range);
    facts.kind = whole ? "large" : "part";
    facts.bytes = saved ? saved->length : held.bytes;
    facts.held_bytes = held.bytes;
    facts.disk_bytes += held.disk_bytes;
  }
  const bool in_part = header.claims_blocks() && header.blocks() == disk::Blocks::some;
  const std::chrono::seconds until(in_part ? 0 : header.claim());
  facts.claimable = seconds_until(cache::Time(until), now);
  if (!saved) return facts;
  // Variants of an earlier selector stay in the log until their segment is reclaimed.
  if (!relations.leads_to(stored, saved->selector)) return std::nullopt;
  const cache::Saved& entry = saved->entry;
  facts.status = entry.status;
  facts.age = seconds_until(now, entry.times.response);
  const auto lifetime = entry.freshness.lifetime - entry.initial_age;
  facts.fresh = seconds_until(entry.times.response + lifetime, now);
  return facts;
}

EntryFacts facts_of(const cache::Entry& entry, const StoredBlocks& held, cache::Time now) {
  EntryFacts facts{.bytes = entry.body.size, .held_bytes = entry.body.size, .where = "memory"};
  bool whole = true;
  if (entry.object()) {
    whole = held.bytes == entry.body.size && !entry.range();
    facts.kind = whole ? "large" : "part";
    facts.held_bytes = held.bytes;
    facts.disk_bytes = held.disk_bytes;
  } else if (entry.range()) {
    facts.kind = "part";
    facts.bytes = entry.range()->complete.value_or(entry.range()->range.size());
  }
  facts.claimable =
      whole ? seconds_until(std::max(entry.claimable_until(), entry.claimable_by_rule_until()), now)
            : 0;
  facts.status = entry.status;
  facts.age = seconds_until(now, entry.times().response);
  facts.fresh = seconds_until(entry.fresh_until(), now);
  return facts;
}

Report report_of(const EntryFacts& facts, std::string_view stored_as) {
  Report report;
  report.add("url", std::string(stored_as)).add("kind", std::string(facts.kind));
  report.add("bytes", facts.bytes).add("held_bytes", facts.held_bytes);
  report.add("disk_bytes", facts.disk_bytes);
  report.add("status", value_of(facts.status)).add("age_seconds", value_of(facts.age));
  report.add("fresh_seconds", value_of(facts.fresh));
  report.add("claimable_seconds", value_of(facts.claimable));
  report.add("hits", value_of(facts.hits)).add("where", std::string(facts.where));
  return report;
}

}  // namespace proxy::inspect
