#include "proxy/cache/disk/log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

Log::Log(LogLimits limits, Catalog& catalog) : limits_(std::move(limits)), catalog_(catalog) {}

void Log::abandon() {
  appender_.abandon();
  files_.close();
  abandon_search();
  claims_.clear();
  catalog_.segments.clear();
  catalog_.index.clear();
  catalog_.rules.forget_settled();
}

Result<Loaded> Log::open(const std::filesystem::path& path) {
  abandon();
  auto directory = Directory::open(path);
  if (!directory) return directory.error();
  Loaded found;
  const auto ours = own_segments(*directory, found);
  if (!ours) return ours.error();
  files_.open(std::move(*directory), *ours);
  const auto before = files_.spaces().size();
  auto loaded = rotation_.make_room();  // the limit may be less than it was
  const auto left = files_.spaces().size();
  if (loaded) loaded = Loading(limits_, catalog_, files_, appender_, found).run(rotation_);
  if (!loaded) {
    abandon();
    return loaded.error();
  }
  // The new segment tells the next start that purges are missing.
  if (found.forgotten > 0) (void)rotation_.begin_segment(0);
  // Blocks may be lost without a record of their loss.
  const bool lost_some = left < before || found.unreadable + found.other_version > 0;
  if (lost_some || found.damaged > 0) claims_.doubt_objects();
  if (rotation_.is_crowded()) {   // the limit may be less than it was
    (void)rotation_.make_room();  // else the next append does it
    catalog_.index.shrink();
  }
  found.entries = catalog_.index.entries();
  return found;
}

Result<void> Log::close() {
  auto closed = flush();
  if (closed && appender_.segment()) closed = rotation_.seal();
  files_.close();
  return closed;
}

Result<void> Log::append(NewRecord record) {
  const auto fail = [&](Error error) {
    catalog_.counters.failed_writes += 1;
    if (record.done) record.done(error);
  };
  const std::uint64_t bytes = record.most_bytes();
  if (kSegmentHeaderBytes + aligned(bytes) + footer_bytes(2) > limits_.segment_bytes) {
    fail(Error::too_large);
    return {};
  }
  // The index has to know the earlier records before it is asked whether this one still counts.
  auto ready = appender_.affects(record) ? flush() : Result<void>();
  const bool has_room = appender_.fits(bytes) && !rotation_.is_crowded();
  if (ready && !has_room) ready = rotation_.begin_segment(aligned(bytes));
  if (!ready || !still_replaces(record)) {
    fail(ready ? Error::gone : ready.error());
    return ready;
  }
  if (record.header.claims_blocks()) {
    record.header.set_blocks(claims_.blocks_held(record.header, record.url));
  }
  return appender_.gather(std::move(record), std::nullopt);
}

// Returns whether a newer head still counts. A head that does not count must not be written: the
// next start reads only the log, and would restore it. A caller that replaces or purges the entry
// erases it from the index first. So if the entry is found at another position, reclaiming has
// copied it; then head and body are written as one record.
bool Log::still_replaces(NewRecord& record) const {
  if (!record.replaces) return true;
  const auto present = catalog_.index.find(record.header.key);
  if (!present || catalog_.rules.purged(record.url, present->at)) return false;
  if (present->at == *record.replaces) return true;
  if (!record.body_if_moved) return false;
  record.header.kind = RecordKind::whole;
  record.header.version = 0;
  record.body = std::move(*record.body_if_moved);
  record.replaces = present->at;
  return true;
}

// The newest segment has room for as many bytes as it was begun with, so it is sealed.
Result<void> Log::resize(const LogSize& size) {
  if (const auto flushed = flush(); !flushed) return flushed;
  if (appender_.segment() && size.segment_bytes != limits_.segment_bytes) {
    if (const auto sealed = rotation_.seal(); !sealed) return sealed;
  }
  limits_.bytes = size.bytes;
  limits_.entries = size.entries;
  limits_.segment_bytes = size.segment_bytes;
  return {};
}

Result<bool> Log::settle_claims() {
  return claims_.settle([this] { return rotation_.begin_segment(0); });
}

Result<void> Log::write(NewRecord record) {
  const auto appended = append(std::move(record));
  return appended ? flush() : appended;
}

// A rule covers entries before its record, so the search ends at the record of the newest rule.
// Rules that are added meanwhile wait for the next search. If they extended this one, a stream of
// purges could keep it from ever ending.
Result<bool> Log::search_purged() {
  if (!search_until_) search_until_ = catalog_.rules.newest();
  if (!search_until_) return false;
  const Position until = *search_until_;
  if (!search_) {
    search_.emplace(catalog_.index,
                    [until](const Location& location) { return location.at < until; });
  }
  const auto more = search_some();
  if (!more) search_.reset();  // some purged entries were not recorded: the search begins again
  // The next call goes on: appends wait while this one runs.
  if (!more || *more) return more;
  if (const auto ended = end_search(until); !ended) return ended.error();
  abandon_search();
  return catalog_.rules.newest().has_value();
}

void Log::abandon_search() {
  search_.reset();
  search_until_.reset();
}

// Returns whether there are more entries. An entry that cannot be read counts as purged, because a
// rule may cover it.
Result<bool> Log::search_some() {
  Step step(catalog_.clock, limits_.segment_bytes / 2 / kSearchedBytes);
  std::vector<Searched> found;
  std::vector<RecordHeader> blocks;  // of objects that stay
  bool more = true;
  bool lost_block = false;
  while (more && step.goes_on()) {
    const auto found_next = search_->next();
    more = found_next.has_value();
    if (!more) break;
    const auto& [key, location] = *found_next;
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
  const auto written = write({.header = {.kind = RecordKind::searched}, .head = encode(found)});
  if (!written) return written.error();
  for (const RecordHeader& block : blocks) claims_.doubt(block.key, block.version);
  return more;
}

// If the log may have entries that the index lacks, the end of the search is not recorded: a later
// start finds these entries, and has to search them.
Result<void> Log::end_search(Position until) {
  if (!catalog_.log_has_more) {
    const RecordHeader header{.kind = RecordKind::searched, .version = to_number(until)};
    if (const auto written = write({.header = header}); !written) return written;
  }
  catalog_.rules.forget_before({until.segment, until.offset + 1});
  return {};
}

}  // namespace proxy::cache::disk
