#include "proxy/cache/disk/rotation.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/disk/scan.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {
namespace {

// Records of these kinds lead to blocks or variants in other segments, which nothing finds without
// them.
bool leads_to_others(RecordKind kind) {
  return kind == RecordKind::object || kind == RecordKind::selector;
}

constexpr auto kAnyNumber = std::numeric_limits<std::size_t>::max();  // of entries

// All appends wait while entries of a reclaimed segment are copied. So no more bytes are copied
// than the disk writes in kLongestCopy, but kLeastCopied in any case: one block of a large object.
constexpr std::chrono::milliseconds kLongestCopy{300};
constexpr std::uint64_t kLeastCopied = std::uint64_t{1'088} << 10;

}  // namespace

bool Rotation::Allowance::has_room_for(const Listed& listed) const {
  return entries > 0 && (leads_to_others(listed.kind) || listed.bytes <= bytes);
}

Result<void> Rotation::make_room() {
  Allowance none;
  return make_room(limits_.entries, none);
}

Result<void> Rotation::make_room(std::size_t entries, Allowance& allowance) {
  const std::uint64_t wanted = space_of(limits_.segment_bytes);
  while (!files_.spaces().empty()) {
    const bool fits_disk = files_.used_bytes() + wanted <= limits_.bytes;
    if (fits_disk && catalog_.index.entries() <= entries) break;
    // The newest segment is all that is left, and records are appended to it.
    if (appender_.segment() && files_.oldest() == appender_.segment()->number) break;
    if (const auto reclaimed = reclaim_oldest(allowance); !reclaimed) return reclaimed;
    if (fits_disk) catalog_.counters.crowded_out += 1;
  }
  return {};
}

bool Rotation::has_surplus() const {
  return files_.used_bytes() > limits_.bytes && files_.spaces().size() >= 2;
}

Result<bool> Rotation::reclaim_surplus() {
  if (!has_surplus()) return false;
  Allowance none;
  if (const auto reclaimed = reclaim_oldest(none); !reclaimed) return reclaimed.error();
  return has_surplus();
}

Result<void> Rotation::reclaim_oldest(Allowance& allowance) {
  const std::uint32_t number = files_.oldest();
  const auto segment = catalog_.segments.find(number);
  if (segment) {
    // Objects that lose blocks with this segment are reviewed before it is removed. Others may
    // wait.
    auto others = claims_.take();
    auto cleared = clear_out(*segment, allowance);
    if (cleared) cleared = claims_.settle_all();
    claims_.add(std::move(others));
    if (!cleared) return cleared;
    // A reader may still have the file open, which keeps its space taken. So it is emptied first.
    segment->users.save_all();
    if (const auto emptied = segment->file.truncate(0); !emptied) return emptied;
  }
  if (const auto removed = files_.remove(number); !removed) return removed;
  catalog_.segments.remove(number);
  catalog_.rules.forget_before({number + 1, 0});
  catalog_.counters.reclaimed += 1;
  return {};
}

// Asks the system to read ahead the records to copy. A disk with moving heads takes half a minute
// to read some thousand records one by one, and all appends wait for that.
void Rotation::read_ahead(const Segment& segment, const std::vector<Listed>& records,
                          const Allowance& allowance) const {
  constexpr std::uint64_t kGap = 64 * 1024;  // to read such a gap is faster than to seek over it
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  for (const Listed& listed : records) {
    const auto location = catalog_.index.find(listed.key);
    if (is_purge(listed.kind) || !location || !limits_.keep(listed.key, *location)) continue;
    if (limits_.kept_elsewhere({listed.key, listed.rule})) continue;
    if (bytes + listed.bytes > allowance.bytes) continue;
    bytes += listed.bytes;
    if (listed.offset > end + kGap) {
      segment.file.will_be_read(begin, end - begin);
      begin = listed.offset;
    }
    end = listed.offset + listed.bytes;
  }
  segment.file.will_be_read(begin, end - begin);
}

// The entries of a segment that cannot be read are evicted.
Result<void> Rotation::clear_out(const Segment& segment, Allowance& allowance) {
  const auto scanned = scan(segment.file, segment.number);
  if (scanned) {
    if (allowance.entries > 0) read_ahead(segment, scanned->records, allowance);
    for (const Listed& listed : scanned->records) {
      if (is_purge(listed.kind)) continue;
      const auto cleared = clear_out(listed, {segment.number, listed.offset}, allowance);
      if (!cleared) return cleared;
    }
  }
  if (const auto flushed = appender_.flush(); !flushed) return flushed;
  if (!scanned || scanned->damaged) {
    catalog_.counters.evicted += catalog_.index.erase_segment(segment.number);
    claims_.doubt_objects();
  }
  return {};
}

Result<void> Rotation::clear_out(const Listed& listed, Position at, Allowance& allowance) {
  // A newer head lies behind its body. All earlier segments are gone, so the body lay in this one:
  // its record came first, and both were copied or evicted together.
  if (listed.kind == RecordKind::head) {
    if (const auto flushed = appender_.flush(); !flushed) return flushed;
    evict(listed.key, at);
    return {};
  }
  const auto location = catalog_.index.find(listed.key);
  if (!location) return {};
  // Called for every record, even if nothing more may be copied: each call tells the writer's watch
  // that the disk is slow but does not hang.
  const bool used = limits_.keep(listed.key, *location);
  if (location->at != at) {
    // Another record replaced this one. If that record is a newer head for this body, go on with
    // it.
    if (location->kind != RecordKind::head || listed.kind != RecordKind::whole) return {};
    const auto newer = StoredRecord::open(catalog_.segments, listed.key, *location, Wait::yes);
    if (newer && newer->body_at() != at) return {};
  }
  if (listed.kind == RecordKind::block) return clear_out_block(listed.key, *location, allowance);
  // A selector leads to variants, and an object to its blocks: these are not given up with it.
  const bool may_be_kept = allowance.has_room_for(listed);
  const bool has_blocks =
      may_be_kept && listed.kind == RecordKind::object && claims_.holds_any(listed.key, *location);
  const bool leads_on = listed.kind == RecordKind::selector || has_blocks;
  const bool kept = may_be_kept && (used || has_blocks);
  const bool is_duplicate = kept && !leads_on && limits_.kept_elsewhere({listed.key, listed.rule});
  if (is_duplicate) catalog_.counters.duplicates += 1;
  if (kept && !is_duplicate) return copy(listed.key, *location, allowance);
  evict(listed.key, location->at);
  return {};
}

Result<void> Rotation::clear_out_block(const Key& key, const Location& location,
                                       Allowance& allowance) {
  const auto stored = StoredRecord::open(catalog_.segments, key, location, Wait::yes);
  if (!stored) {
    evict(key, location.at);
    return {};
  }
  const RecordHeader& block = stored->header();
  const bool kept =
      allowance.entries > 0 && limits_.keep(key, location) && !claims_.is_orphan(block);
  const auto object = catalog_.index.find(block.key);
  const auto rule = object ? object->rule : digest::RuleMark{0};
  const bool is_duplicate = kept && limits_.kept_elsewhere({block.key, rule});
  if (is_duplicate) catalog_.counters.duplicates += 1;
  if (kept && !is_duplicate) {
    const auto copied = copy(key, location, allowance);
    if (!copied || catalog_.index.find(key)) return copied;
  } else {
    evict(key, location.at);
  }
  if (object && object->claimable_until != 0) claims_.doubt(block.key, block.version);
  return {};
}

void Rotation::evict(const Key& key, Position at) {
  if (catalog_.index.erase_at(key, at)) catalog_.counters.evicted += 1;
}

// Copies the entry, or evicts it if it is damaged, purged or too large. A newer head and its body
// are copied as one record.
Result<void> Rotation::copy(const Key& key, const Location& location, Allowance& allowance) {
  const auto stored = StoredRecord::open(catalog_.segments, key, location, Wait::yes);
  const auto lost = [&] {
    evict(key, location.at);
    return Result<void>();
  };
  if (!stored) return lost();
  const auto giver = stored->header().giver();
  // A copy would have a later position than the purge, and so be found again.
  if (catalog_.rules.purged(stored->url(), location.at, giver)) return lost();
  NewRecord record{.header = stored->header(),
                   .url = std::string(stored->url()),
                   .head = std::string(stored->head())};
  if (location.kind == RecordKind::head) {
    record.header.kind = RecordKind::whole;
    record.header.version = 0;
  }
  const auto bytes = aligned(record.header.checked_bytes() + stored->body_bytes());
  const bool allowed = bytes <= allowance.bytes || leads_to_others(location.kind);
  if (!allowed || !appender_.fits(bytes)) return lost();
  const std::shared_ptr<std::uint8_t[]> body(new std::uint8_t[stored->body_bytes()]);
  const std::span<std::uint8_t> content(body.get(), stored->body_bytes());
  if (!stored->read_body(content, Wait::yes)) return lost();
  record.body.push_back({body, content});
  allowance.bytes -= std::min(bytes, allowance.bytes);
  allowance.entries -= 1;
  return appender_.gather(std::move(record), location.at);
}

Result<void> Rotation::begin_segment(std::uint64_t awaited_bytes) {
  if (!files_.is_open()) return Error::resting;
  if (const auto flushed = appender_.flush(); !flushed) return flushed;
  if (appender_.segment()) {
    if (const auto sealed = seal(); !sealed) return sealed;
  }
  Allowance none;
  if (const auto room = make_room(kAnyNumber, none); !room) return room;
  if (const auto created = create_squeezed(); !created) return created;
  appender_.reserve(awaited_bytes);
  const std::size_t share = limits_.entries / kWantedSegments;
  const std::size_t entries = is_crowded() ? limits_.entries - share : kAnyNumber;
  const auto soon = std::max(appender_.pace().bytes_in(kLongestCopy), kLeastCopied);
  Allowance allowance{std::min<std::uint64_t>(limits_.segment_bytes / 2, soon), share / 2};
  auto ready = make_room(entries, allowance);
  while (ready && may_yield() && lacks_space()) ready = yield_oldest(allowance);
  appender_.reserve(0);
  return ready;
}

Result<void> Rotation::apply_clock() {
  if (!catalog_.segments.times.has_stepped_since(marked_)) return {};
  if (const auto flushed = appender_.flush(); !flushed) return flushed;
  if (!appender_.is_unused()) return begin_segment(0);
  const auto clock = catalog_.segments.times.mark();
  return append_to(files_.mark(appender_.segment()->number, *appender_.purges(), clock), clock);
}

Result<void> Rotation::seal() {
  const auto number = appender_.segment()->number;
  const auto sealed = appender_.seal();
  if (!sealed) return sealed.error();
  files_.account(number, space_of(*sealed));
  return {};
}

Result<void> Rotation::probe() {
  if (!appender_.segment()) return begin_segment(0);
  const auto written = appender_.probe();
  const bool squeezed = !written && written.error() == Error::no_space && may_yield();
  return squeezed ? begin_segment(0) : written;
}

Result<void> Rotation::yield_oldest(Allowance& allowance) {
  const auto reclaimed = reclaim_oldest(allowance);
  if (reclaimed) catalog_.counters.squeezed_out += 1;
  return reclaimed;
}

// If other programs fill the file system, our oldest segments are removed, too. The free space that
// the file system tells ignores quotas: only an attempt to write shows that a quota is used up.
Result<void> Rotation::create_squeezed() {
  for (Allowance none;;) {
    if (!may_yield()) return create();
    if (!lacks_space()) {
      const auto created = create();
      if (created || created.error() != Error::no_space) return created;
    }
    if (const auto yielded = yield_oldest(none); !yielded) return yielded;
  }
}

Result<void> Rotation::create() {
  const auto clock = catalog_.segments.times.mark();
  return append_to(files_.create(limits_.segment_bytes, *appender_.purges(), clock), clock);
}

Result<void> Rotation::append_to(const Result<std::shared_ptr<const Segment>>& segment,
                                 const ClockMark& clock) {
  if (!segment) return segment.error();
  marked_ = clock.ahead;
  catalog_.counters.overhead_bytes += kSegmentHeaderBytes;
  catalog_.segments.add(*segment);
  appender_.begin(*segment, {}, kSegmentHeaderBytes);
  return {};
}

}  // namespace proxy::cache::disk
