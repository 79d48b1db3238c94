#include <array>
#include <utility>

#include "proxy/cache/disk/log.hpp"

namespace proxy::cache::disk {
namespace {

void count_loss(const Scanned& scanned, bool newest, Loaded& found) {
  const bool cut = newest && scanned.cut && !scanned.damaged;
  found.cut += cut ? 1 : 0;
  found.damaged += !cut && (scanned.damaged || scanned.cut) ? 1 : 0;
}

// Whether there is nothing of ours in it; what cannot be read may be.
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

// The segments of ours. Others go before room is made: good ones would go for them. Where they
// cannot be removed, they are stepped over. What is damaged all over where the newest of ours would
// be was that, for all we know.
Result<std::vector<Directory::Item>> sort_out(const Directory& directory, Loaded& found) {
  const auto items = directory.segments();
  if (!items) return items.error();
  std::vector<Directory::Item> ours;
  std::uint32_t damaged = 0;  // the last one before those of ours
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

}  // namespace

void Log::abandon() {
  fail_gathered(Error::resting);
  current_.reset();
  directory_.reset();
  sizes_.clear();
  used_ = most_used_ = 0;
  searching_for_.reset();
  search_.reset();
  purges_.reset();
  doubted_.clear();
  shared_.segments.clear();
  shared_.index.clear();
  shared_.rules.forget_settled();
}

Result<Loaded> Log::open(const std::filesystem::path& path) {
  abandon();
  auto directory = Directory::open(path);
  if (!directory) return directory.error();
  Loaded found;
  const auto ours = sort_out(*directory, found);
  if (!ours) return ours.error();
  directory_ = std::move(*directory);
  for (const auto& item : *ours) account(item.segment, space_of(item.bytes));
  Learner learner(shared_.index, shared_.segments, shared_.rules);
  const auto before = sizes_.size();
  Room none;
  auto loaded = make_room(limits_.entries, none);  // the size allowed may be less than it was
  const auto sizes = sizes_;
  const std::uint32_t newest = sizes.empty() ? 0 : sizes.rbegin()->first;
  for (auto item = sizes.begin(); loaded && item != sizes.end(); ++item) {
    loaded = load_segment(item->first, item->first == newest, learner, found);
  }
  if (!loaded) {
    abandon();
    return loaded.error();
  }
  if (found.forgotten > 0) learner.forget_all();
  learner.finish();
  purges_ = static_cast<std::uint16_t>(purges_.value_or(0) + found.forgotten);
  if (found.forgotten > 0) (void)begin_segment(0);  // it tells the next start that one is missing
  const bool fewer = sizes.size() < before || found.unreadable + found.other_version > 0;
  if (fewer || found.damaged > 0) doubt_objects();  // blocks may be lost that no record tells of
  if (is_crowded()) {                               // memory is less than it was
    (void)make_room(limits_.entries, none);         // or the next append does
    shared_.index.shrink();
  }
  found.entries = shared_.index.entries();
  return found;
}

// Fails only where later starts may do better: the file is left alone. What the next segment says
// of how many purges came before tells whether any are lost; what may be lost of the newest, nobody
// knows.
Result<void> Log::load_segment(std::uint32_t number, bool newest, Learner& learner, Loaded& found) {
  auto file = directory_->open_segment(number);
  if (!file && file.error() == Error::no_descriptors) return file.error();
  auto scanned = file ? scan(*file, number) : file.error();
  const bool rubbish = scanned && scanned->damaged && scanned->records.empty();
  if (newest && (!scanned || scanned->other_version || rubbish)) found.forgotten = 1;
  if (!scanned) {
    found.unreadable += 1;
    last_number_ = std::max(last_number_, number);
    return {};
  }
  found.other_version += scanned->other_version ? 1 : 0;
  count_loss(*scanned, newest, found);
  if (lost_a_purge(purges_, *scanned)) learner.forget_all();
  if (scanned->purges) purges_ = scanned->purges;
  if (scanned->records.empty()) {
    const auto removed = directory_->remove(number);
    if (!removed) return {};
    account(number, 0);
    sizes_.erase(number);
    return {};
  }
  last_number_ = std::max(last_number_, number);  // one without records may come again
  found.segments += 1;
  found.replayed += scanned->sealed ? 0 : 1;
  const auto segment = std::make_shared<const Segment>(number, std::move(*file));
  shared_.segments.add(segment);
  for (const Listed& listed : scanned->records) learner.learn(listed, number);
  end_loaded(segment, std::move(*scanned), newest);
  return {};
}

// The newest goes on where it ended while that is worth it, so that many starts do not leave many
// small files, and leaves room for the next, without which that could keep nothing; others without
// a footer get one, also where something is damaged: the footer tells what is to be done without.
void Log::end_loaded(std::shared_ptr<const Segment> segment, Scanned scanned, bool newest) {
  const std::uint32_t number = segment->number;
  const auto whole = space_of(limits_.segment_bytes);
  const bool leaves_room = used_ - sizes_[number] + 2 * whole <= limits_.bytes;
  const bool worth = scanned.end < limits_.segment_bytes / 4 * 3 && !scanned.damaged;
  const bool roomy = worth && leaves_room;
  if (scanned.sealed && !(newest && roomy)) return;
  if (!segment->file.truncate(scanned.end)) return;
  current_ = Current{std::move(segment), std::move(scanned.records), scanned.end};
  if (newest && roomy && current_->segment->file.reserve(limits_.segment_bytes)) {
    account(number, whole);
    return;
  }
  (void)seal();  // if it fails, the next start replays it
}

Result<void> Log::check_directory() const {
  const bool there = directory_ && directory_->still_there();
  const auto* newest = current_ ? current_->segment.get() : nullptr;
  if (there && (!newest || directory_->still_there(newest->number, newest->file))) return {};
  return Error::no_directory;
}

Result<void> Log::close() {
  const auto flushed = flush();
  if (!flushed || !current_) return flushed;
  return seal();
}

}  // namespace proxy::cache::disk
