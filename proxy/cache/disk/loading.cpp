#include "proxy/cache/disk/loading.hpp"

#include <array>
#include <utility>

#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

namespace {

void count_loss(const Scanned& scanned, bool newest, Loaded& found) {
  const bool cut = newest && scanned.cut && !scanned.damaged;
  found.cut += cut ? 1 : 0;
  found.damaged += !cut && (scanned.damaged || scanned.cut) ? 1 : 0;
}

// A file whose time is not known counts as changed lately.
bool changed_lately(const File& file, machine::Clock& clock) {
  const auto status = file.status();
  if (!status) return true;
  const auto changed = std::chrono::system_clock::from_time_t(status->st_mtime);
  return changed + LatelyPurged::kLately >= clock.shown();
}

// Whether the file has nothing of ours. A file that cannot be read may be ours, so it counts as
// ours.
Result<bool> is_foreign(const Directory& directory, const Directory::Item& item, bool newest,
                        Loaded& found) {
  if (item.bytes > space_of(kMaxSegmentBytes)) {
    found.damaged += 1;
    return true;
  }
  const auto file = directory.open_segment(item.segment, Access::read);
  if (!file && file.error() == Error::no_descriptors) return file.error();
  std::array<std::uint8_t, kSegmentHeaderBytes> begin{};
  if (!file || !file->read_some(begin, 0, Wait::yes)) return false;
  if (check_segment_header(begin, item.segment) != SegmentHeader::damaged) return false;
  const auto scanned = scan(*file, item.segment);
  if (!scanned || !scanned->records.empty() || scanned->purges) return false;
  count_loss(*scanned, newest, found);
  return true;
}

}  // namespace

// A damaged file whose number follows that of our newest segment may have been our newest segment.
// Then its purges are lost: sets `forgotten`.
Result<std::vector<Directory::Item>> own_segments(const Directory& directory, Loaded& found) {
  const auto items = directory.segments();
  if (!items) return items.error();
  std::vector<Directory::Item> ours;
  std::uint32_t damaged = 0;  // the lowest number of damaged files above all of ours
  for (auto item = items->rbegin(); item != items->rend(); ++item) {
    if (!item->is_file) continue;
    const auto losses = found.damaged;
    const auto foreign = is_foreign(directory, *item, ours.empty(), found);
    if (!foreign) return foreign.error();
    if (*foreign) {
      if (ours.empty() && found.damaged > losses) damaged = item->segment;
      (void)directory.remove(item->segment);
    } else {
      ours.push_back(*item);
    }
  }
  if (!ours.empty() && damaged == ours.front().segment + 1) found.forgotten = 1;
  return ours;
}

Result<void> Loading::run(Rotation& rotation) {
  const auto segments = files_.spaces();  // a copy: empty segments are removed on the way
  if (!segments.empty()) newest_ = segments.rbegin()->first;
  read_times();
  for (const auto& [number, bytes] : segments) {
    if (const auto loaded = load(number, rotation); !loaded) return loaded;
  }
  if (found_.forgotten > 0) learner_.forget_all();
  learner_.finish();
  const auto purges = appender_.purges().value_or(0) + found_.forgotten;
  appender_.set_purges(static_cast<std::uint16_t>(purges));
  return {};
}

void Loading::read_times() {
  TimesOfRuns times(catalog_.segments.times.run());
  const auto& segments = files_.spaces();
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    const std::uint32_t number = segment->first;
    const auto file = files_.directory().open_segment(number, Access::read);
    std::array<std::uint8_t, kSegmentHeaderBytes> begin{};
    const bool read = file && file->read_some(begin, 0, Wait::yes);
    if (!read || check_segment_header(begin, number) != SegmentHeader::good) continue;
    times_.emplace(number, times.next(clock_mark(begin)));
  }
}

