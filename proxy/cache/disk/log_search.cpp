// What purges by prefix cover is searched for, some entries at a time.
#include <algorithm>
#include <chrono>

#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/searched.hpp"
#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {

using Steady = std::chrono::steady_clock;

// A rule counts for what lies before it, so that is where its entries are looked for. Rules that
// come meanwhile have their turn when all before them are done: or many would put off the end.
Result<bool> Log::search_purged() {
  if (!searching_for_) searching_for_ = shared_.rules.newest();
  if (!searching_for_) return false;
  const Position until = *searching_for_;
  if (!search_) {
    search_.emplace(shared_.index, [until](const Place& place) { return place.at < until; });
  }
  const auto more = search_some();
  if (!more) search_.reset();  // what it passed is not recorded
  if (!more || *more) return more;
  const auto ended = end_search(until);
  if (!ended) return ended.error();
  search_.reset();
  searching_for_.reset();
  return shared_.rules.newest().has_value();
}

// Whether there are more. What cannot be read goes too, as nobody knows whether it is covered.
Result<bool> Log::search_some() {
  const auto until = Steady::now() + kStep;
  const std::size_t most =
      std::min<std::size_t>(kStepEntries, limits_.segment_bytes / 2 / kSearchedBytes);
  std::vector<Searched> found;
  bool more = true;
  bool lost_block = false;
  for (std::size_t opened = 0; more && opened < most && Steady::now() < until; ++opened) {
    const auto step = search_->next();
    more = step.has_value();
    if (!more) break;
    const auto& [key, place] = *step;
    const auto stored = Stored::open(shared_.segments, key, place, Wait::yes);
    if (stored && !shared_.rules.purged(stored->url(), place.at)) continue;
    found.push_back({key, place.at});
    lost_block = lost_block || (!stored && place.kind == Kind::block);
  }
  if (lost_block) doubt_objects();
  if (found.empty()) return more;
  const auto taken = append({.header = {.kind = Kind::searched}, .url = {}, .head = encode(found)});
  if (!taken) return taken.error();
  const auto flushed = flush();
  if (!flushed) return flushed.error();
  return more;
}

// Where the log may have entries that the index has not, these are found by the next start at the
// earliest: it has to search once more.
Result<void> Log::end_search(Position until) {
  if (!shared_.log_has_more) {
    const RecordHeader header{.kind = Kind::searched, .version = to_number(until)};
    const auto taken = append({.header = header, .url = {}, .head = {}});
    if (!taken) return taken;
    const auto flushed = flush();
    if (!flushed) return flushed;
  }
  shared_.rules.forget_before({until.segment, until.offset + 1});
  return {};
}

void Log::apply_searched(std::string_view head) {
  const auto found = decode_searched(head);
  if (!found) return;
  for (const Searched& entry : *found) {
    if (shared_.index.erase_at(entry.key, entry.at)) shared_.counters.purged += 1;
  }
}

}  // namespace proxy::cache::disk
