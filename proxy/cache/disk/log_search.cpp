// What purges by prefix cover is searched for, a segment at a time.
#include <algorithm>

#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/searched.hpp"
#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {

// A rule counts for what lies before it, so that is where its entries are looked for. Rules that
// come meanwhile have their turn when all before them are done: or many would put off the end.
Result<bool> Log::search_purged() {
  if (!searching_for_) {
    searching_for_ = shared_.rules.newest();
    searched_ = 0;
    if (!searching_for_) return false;
  }
  const Position until = *searching_for_;
  const auto segment = shared_.segments.after(searched_);
  if (segment && segment->number <= until.segment) {
    const auto done = search(*segment);
    if (!done) return done.error();
    searched_ = segment->number;
    return true;
  }
  const auto ended = end_search(until);
  if (!ended) return ended.error();
  searching_for_.reset();
  return shared_.rules.newest().has_value();
}

// What cannot be read goes too, as nobody knows whether it is covered.
Result<void> Log::search(const Segment& segment) {
  const bool is_current = current_ && current_->segment->number == segment.number;
  const auto scanned =
      is_current ? Result<Scanned>(Scanned{current_->records}) : scan(segment.file, segment.number);
  if (!scanned) {
    shared_.log_has_more = true;
    shared_.counters.evicted += shared_.index.erase_segment(segment.number);
    doubt_objects();
    return {};
  }
  const std::size_t at_once = limits_.segment_bytes / 2 / kSearchedBytes;
  std::vector<Searched> found;
  const auto record = [&] {
    auto taken = append({.header = {.kind = Kind::searched}, .url = {}, .head = encode(found)});
    found.clear();
    return taken;
  };
  for (const Listed& listed : scanned->records) {
    const Position at{segment.number, listed.offset};
    const auto place = shared_.index.find(listed.key);
    if (!place || place->at != at) continue;
    const auto stored = Stored::open(shared_.segments, listed.key, *place, Wait::yes);
    if (stored && !shared_.rules.purged(stored->url(), at)) continue;
    found.push_back({listed.key, at});
    if (found.size() < at_once) continue;
    const auto taken = record();
    if (!taken) return taken;
  }
  if (!found.empty()) {
    const auto taken = record();
    if (!taken) return taken;
  }
  return flush();
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
