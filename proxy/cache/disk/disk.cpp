#include "proxy/cache/disk/disk.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache::disk {

namespace {

// The time now, but at least 2025: a machine without a battery for its clock may start in 1970.
std::uint32_t past_second(machine::Clock& clock) {
  constexpr std::chrono::sys_days kLongPast{std::chrono::year{2025} / 1 / 1};
  const auto past = std::max<machine::Clock::Time>(clock.shown(), kLongPast);
  return static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::seconds>(past.time_since_epoch()).count());
}

LogLimits fitted(LogLimits limits) {
  const auto bytes = segment_bytes_for(limits);
  if (bytes) limits.segment_bytes = *bytes;
  return limits;
}

NewRecord purge_of(const Key& key) {
  return {.header = {.kind = RecordKind::purge, .key = key}};
}

std::function<void(Result<Position>)> without_position(Done done) {
  return [done = std::move(done)](Result<Position> at) {
    if (done) done(at ? Result<void>() : at.error());
  };
}

// If the record cannot be written, purges the entry that it replaces: otherwise the next start
// would find that entry.
void purge_unless_written(NewRecord& record, Writer& writer) {
  const Key key = record.header.key;
  record.done = [&writer, key, done = std::move(record.done)](Result<Position> at) {
    if (!at && at.error() != Error::gone) writer.owe(purge_of(key));
    if (done) done(at);
  };
}

}  // namespace

Disk::Disk(machine::Clock& clock, Options options, const digest::RandomWords& random)
    : options_(std::move(options)),
      limits_(fitted(options_.log)),
      segment_bytes_(limits_.segment_bytes),
      next_version_(random()),
      catalog_(clock, past_second(clock), options_.purge_reading, clock.shown(),
               static_cast<std::uint32_t>(random())),
      watch_(clock, options_.longest_start),
      queue_(options_, catalog_, watch_),
      writer_(options_, limits_, catalog_, queue_, watch_) {}

Result<Loaded> Disk::start(InUse in_use) {
  const auto segment_bytes = segment_bytes_for(options_.log);
  if (!segment_bytes) return segment_bytes.error();
  auto loaded = writer_.start();
  if (loaded.wait_for(options_.longest_start) != std::future_status::ready) return Error::hangs;
  const auto started = loaded.get();
  // The thread would go on trying, though the caller gives up.
  const bool fails = in_use == InUse::fails && !started && started.error() == Error::in_use;
  if (fails) writer_.stop();
  return started;
}

Result<void> Disk::resize(std::uint64_t bytes, std::size_t entries) {
  LogLimits wanted = options_.log;
  wanted.bytes = bytes;
  wanted.entries = entries;
  const auto segment_bytes = segment_bytes_for(wanted);
  if (!segment_bytes) return segment_bytes.error();
  wanted.segment_bytes = *segment_bytes;
  // At once, so that no record is queued that the smaller segments have no room for.
  segment_bytes_.store(*segment_bytes, std::memory_order_relaxed);
  writer_.resize(size_of(wanted));
  return {};
}

std::optional<Location> Disk::find(const Key& key, std::string_view url) {
  if (!catalog_.ready.load(std::memory_order_acquire)) return std::nullopt;
  // The index before `purging`: a purge counts there first, and then erases from the index.
  const auto location = catalog_.index.use(key);
  if (!location || catalog_.purging.any(key)) return std::nullopt;
  if (catalog_.rules.purged(url, location->at)) {
    catalog_.index.set_claim(key, location->at, 0);  // the search may find it much later
    return std::nullopt;
  }
  return location;
}

bool Disk::holds(const Key& key, std::string_view url, Position at) const {
  if (catalog_.purging.any(key) || !catalog_.ready.load(std::memory_order_acquire)) return false;
  const auto location = catalog_.index.find(key);
  return location && location->at == at && !catalog_.rules.purged(url, at);
}

Result<StoredRecord> Disk::open(const Key& key, const Location& location, Wait wait) {
  auto stored = StoredRecord::open(catalog_.segments, key, location, wait);
  if (!stored) drop(key, location, stored.error());
  if (!stored) return stored;
  // The index does not know givers, so that only the record tells whether a purge covers it.
  const GiverTag giver = stored->header().giver();
  if (giver == 0 || !catalog_.rules.purged(stored->url(), location.at, giver)) return stored;
  if (catalog_.index.erase_at(key, location.at)) purge(key, {});
  return Error::gone;
}