// The header of each segment has the number of purges before it, so a wrong number shows that
// purges were lost. No number follows the end of the newest segment: purges lost there leave no
// trace. Only if the whole segment is unusable do purges count as lost.
Result<void> Loading::load(std::uint32_t number, Rotation& rotation) {
  auto file = files_.directory().open_segment(number);
  if (!file && file.error() == Error::no_descriptors) return file.error();
  auto scanned = file ? scan(*file, number) : file.error();
  const bool newest = number == newest_;
  const bool rubbish = scanned && scanned->damaged && scanned->records.empty();
  if (newest && (!scanned || scanned->other_version || rubbish)) found_.forgotten = 1;
  // The system may read it at a later start, so that the file stays.
  if (!scanned) {
    found_.unreadable += 1;
    files_.skip(number);
    return {};
  }
  found_.other_version += scanned->other_version ? 1 : 0;
  count_loss(*scanned, newest, found_);
  if (lost_a_purge(appender_.purges(), *scanned)) learner_.forget_all();
  if (scanned->purges) appender_.set_purges(scanned->purges);
  const auto before = std::exchange(mark_before_, scanned->clock);
  const bool shows_a_step =
      scanned->clock.ahead.count() != 0 ||
      (before.run == scanned->clock.run && before.ahead != scanned->clock.ahead);
  if (scanned->records.empty() && !shows_a_step) {
    (void)files_.remove(number);  // its number may be used again
    return {};
  }
  learn(std::move(*file), std::move(*scanned), number, rotation);
  return {};
}

void Loading::learn(File file, Scanned scanned, std::uint32_t number, Rotation& rotation) {
  files_.skip(number);
  found_.segments += 1;
  found_.replayed += scanned.sealed ? 0 : 1;
  const bool lately = changed_lately(file, catalog_.clock);
  auto times = times_[number];
  if (times.earlier_until != 0) times.earlier_until = static_cast<std::uint32_t>(scanned.end);
  auto segment = std::make_shared<const Segment>(number, std::move(file), times);
  catalog_.segments.add(segment);
  learn_shifted(scanned.records, *segment);
  if (lately) record_purges(scanned.records, number);
  finish(std::move(segment), std::move(scanned), rotation);
}

void Loading::learn_shifted(const std::vector<Listed>& records, const Segment& segment) {
  const auto ahead = catalog_.segments.times.ahead(segment.times, 0);
  if (ahead.count() == 0) return learner_.learn(records, segment.number);
  auto shifted = records;
  for (Listed& record : shifted) {
    record.claimable_until = shifted_claim(record.claimable_until, -ahead);
  }
  learner_.learn(shifted, segment.number);
}

void Loading::record_purges(const std::vector<Listed>& records, std::uint32_t segment) {
  auto& purged = found_.lately_purged;
  for (const Listed& listed : records) {
    if (listed.kind == RecordKind::purge) purged.keys.push_back(listed.key);
    if (listed.kind != RecordKind::purge_prefix) continue;
    const Location place{
        .at = {segment, listed.offset}, .bytes = listed.bytes, .kind = listed.kind};
    const auto rule = StoredRecord::open(catalog_.segments, {}, place, Wait::yes);
    purged.prefixes.emplace_back(rule ? rule->url() : "");  // "": all
  }
}

// Records are appended to the newest segment unless it is nearly full: if each start began a new
// segment, many starts would leave many small files. But the disk must have space for one more
// segment beside it, or the next segment could take no copies. Any other segment without a footer
// gets one. If records are damaged, the footer tells the next start which ones.
void Loading::finish(std::shared_ptr<const Segment> segment, Scanned scanned, Rotation& rotation) {
  const std::uint32_t number = segment->number;
  const auto whole = space_of(limits_.segment_bytes);
  const bool leaves_space =
      files_.used_bytes() - files_.spaces().at(number) + 2 * whole <= limits_.bytes;
  const bool worth = scanned.end < limits_.segment_bytes / 4 * 3 && !scanned.damaged;
  const bool goes_on = number == newest_ && worth && leaves_space;
  if (scanned.sealed && !goes_on) return;
  if (!segment->file.truncate(scanned.end)) return;
  const File& file = segment->file;
  appender_.begin(segment, std::move(scanned.records), scanned.end);
  if (goes_on && file.reserve(limits_.segment_bytes)) {
    files_.account(number, whole);
    return;
  }
  (void)rotation.seal();  // if it fails, the next start replays it
}

}  // namespace proxy::cache::disk
