#include "proxy/cache/disk/log/prefix_search.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "proxy/cache/disk/catalog/stored_record.hpp"
#include "proxy/cache/disk/format/searched.hpp"
#include "proxy/cache/disk/log/step.hpp"

namespace proxy::cache::disk {

// A rule covers entries before its record, so the search ends at the record of the newest rule.
// Rules that are added meanwhile wait for the next search. If they extended this one, a stream of
// purges could keep it from ever ending.
Result<bool> PrefixSearch::step(const Write& write) {
  if (!until_) until_ = catalog_.rules.newest();
  if (!until_) return false;
  const Position until = *until_;
  if (!walk_) {
    walk_.emplace(catalog_.index,
                  [until](const Location& location) { return location.at < until; });
  }
  const auto more = search_some(write);
  if (!more) walk_.reset();  // some purged entries were not recorded: the search begins again
  if (!more || *more) return more;
  const auto finished = finish(until, write);
  if (!finished) return finished.error();
  abandon();
  return catalog_.rules.newest().has_value();
}

void PrefixSearch::abandon() {
  walk_.reset();
  until_.reset();
}

// Returns whether there are more entries. An entry that cannot be read counts as purged, because a
// rule may cover it.
Result<bool> PrefixSearch::search_some(const Write& write) {
  const auto until = std::chrono::steady_clock::now() + kStepTime;
  const std::size_t most =
      std::min<std::size_t>(kStepEntries, limits_.segment_bytes / 2 / kSearchedBytes);
  std::vector<Searched> found;
  std::vector<RecordHeader> blocks;  // of objects that stay
  bool more = true;
  bool lost_block = false;
  for (std::size_t opened = 0; more && opened < most; ++opened) {
    if (std::chrono::steady_clock::now() >= until) break;
    const auto step = walk_->next();
    more = step.has_value();
    if (!more) break;
    const auto& [key, location] = *step;
    const auto stored = StoredRecord::open(catalog_.segments, key, location, Wait::yes);
    const auto giver = stored ? stored->header().giver() : GiverTag{0};
    if (stored && !catalog_.rules.purged(stored->url(), location.at, giver)) continue;
    found.push_back({key, location.at});
    const bool is_block = location.kind == RecordKind::block;
    lost_block = lost_block || (!stored && is_block);
    if (stored && is_block && giver != 0) blocks.push_back(stored->header());
  }
  if (lost_block) claims_.doubt_objects();
  if (found.empty()) return more;
  const auto written =
      write({.header = {.kind = RecordKind::searched}, .url = {}, .head = encode(found)});
  if (!written) return written.error();
  for (const RecordHeader& block : blocks) claims_.doubt(block.key, block.version);
  return more;
}

// If the log may have entries that the index lacks, the end of the search is not recorded: a later
// start finds these entries, and has to search them.
Result<void> PrefixSearch::finish(Position until, const Write& write) {
  if (!catalog_.log_has_more) {
    const RecordHeader header{.kind = RecordKind::searched, .version = to_number(until)};
    const auto written = write({.header = header, .url = {}, .head = {}});
    if (!written) return written;
  }
  catalog_.rules.forget_before({until.segment, until.offset + 1});
  return {};
}

}  // namespace proxy::cache::disk
