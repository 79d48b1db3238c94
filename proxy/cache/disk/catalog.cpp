#include "proxy/cache/disk/catalog.hpp"

#include <algorithm>

#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

namespace {

bool is_of_one_key(RecordKind kind) {
  return kind != RecordKind::purge_prefix && kind != RecordKind::searched &&
         kind != RecordKind::unknown;
}

}  // namespace

bool Catalog::apply_clock(std::chrono::milliseconds ahead) {
  const auto older = segments.times.apply(ahead);
  if (older.count() == 0) return false;
  std::vector<std::pair<Key, Location>> claimed;
  for (std::size_t shard = 0; shard < Index::kShards; ++shard) {
    claimed.clear();
    index.each_in(shard, [&](const Key& key, const Location& place) {
      if (place.claimable_until != 0) claimed.emplace_back(key, place);
    });
    // After the visit, which holds the shard's lock.
    for (const auto& [key, place] : claimed) {
      // What this run wrote has the program's own clock, which has not stepped.
      const auto segment = segments.find(place.at.segment);
      if (!segment || !segment->times.earlier(place.at.offset)) continue;
      index.set_claim(key, place.at, shifted_claim(place.claimable_until, -older));
    }
  }
  return true;
}

void Learner::learn(std::span<const Listed> records, std::uint32_t segment) {
  while (!records.empty()) {
    // As many records as possible are applied at once, which is cheaper. A purge by prefix and the
    // like must see all records before it, and none behind it.
    const auto other = std::ranges::find_if_not(
        records, [](const Listed& listed) { return is_of_one_key(listed.kind); });
    const auto of_one_key = static_cast<std::size_t>(other - records.begin());
    index_.apply(records.first(of_one_key), segment);
    records = records.subspan(of_one_key);
    if (records.empty()) return;
    learn(location_of(records.front(), segment));
    records = records.subspan(1);
  }
}

void Learner::learn(const Location& place) {
  if (place.kind == RecordKind::searched) return learn_searched(place);
  if (place.kind == RecordKind::unknown) return forget_all();
  // A later record may show that the search for this purge is complete. So it is read at the end.
  waiting_.push_back(place.at);
  if (waiting_.size() >= kMostWaiting) finish();
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
