#include "proxy/cache/disk/appender.hpp"

#include <algorithm>
#include <utility>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {

namespace {

constexpr std::size_t kGatheredPieces = 960;  // one pwritev() takes 1024 (IOV_MAX)
constexpr std::uint64_t kGatheredBytes = std::uint64_t{1} << 20;

constexpr std::array<std::uint8_t, kAlignment> kZeros{};

iovec piece_of(Bytes bytes) {
  return {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

void Appender::begin(std::shared_ptr<const Segment> segment, std::vector<Listed> records,
                     std::uint64_t end) {
  current_ = Current{std::move(segment), std::move(records), end};
}

Result<std::uint64_t> Appender::seal() {
  const Current sealed = *std::exchange(current_, std::nullopt);
  const File& file = sealed.segment->file;
  const auto footer = encode_footer(sealed.segment->number, sealed.records, purges_.value_or(0));
  // The footer has to end the file. What was reserved behind it is given back.
  const std::uint64_t bytes = sealed.end + footer.size();
  auto done = file.write(footer, sealed.end);
  if (done) done = file.truncate(bytes);
  if (!done) return done.error();
  catalog_.counters.overhead_bytes += footer.size();
  return bytes;
}

void Appender::abandon() {
  fail_gathered(Error::resting);
  current_.reset();
  purges_.reset();
}

// The footer is computed for two records more: this one, and the one that has bytes reserved.
bool Appender::fits(std::uint64_t record_bytes) const {
  if (!current_) return false;
  const auto records = current_->records.size() + gathered_.size() + 2;
  const auto end = current_->end + gathered_bytes_ + aligned(record_bytes) + reserved_bytes_;
  return end + footer_bytes(records) <= limits_.segment_bytes;
}

bool Appender::affects(const NewRecord& record) const {
  // Other records need nothing of the index while they are completed.
  if (!record.replaces && !record.header.claims_blocks()) return false;
  return std::ranges::any_of(gathered_, [&](const Gathered& added) {
    const RecordHeader& header = added.record.header;
    if (header.key == record.header.key) return true;  // blocks have the key of their object
    return header.kind == RecordKind::purge_prefix || header.kind == RecordKind::searched;
  });
}

void Appender::complete_header(NewRecord& record) {
  RecordHeader& header = record.header;
  header.purges = *purges_;
  if (is_purge(header.kind)) *purges_ += 1;
  header.at = {current_->segment->number,
               static_cast<std::uint32_t>(current_->end + gathered_bytes_)};
  header.url_bytes = static_cast<std::uint32_t>(record.url.size());
  header.head_bytes = static_cast<std::uint32_t>(record.head.size());
  header.body_checksum = 0;
  for (const RecordPiece& piece : record.body) {
    header.body_checksum = digest::crc32c(piece.bytes, header.body_checksum);
  }
  header.body_bytes = static_cast<std::uint32_t>(size_of(record.body));
}

Result<void> Appender::gather(NewRecord record, std::optional<Position> moved_from) {
  Gathered& added = gathered_.emplace_back(Gathered{std::move(record), {}, {}, moved_from});
  complete_header(added.record);
  RecordHeader& header = added.written = added.record.header;
  // The disk gets wall time, since the next run has another clock. The index gets ours.
  shift_times(header, catalog_.segments.times.ahead(current_->segment->times, header.at.offset));
  const auto url = bytes_of(added.record.url);
  const auto head = bytes_of(added.record.head);
  added.header = encode(header, url, head);
  pieces_.push_back(piece_of(added.header));
  pieces_.push_back(piece_of(url));
  pieces_.push_back(piece_of(head));
  for (const RecordPiece& piece : added.record.body) pieces_.push_back(piece_of(piece.bytes));
  const auto filled_up = aligned(header.bytes());
  pieces_.push_back(piece_of(Bytes(kZeros).first(filled_up - header.bytes())));
  gathered_bytes_ += filled_up;
  // One call for many records: for a small record the call costs more than its bytes.
  if (gathered_bytes_ < kGatheredBytes && pieces_.size() < kGatheredPieces) return {};
  return flush();
}

Result<void> Appender::flush() {
  if (gathered_.empty()) return {};
  const auto begun = catalog_.clock.steady();
  const auto written = current_->segment->file.write(pieces_, current_->end);
  if (written) pace_.record(gathered_bytes_, catalog_.clock.steady() - begun);
  const bool purges = std::ranges::any_of(
      gathered_, [](const Gathered& added) { return is_purge(added.record.header.kind); });
  auto result = written;
  // Before any `done` is called: a purge that is reported must survive a loss of power.
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

// The next record overwrites the zeros. To a replay they mean that nothing follows.
Result<void> Appender::probe() const {
  return current_->segment->file.write(kZeros, current_->end);
}

// Some of the gathered records may have been written. They are cut off, because a later start would
// find them behind the records that are appended next.
void Appender::fail_gathered(Error error) {
  if (current_ && !current_->segment->file.truncate(current_->end)) current_.reset();
  pieces_.clear();
  gathered_bytes_ = 0;
  catalog_.counters.failed_writes += gathered_.size();
  for (Gathered& failed : std::exchange(gathered_, {})) {
    if (is_purge(failed.record.header.kind)) *purges_ -= 1;
    if (failed.record.done) failed.record.done(error);
  }
}

// The index must follow the order of the log, because the next start does. So only this function
// adds to the index while the log is open.
void Appender::apply(Gathered& added) {
  const RecordHeader& header = added.record.header;
  current_->records.push_back(listed(added.written));
  const Location location{.at = header.at,
                          .bytes = static_cast<std::uint32_t>(header.bytes()),
                          .claimable_until = header.claim(),
                          .kind = header.kind,
                          .rule = header.rule};
  Counters& counters = catalog_.counters;
  bool found = true;
  if (header.kind == RecordKind::searched) {
    counters.overhead_bytes += aligned(header.bytes());
    apply_searched(added.record.head);
  } else if (added.moved_from) {
    counters.reinserted_bytes += aligned(header.bytes());
    const bool moved = catalog_.index.replace_at(header.index_key(), *added.moved_from, location);
    if (moved) counters.reinserted += 1;
  } else {
    counters.stored_bytes += aligned(header.bytes());
    counters.stored += 1;
    found = apply_stored(added, location);
  }
  if (!added.record.done) return;
  added.record.done(found ? Result<Position>(header.at) : Error::gone);
}

// Returns whether the record counts. A newer head does not count if its entry is gone.
bool Appender::apply_stored(Gathered& added, const Location& location) {
  const RecordHeader& header = added.record.header;
  const Key key = header.index_key();
  if (header.kind == RecordKind::purge) {
    catalog_.index.erase(key);
  } else if (header.kind == RecordKind::purge_prefix) {
    catalog_.rules.settle(added.record.url, header.at);
  } else if (added.record.replaces) {
    return catalog_.index.replace_at(key, *added.record.replaces, location);
  } else {
    catalog_.index.put(key, location);
  }
  return true;
}

void Appender::apply_searched(std::string_view head) {
  const auto found = decode_searched(head);
  if (!found) return;
  for (const Searched& entry : *found) {
    if (catalog_.index.erase_at(entry.key, entry.at)) catalog_.counters.purged += 1;
  }
}

}  // namespace proxy::cache::disk
