#include "proxy/inspect/entry_facts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/object.hpp"

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

std::string hex_of(const disk::Key& key) {
  std::string text;
  for (const auto byte : key.bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// In the form of RFC 3339; nothing for a time outside the years 1970 to 9999.
Report::Value time_of(std::int64_t milliseconds) {
  // RFC 3339 has four digits for the year.
  constexpr std::int64_t kYear10000 = 253'402'300'800'000;
  if (milliseconds < 0 || milliseconds >= kYear10000) return {};
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(milliseconds)};
  return fmt::format("{:%FT%T}Z", time);
}

std::int64_t milliseconds_of(cache::Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// All other kinds are purges of some sort.
std::string_view name_of(RecordKind kind) {
  static constexpr std::pair<RecordKind, std::string_view> kNames[]{
      {RecordKind::whole, "whole"},
      {RecordKind::object, "large"},
      {RecordKind::block, "block"},
      {RecordKind::head, "newer head"},
      {RecordKind::selector, "selector"}};
  const auto* const named = std::find_if(std::begin(kNames), std::end(kNames),
                                         [kind](const auto& one) { return one.first == kind; });
  return named == std::end(kNames) ? "purge" : named->second;
}

// "good", or what is wrong with the body.
std::string state_of_body(const disk::StoredRecord& stored) {
  const auto read = stored.body_in_file().check(disk::Wait::yes);
  return read ? "good" : std::string(disk::to_string(read.error()));
}

void add_record(Report& report, const disk::Key& key, const disk::StoredRecord& stored) {
  const disk::RecordHeader& header = stored.header();
  report.add("record", std::string(name_of(header.kind))).add("key", hex_of(key));
  report.add("segment", disk::name_of(header.at.segment))
      .add("offset", std::uint64_t{header.at.offset});
  report.add("disk_bytes", header.bytes()).add("body_bytes", std::uint64_t{stored.body_bytes()});
  if (header.kind == RecordKind::head) {
    report.add("body_segment", disk::name_of(stored.body_at().segment));
    report.add("body_offset", std::uint64_t{stored.body_at().offset});
  }
  report.add("response_time", time_of(header.response_time));
  report.add("request_took_ms", std::uint64_t{header.request_took});
  report.add("claimable_until",
             header.claim() == 0 ? Report::Value() : time_of(std::int64_t{1000} * header.claim()));
  const bool all_held = (header.flags & disk::kAllHeld) != 0;
  report.add("version", header.version).add("flags", std::uint64_t{all_held});
  report.add("giver", std::uint64_t{header.giver()});  // 0: the origin
  // A record whose head is damaged cannot be opened.
  report.add("head_checksum", std::string("good")).add("body_checksum", state_of_body(stored));
}

// "0-4, 7", or "none".
std::string runs_of(std::vector<std::uint32_t> numbers) {
  // The index knows them in no order.
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += fmt::to_string(numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text.empty() ? "none" : text;
}

void add_blocks(Report& report, std::uint32_t all, const StoredBlocks& held) {
  report.add("blocks", std::uint64_t{all});
  report.add("blocks_held", runs_of(held.numbers)).add("bytes_held", held.bytes);
}

void add_response(Report& report, unsigned status, bool shared, cache::seconds lifetime,
                  std::chrono::milliseconds initial_age) {
  report.add("status", std::uint64_t{status}).add("shared", shared);
  report.add("lifetime_seconds", static_cast<std::uint64_t>(lifetime.count()));
  const auto age = std::chrono::floor<std::chrono::seconds>(initial_age).count();
  report.add("age_on_arrival_seconds", static_cast<std::uint64_t>(age));
}

void add_selectors(Report& report, const http::Variant& variant) {
  for (const auto& field : variant.selecting_fields()) {
    report.add("for_" + field.name, field.value ? Report::Value(*field.value) : Report::Value());
  }
}

}  // namespace

std::optional<EntryFacts> facts_of(const disk::StoredRecord& stored, const Relations& relations,
                                   cache::Time now) {
  const disk::RecordHeader& header = stored.header();
  // Both are parts of other entries, and would count these twice.
  if (header.kind == RecordKind::block || header.kind == RecordKind::selector) return std::nullopt;
  EntryFacts facts{.bytes = stored.body_bytes(),
                   .held_bytes = stored.body_bytes(),
                   .disk_bytes = header.bytes()};
  // A newer head lies apart from the body of the entry.
  if (header.kind == RecordKind::head) facts.disk_bytes += stored.body_bytes();
  const auto saved = cache::decode_head(stored.url(), stored.head(), header);
  if (header.kind == RecordKind::object) {
    const auto held = relations.stored_blocks(stored, saved ? saved->length : 0);
    // In the record of an object, `block` is the number of all its blocks.
    const bool whole = held.numbers.size() == header.block && !(saved && saved->entry.extras.range);
    facts.kind = whole ? "large" : "part";
    facts.bytes = saved ? saved->length : held.bytes;
    facts.held_bytes = held.bytes;
    facts.disk_bytes += held.disk_bytes;
  }
  const bool in_part = header.claims_blocks() && header.blocks() == disk::Blocks::some;
  const std::chrono::seconds until(in_part ? 0 : header.claim());
  facts.claimable = seconds_until(cache::Time(until), now);
  // The record takes its place on disk all the same, so it is listed.
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

Report record_of(const disk::Key& key, const disk::StoredRecord& stored,
                 const Relations& relations) {
  Report report;
  add_record(report, key, stored);
  const auto saved = cache::decode_head(stored.url(), stored.head(), stored.header());
  if (stored.header().kind == RecordKind::object) {
    const auto held = relations.stored_blocks(stored, saved ? saved->length : 0);
    add_blocks(report, stored.header().block, held);
  }
  if (saved) {
    const cache::Saved& entry = saved->entry;
    add_response(report, entry.status, entry.shared, entry.freshness.lifetime, entry.initial_age);
    if (saved->selector != 0) {
      report.add("reachable", relations.leads_to(stored, saved->selector));
    }
    add_selectors(report, entry.extras.variant);
  } else if (const auto selector = cache::decode_selector(stored.head())) {
    report.add("selects_by", selector->names);
  }
  return report.add("head",
                    saved ? Report::Value(std::string(saved->entry.head)) : Report::Value());
}

Report record_of(const cache::Entry& entry, const StoredBlocks& held) {
  Report report;
  report.add("record", Report::Value()).add("body_bytes", entry.body.size);
  report.add("response_time", time_of(milliseconds_of(entry.times().response)));
  if (entry.object()) add_blocks(report, cache::blocks_in(entry.body.size), held);
  add_response(report, entry.status, entry.shared, entry.freshness().lifetime, entry.initial_age());
  add_selectors(report, entry.variant());
  return report.add("head", std::string(entry.head()));
}

Report report_of(const disk::Damage& damage) {
  Report report;
  report.add("segment", disk::name_of(damage.segment)).add("offset", damage.offset);
  report.add("what", std::string(disk::to_string(damage.fault)));
  report.add("lost_bytes", damage.lost_bytes);
  report.add("url", damage.url.empty() ? Report::Value() : std::string(damage.url));
  return report;
}

}  // namespace proxy::inspect
