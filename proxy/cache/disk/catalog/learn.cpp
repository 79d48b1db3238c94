#include "proxy/cache/disk/catalog/learn.hpp"

#include "proxy/cache/disk/catalog/stored_record.hpp"
#include "proxy/cache/disk/format/searched.hpp"

namespace proxy::cache::disk {

void Learner::learn(const Listed& listed, std::uint32_t segment) {
  const Location place{.at = {segment, listed.offset},
                       .bytes = listed.bytes,
                       .claimable_until = listed.claimable_until,
                       .kind = listed.kind,
                       .rule = listed.rule};
  switch (listed.kind) {
    case RecordKind::purge:
    case RecordKind::lost:
      index_.erase(listed.key);
      return;
    case RecordKind::purge_prefix:
      waiting_.push_back(place.at);
      if (waiting_.size() >= kMostWaiting) finish();
      return;
    case RecordKind::searched:
      return learn_searched(place);
    case RecordKind::unknown:
      return forget_all();
    case RecordKind::head:
      // The segment with the body may have been reclaimed. Then this head has no body.
      if (index_.find(listed.key)) index_.put(listed.key, place);
      return;
    default:
      index_.put(listed.key, place);
  }
}

void Learner::learn_searched(const Location& place) {
  const auto stored = StoredRecord::open(segments_, {}, place, Wait::yes);
  const auto found = stored ? decode_searched(stored->head()) : std::nullopt;
  if (!found) return forget_all();
  for (const Searched& entry : *found) index_.erase_at(entry.key, entry.at);
  if (stored->header().version == 0) return;
  const Position until = to_position(stored->header().version);
  std::erase_if(waiting_, [until](Position at) { return at <= until; });
  rules_.forget_before({until.segment, until.offset + 1});
}

void Learner::forget_all() {
  index_.clear();
  waiting_.clear();
  rules_.forget_settled();
}

void Learner::finish() {
  for (const Position at : waiting_) {
    const Location place{.at = at, .bytes = 256, .kind = RecordKind::purge_prefix};
    const auto rule = StoredRecord::open(segments_, {}, place, Wait::yes);
    // A rule that cannot be read may cover any URL, so it covers all.
    rules_.learn(rule ? rule->url() : "", at);
  }
  waiting_.clear();
}

}  // namespace proxy::cache::disk
