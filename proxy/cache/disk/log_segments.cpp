#include <algorithm>
#include <utility>

#include "proxy/cache/disk/log.hpp"
#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {
namespace {

constexpr auto kAnyNumber = std::numeric_limits<std::size_t>::max();

// What is kept of a segment is copied while all that is appended waits: no more than the disk
// writes in that time, or one block of a large object.
constexpr std::chrono::milliseconds kLongestCopy{300};
constexpr std::uint64_t kLeastCopied = std::uint64_t{1'088} << 10;

}  // namespace

void Log::account(std::uint32_t segment, std::uint64_t bytes) {
  const auto [size, is_new] = sizes_.try_emplace(segment, 0);
  used_ = used_ - size->second + bytes;
  most_used_ = std::max(most_used_, used_);
  size->second = bytes;
}

// There is always room for one more segment, so that what is kept of the oldest can be copied into
// it before the oldest goes.
Result<void> Log::begin_segment(std::uint64_t awaited_bytes) {
  if (!directory_) return Error::resting;
  const auto flushed = flush();
  if (!flushed) return flushed;
  if (current_) {
    const auto sealed = seal();
    if (!sealed) return sealed;
  }
  Room none;
  const auto room = make_room(kAnyNumber, none);
  if (!room) return room;
  const auto created = create_squeezed();
  if (!created) return created;
  awaited_bytes_ = awaited_bytes;
  const std::size_t share = limits_.entries / kWantedSegments;
  const std::size_t entries = is_crowded() ? limits_.entries - share : kAnyNumber;
  const auto soon = std::max(pace_.bytes_in(kLongestCopy), kLeastCopied);
  Room copies{std::min<std::uint64_t>(limits_.segment_bytes / 2, soon), share / 2};
  auto ready = make_room(entries, copies);
  while (ready && may_yield() && lacks_space()) ready = yield_oldest(copies);
  awaited_bytes_ = 0;
  return ready;
}

Result<void> Log::probe() {
  if (!current_) return begin_segment(0);
  constexpr std::array<std::uint8_t, kAlignment> kNothing{};
  const auto written = current_->segment->file.write(kNothing, current_->end);
  const bool squeezed = !written && written.error() == Error::no_space && may_yield();
  return squeezed ? begin_segment(0) : written;
}

// At most until half of the most that there was is left: what others have filled is not for us to
// make up for.
bool Log::may_yield() const {
  if (sizes_.size() < 2 || used_ <= most_used_ / 2) return false;
  return !current_ || current_->segment->number != sizes_.begin()->first;
}

bool Log::lacks_space() const {
  return directory_->free_bytes() < space_of(limits_.segment_bytes);
}

Result<void> Log::yield_oldest(Room& copies) {
  const auto reclaimed = reclaim(sizes_.begin()->first, copies);
  if (reclaimed) shared_.counters.squeezed_out += 1;
  return reclaimed;
}

// Of a quota the file system does not tell: that one is met is known by the attempt.
Result<void> Log::create_squeezed() {
  for (Room none;;) {
    if (!may_yield()) return create_segment();
    if (!lacks_space()) {
      const auto created = create_segment();
      if (created || created.error() != Error::no_space) return created;
    }
    const auto yielded = yield_oldest(none);
    if (!yielded) return yielded;
  }
}

Result<void> Log::create_segment() {
  auto made = directory_->create_behind(last_number_);
  if (!made) return made.error();
  const std::uint32_t number = last_number_ = made->segment;
  auto ready = made->file.reserve(limits_.segment_bytes);
  if (ready) ready = made->file.write(encode_segment_header(number, *purges_), 0);
  if (!ready) {
    if (!directory_->remove(number)) account(number, space_of(limits_.segment_bytes));
    return ready;
  }
  account(number, space_of(limits_.segment_bytes));
  shared_.counters.overhead_bytes += kSegmentHeaderBytes;
  const auto segment = std::make_shared<const Segment>(number, std::move(made->file));
  shared_.segments.add(segment);
  current_ = Current{segment, {}, kSegmentHeaderBytes};
  return {};
}

// Without a footer, if that fails: then the next start replays it.
Result<void> Log::seal() {
  const Current sealed = *std::exchange(current_, std::nullopt);
  const File& file = sealed.segment->file;
  const auto footer = encode_footer(sealed.segment->number, sealed.records, purges_.value_or(0));
  auto done = file.write(footer, sealed.end);
  if (done) done = file.truncate(sealed.end + footer.size());
  if (!done) return done;
  account(sealed.segment->number, space_of(sealed.end + footer.size()));
  shared_.counters.overhead_bytes += footer.size();
  return {};
}

Result<void> Log::make_room(std::size_t entries, Room& copies) {
  const std::uint64_t wanted = space_of(limits_.segment_bytes);
  while (!sizes_.empty()) {
    const bool fits_disk = used_ + wanted <= limits_.bytes;
    if (fits_disk && shared_.index.entries() <= entries) break;
    const std::uint32_t oldest = sizes_.begin()->first;
    if (current_ && oldest == current_->segment->number) break;
    const auto reclaimed = reclaim(oldest, copies);
    if (!reclaimed) return reclaimed;
    if (fits_disk) shared_.counters.crowded_out += 1;
  }
  return {};
}

Result<void> Log::reclaim(std::uint32_t number, Room& room) {
  const auto segment = shared_.segments.find(number);
  if (segment) {
    auto others = std::exchange(doubted_, {});  // may wait
    auto cleared = clear_out(*segment, room);
    if (cleared) cleared = review_doubted();
    doubted_.merge(others);
    if (!cleared) return cleared;
    // Readers may have it open for a while yet: what it takes of the disk goes at once.
    const auto emptied = segment->file.truncate(0);
    if (!emptied) return emptied;
  }
  const auto removed = directory_->remove(number);
  if (!removed && removed.error() != Error::no_directory) return removed;
  shared_.segments.remove(number);
  account(number, 0);
  sizes_.erase(number);
  shared_.rules.forget_before({number + 1, 0});
  shared_.counters.reclaimed += 1;
  return {};
}

// Some thousand records read one by one would take a disk that moves its heads half a minute, for
// which what is appended would have to wait.
void Log::read_ahead(const Segment& segment, const std::vector<Listed>& records,
                     const Room& room) const {
  constexpr std::uint64_t kGap = 64 * 1024;  // sooner read than passed over
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  for (const Listed& listed : records) {
    const auto place = shared_.index.find(listed.key);
    if (is_purge(listed.kind) || !place || !limits_.keep(listed.key, *place)) continue;
    if (bytes + listed.bytes > room.bytes) continue;
    bytes += listed.bytes;
    if (listed.offset > end + kGap) {
      segment.file.will_be_read(begin, end - begin);
      begin = listed.offset;
    }
    end = listed.offset + listed.bytes;
  }
  segment.file.will_be_read(begin, end - begin);
}

// What cannot be read is lost with it.
Result<void> Log::clear_out(const Segment& segment, Room& room) {
  const auto scanned = scan(segment.file, segment.number);
  if (scanned) {
    if (room.entries > 0) read_ahead(segment, scanned->records, room);
    for (const Listed& listed : scanned->records) {
      if (is_purge(listed.kind)) continue;
      const auto cleared = clear_out(listed, {segment.number, listed.offset}, room);
      if (!cleared) return cleared;
    }
  }
  const auto flushed = flush();
  if (!flushed) return flushed;
  if (!scanned || scanned->damaged) {
    shared_.counters.evicted += shared_.index.erase_segment(segment.number);
    doubt_objects();
  }
  return {};
}

Result<void> Log::clear_out(const Listed& listed, Position at, Room& room) {
  // A newer head went with the body, which lies before it and not in an earlier segment.
  if (listed.kind == Kind::head) {
    const auto flushed = flush();
    if (!flushed) return flushed;
    evict(listed.key, at);
    return {};
  }
  const auto place = shared_.index.find(listed.key);
  if (!place) return {};
  const bool used = limits_.keep(listed.key, *place);  // asked of each: so one sees that it goes on
  if (place->at != at) {
    if (place->kind != Kind::head || listed.kind != Kind::whole) return {};
    const auto newer = Stored::open(shared_.segments, listed.key, *place, Wait::yes);
    if (newer && newer->body_at() != at) return {};
  }
  if (listed.kind == Kind::block) return clear_out_block(listed.key, *place, room);
  // Without its record no block or variant is found, though they are in segments that stay.
  const bool binds = listed.kind == Kind::object || listed.kind == Kind::selector;
  const bool has_room = room.entries > 0 && (binds || listed.bytes <= room.bytes);
  const bool is_kept =
      has_room && (used || (listed.kind == Kind::object && holds_any(listed.key, *place)));
  if (is_kept) return copy(listed.key, *place, room);
  evict(listed.key, place->at);
  return {};
}

void Log::evict(const Key& key, Position at) {
  if (shared_.index.erase_at(key, at)) shared_.counters.evicted += 1;
}

// The entry as one record, whether or not its head is newer than its body.
Result<void> Log::copy(const Key& key, const Place& place, Room& room) {
  const auto stored = Stored::open(shared_.segments, key, place, Wait::yes);
  const auto lost = [&] {
    evict(key, place.at);
    return Result<void>();
  };
  if (!stored || shared_.rules.purged(stored->url(), place.at)) return lost();
  Record record{.header = stored->header(),
                .url = std::string(stored->url()),
                .head = std::string(stored->head())};
  if (place.kind == Kind::head) {
    record.header.kind = Kind::whole;
    record.header.version = 0;
  }
  const auto bytes = aligned(record.header.checked_bytes() + stored->body_bytes());
  const bool binds = place.kind == Kind::object || place.kind == Kind::selector;
  if ((bytes > room.bytes && !binds) || !fits(bytes)) return lost();
  const std::shared_ptr<std::uint8_t[]> body(new std::uint8_t[stored->body_bytes()]);
  const std::span<std::uint8_t> content(body.get(), stored->body_bytes());
  if (!stored->read_body(content, Wait::yes)) return lost();
  record.body.push_back({body, content});
  room.bytes -= std::min(bytes, room.bytes);
  room.entries -= 1;
  return gather(std::move(record), place.at);
}

}  // namespace proxy::cache::disk