Result<void> Disk::read_body(const StoredRecord& stored,
                             std::span<const std::span<std::uint8_t>> into, Wait wait) {
  const auto read = stored.read_body(into, wait);
  const RecordHeader& header = stored.header();
  if (!read) drop(header.index_key(), {.at = header.at}, read.error());
  return read;
}

Result<void> Disk::read_body(const StoredBody& stored,
                             std::span<const std::span<std::uint8_t>> into, Wait wait) {
  const auto read = stored.read(into, wait);
  if (!read) drop(stored.key, {.at = stored.front}, read.error());
  return read;
}

Result<void> Disk::check(const Key& key, const Location& location, std::string& url) {
  const auto stored = StoredRecord::open(catalog_.segments, key, location, Wait::yes);
  if (stored) url = stored->url();
  const auto read = stored ? stored->body_in_file().check(Wait::yes) : Result<void>(stored.error());
  if (read) return read;
  if (!drop(key, location, read.error())) return Error::gone;
  if (location.kind != RecordKind::block) return read;
  if (stored) {
    lose_block(stored->header().key, stored->header().version);
  } else {
    queue_.doubt(WriteQueue::kAnyObject, 0);  // only the damaged head tells the block's object
  }
  return read;
}

// A record that cannot be read is not tried again, because each request for it would wait for a bad
// sector. It is purged, so that the next start does not find it either: the operator may purge the
// entry in the meantime, and without an entry in the index that purge would not be written.
bool Disk::drop(const Key& key, const Location& location, Error reason) {
  if (reason == Error::would_block) return false;
  const bool dropped = catalog_.index.erase_at(key, location.at);
  Counters& counters = catalog_.counters;
  if (dropped && reason == Error::corrupt) counters.corrupt += 1;
  if (reason != Error::corrupt && reason != Error::gone) counters.failed_reads += 1;
  if (dropped && reason != Error::gone) purge(key, {});
  return dropped;
}

Result<void> Disk::append(NewRecord record) {
  return queue_.append(std::move(record));
}

Result<void> Disk::replace(NewRecord record) {
  const Key key = record.header.key;
  // Asked before the entry is erased. A key that the disk lacks costs no purge.
  const bool may_be_there = may_hold(key);
  catalog_.index.erase(key);
  return may_be_there ? freshen(std::move(record)) : append(std::move(record));
}

Result<void> Disk::freshen(NewRecord record) {
  const Key key = record.header.key;
  purge_unless_written(record, writer_);
  const auto taken = append(std::move(record));
  if (!taken) purge(key, {});
  return taken;
}

// The index is asked last: a record leaves `unwritten` only after the index has it.
bool Disk::may_hold(const Key& key) const {
  if (catalog_.log_has_more.load(std::memory_order_acquire)) return true;
  if (catalog_.unwritten.any(key)) return true;
  return !catalog_.ready.load(std::memory_order_acquire) || catalog_.index.find(key);
}

void Disk::purge(const Key& key, Done done) {
  catalog_.purging.add(key);
  catalog_.index.erase(key);
  NewRecord record = purge_of(key);
  record.done = without_position(std::move(done));
  queue_.purge(std::move(record));
}

Result<void> Disk::purge_prefix(std::string_view text, Done done, PurgeRules::Room room) {
  if (catalog_.rules.add(text, room) == PurgeRules::Added::too_many) return Error::busy;
  NewRecord record{
      .header = {.kind = RecordKind::purge_prefix}, .url = std::string(text), .head = {}};
  record.done = without_position(std::move(done));
  queue_.purge(std::move(record));
  return {};
}

void Disk::lose_block(const Key& object, std::uint64_t version) {
  const auto location = catalog_.index.find(object);
  if (!location || location->claimable_until == 0) return;
  if (location->kind != RecordKind::object && location->kind != RecordKind::selector) return;
  catalog_.index.set_claim(object, location->at, 0);
  queue_.doubt(object, version);
}

}  // namespace proxy::cache::disk
