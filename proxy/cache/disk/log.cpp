#include "proxy/cache/disk/log.hpp"

#include <algorithm>
#include <utility>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {
namespace {

constexpr std::size_t kGatheredPieces = 960;  // of the 1024 that one call takes
constexpr std::uint64_t kGatheredBytes = std::uint64_t{1} << 20;

constexpr std::array<std::uint8_t, kAlignment> kZeros{};

iovec piece_of(Bytes bytes) {
  return {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
}

std::uint64_t size_of(const std::vector<Piece>& pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes.size();
  return bytes;
}

}  // namespace

std::uint64_t Record::footprint() const {
  std::uint64_t bytes = sizeof(Record) + url.capacity() + head.capacity();
  for (const Piece& piece : body) bytes += sizeof(Piece) + piece.bytes.size();
  return bytes;
}

std::uint64_t Record::most_bytes() const {
  const auto content = size_of(body_if_moved ? *body_if_moved : body);
  return kRecordHeaderBytes + url.size() + head.size() + content;
}

Result<std::uint32_t> segment_bytes_for(const LogLimits& limits) {
  const std::uint64_t share = limits.bytes / kWantedSegments / 4096 * 4096;
  const auto bytes = std::min<std::uint64_t>({limits.segment_bytes, share, kMaxSegmentBytes});
  if (bytes < kLeastSegmentBytes) return Error::too_small;
  return static_cast<std::uint32_t>(bytes);
}

Log::Log(LogLimits limits, Shared shared) : limits_(std::move(limits)), shared_(shared) {}

// With the footer that will tell of it, of all before, and of the one that a segment is begun for.
bool Log::fits(std::uint64_t record_bytes) const {
  const auto records = current_->records.size() + gathered_.size() + 2;
  const auto end = current_->end + gathered_bytes_ + aligned(record_bytes) + awaited_bytes_;
  return end + footer_bytes(records) <= limits_.segment_bytes;
}

Result<void> Log::append(Record record) {
  const auto fail = [&](Error error) {
    shared_.counters.failed_writes += 1;
    if (record.done) record.done(error);
  };
  const std::uint64_t bytes = record.most_bytes();
  if (kSegmentHeaderBytes + aligned(bytes) + footer_bytes(2) > limits_.segment_bytes) {
    fail(Error::too_large);
    return {};
  }
  auto ready = depends_on_gathered(record) ? flush() : Result<void>();
  const bool has_room = current_ && fits(bytes) && !is_crowded();
  if (ready && !has_room) ready = begin_segment(aligned(bytes));
  if (!ready || !still_replaces(record)) {
    fail(ready ? Error::gone : ready.error());
    return ready;
  }
  if (record.header.claims_blocks()) {
    record.header.flags = holds_all(record.header, record.url) ? kAllHeld : 0;
  }
  return gather(std::move(record), std::nullopt);
}

// A start goes by the log alone: no newer head may be in it that does not count. Whoever stores
// anew or purges takes what is held from the index first: what is found elsewhere was copied.
bool Log::still_replaces(Record& record) const {
  if (!record.replaces) return true;
  const auto held = shared_.index.find(record.header.key);
  if (!held || shared_.rules.purged(record.url, held->at)) return false;
  if (held->at == *record.replaces) return true;
  if (!record.body_if_moved) return false;
  record.header.kind = Kind::whole;
  record.header.version = 0;
  record.body = std::move(*record.body_if_moved);
  record.replaces = held->at;
  return true;
}

// What is gathered might replace it first, purge it, or be its blocks.
bool Log::depends_on_gathered(const Record& record) const {
  if (!record.replaces && !record.header.claims_blocks()) return false;
  return std::any_of(gathered_.begin(), gathered_.end(), [&](const Gathered& added) {
    const RecordHeader& header = added.record.header;
    if (header.key == record.header.key) return true;  // blocks have that of their object
    return header.kind == Kind::purge_prefix || header.kind == Kind::searched;
  });
}

Result<void> Log::gather(Record record, std::optional<Position> moved_from) {
  Gathered& added = gathered_.emplace_back(Gathered{std::move(record), {}, moved_from});
  RecordHeader& header = added.record.header;
  header.purges = *purges_;
  if (is_purge(header.kind)) *purges_ += 1;
  header.at = {current_->segment->number,
               static_cast<std::uint32_t>(current_->end + gathered_bytes_)};
  header.url_bytes = static_cast<std::uint32_t>(added.record.url.size());
  header.head_bytes = static_cast<std::uint32_t>(added.record.head.size());
  header.body_checksum = 0;
  for (const Piece& piece : added.record.body) {
    header.body_checksum = digest::crc32c(piece.bytes, header.body_checksum);
  }
  header.body_bytes = static_cast<std::uint32_t>(size_of(added.record.body));
  const auto url = bytes_of(added.record.url);
  const auto head = bytes_of(added.record.head);
  added.header = encode(header, url, head);
  pieces_.push_back(piece_of(added.header));
  pieces_.push_back(piece_of(url));
  pieces_.push_back(piece_of(head));
  for (const Piece& piece : added.record.body) pieces_.push_back(piece_of(piece.bytes));
  const auto filled_up = aligned(header.bytes());
  pieces_.push_back(piece_of(Bytes(kZeros).first(filled_up - header.bytes())));
  gathered_bytes_ += filled_up;
  if (gathered_bytes_ < kGatheredBytes && pieces_.size() < kGatheredPieces) return {};
  return flush();
}

Result<void> Log::flush() {
  if (gathered_.empty()) return {};
  const auto begun = std::chrono::steady_clock::now();
  const auto written = current_->segment->file.write(pieces_, current_->end);
  if (written) pace_.note(gathered_bytes_, std::chrono::steady_clock::now() - begun);
  const bool purges = std::any_of(gathered_.begin(), gathered_.end(), [](const Gathered& added) {
    return is_purge(added.record.header.kind);
  });
  auto result = written;
  if (written && purges && limits_.sync_purges) result = current_->segment->file.sync();
  if (!result) {
    fail_gathered(result.error());
    return result;
  }
  current_->end += gathered_bytes_;
  pieces_.clear();
  gathered_bytes_ = 0;
  auto applied = std::exchange(gathered_, {});
  for (Gathered& added : applied) apply(added);
  return {};
}

// What was written of it nevertheless must not be taken for records behind later ones.
void Log::fail_gathered(Error error) {
  if (current_ && !current_->segment->file.truncate(current_->end)) current_.reset();
  pieces_.clear();
  gathered_bytes_ = 0;
  shared_.counters.failed_writes += gathered_.size();
  for (Gathered& failed : std::exchange(gathered_, {})) {
    if (is_purge(failed.record.header.kind)) *purges_ -= 1;
    if (failed.record.done) failed.record.done(error);
  }
}

// Everything that changes the index does so here, in the order of the log.
void Log::apply(Gathered& added) {
  const RecordHeader& header = added.record.header;
  current_->records.push_back(listed(header));
  const Place place{.at = header.at,
                    .bytes = static_cast<std::uint32_t>(header.bytes()),
                    .claimable_until = header.claim(),
                    .kind = header.kind};
  Counters& counters = shared_.counters;
  const Key key = header.index_key();
  bool found = true;
  if (header.kind == Kind::searched) {
    counters.overhead_bytes += aligned(header.bytes());
    apply_searched(added.record.head);
  } else if (added.moved_from) {
    counters.reinserted_bytes += aligned(header.bytes());
    if (shared_.index.replace_at(key, *added.moved_from, place)) counters.reinserted += 1;
  } else {
    counters.stored_bytes += aligned(header.bytes());
    counters.stored += 1;
    if (header.kind == Kind::purge) {
      shared_.index.erase(key);
    } else if (header.kind == Kind::purge_prefix) {
      shared_.rules.settle(added.record.url, header.at);
    } else if (added.record.replaces) {
      found = shared_.index.replace_at(key, *added.record.replaces, place);
    } else {
      shared_.index.put(key, place);
    }
  }
  if (!added.record.done) return;
  added.record.done(found ? Result<Position>(header.at) : Error::gone);
}

}  // namespace proxy::cache::disk
