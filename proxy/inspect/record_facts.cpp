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
