#include "proxy/cache/disk/writer.hpp"

#include <utility>

namespace proxy::cache::disk {
namespace {

constexpr std::size_t kMostOwed = 65'536;

// How often the writer checks whether the directory is still there.
constexpr std::chrono::seconds kLookAfter{1};

// How long claims stay in force while a search for purged entries is under way.
constexpr std::chrono::seconds kClaimsMeanwhile{1};

// To reclaim a segment, the writer may read each of its records. On a slow disk that takes long,
// but the writer must not count as hanging. So each call of `keep` begins a step.
LogLimits in_steps(LogLimits limits, WriterWatch& watch) {
  limits.keep = [&watch, keep = std::move(limits.keep)](const Key& key, const Location& location) {
    watch.begin_step();
    return keep(key, location);
  };
  return limits;
}

}  // namespace

Writer::Writer(const Options& options, const LogLimits& limits, Catalog& catalog, WriteQueue& queue,
               WriterWatch& watch)
    : options_(options),
      catalog_(catalog),
      queue_(queue),
      watch_(watch),
      wanted_size_(size_of(limits)),
      log_(in_steps(limits, watch), catalog),
      backoff_(options.first_rest, options.longest_rest) {}

Writer::~Writer() {
  stop();
}

std::future<Result<Loaded>> Writer::start() {
  std::promise<Result<Loaded>> loaded;
  auto result = loaded.get_future();
  // Two threads would write to one log.
  if (end() == End::hangs) {
    loaded.set_value(Error::hangs);
    return result;
  }
  catalog_.ready = false;
  queue_.open();
  backoff_.reset();
  watch_.begin_start();
  thread_ = std::thread([this, told = std::move(loaded)]() mutable { run(std::move(told)); });
  return result;
}

void Writer::stop() {
  if (!thread_.joinable()) return;
  queue_.stop();
  thread_.join();
}

Writer::End Writer::end() {
  constexpr std::chrono::milliseconds kLook{20};
  if (!thread_.joinable()) return End::joined;
  queue_.stop();
  while (!queue_.ended(kLook)) {
    if (watch_.hangs()) return End::hangs;
  }
  stop();
  return End::joined;
}

void Writer::run(std::promise<Result<Loaded>> loaded) {
  loaded.set_value(load());
  bool more = true;
  for (;;) {
    const auto now = catalog_.clock.steady();
    const std::chrono::nanoseconds idle = watch_.working() ? kLookAfter : backoff_.left(now);
    auto batch = queue_.take(more ? std::chrono::nanoseconds(0) : idle);
    if (!batch) break;
    watch_.begin_step();
    more = work(std::move(*batch));
    watch_.end_step();
    if (!more) queue_.finish();
  }
  watch_.begin_step();
  end_log();
  watch_.rest(Error::handed_over);
  watch_.end_step();
  queue_.end();
}

// The queue is open meanwhile: purges wait in it, and other records are refused.
Result<Loaded> Writer::load() {
  const auto loaded = log_.open(options_.path);
  catalog_.used_bytes = log_.used_bytes();
  if (loaded) catalog_.log_has_more = loaded->unreadable > 0;
  if (!loaded) rest(loaded.error());
  catalog_.ready = loaded.has_value();
  if (loaded) watch_.work();
  watch_.end_start();
  return loaded;
}

// Returns whether the writer has more to do at once.
bool Writer::work(WriteQueue::Batch batch) {
  if (!watch_.working() && backoff_.left(catalog_.clock.steady()).count() <= 0) recover();
  if (watch_.working()) rest_unless(log_.apply_clock());
  write(std::move(batch.records));
  if (batch.overflowed) purge_everything();
  doubt(batch.doubts);
  const bool more = look_after();
  suspend_claims_of_long_search();
  catalog_.used_bytes = log_.used_bytes();
  return more;
}

// Owed purges are written first, because the next start does not know them.
void Writer::end_log() {
  if (!owed_.records.empty()) recover();
  catalog_.segments.save_all_users();  // the next process may empty the files
  (void)log_.close();                  // a segment without footer is replayed
}

void Writer::write(std::vector<NewRecord> records) {
  std::vector<std::size_t> slots;
  std::vector<std::size_t> purged;
  std::uint64_t gathered = 0;  // bytes of records that are not written yet
  for (NewRecord& record : records) {
    slots.push_back(KeyCounts::slot_of(record.header.index_key()));
    if (record.header.kind == RecordKind::purge) purged.push_back(slots.back());
    gathered += record.footprint();
    watch_.begin_step();
    write_one(std::move(record));
    if (!log_.has_gathered()) queue_.release(std::exchange(gathered, 0), log_.pace());
  }
  flush(records.size());
  queue_.release(gathered, log_.pace());
  // One record may fail while the disk works. The purge that it owes is written at once.
  if (!owed_.records.empty() && watch_.working()) {
    pay_owed();
    flush(records.size());
  }
  // Only now, as Disk::may_hold() and Disk::find() rely on it: the index has what was written.
  for (const std::size_t slot : purged) catalog_.purging.subtract(slot);
  for (const std::size_t slot : slots) catalog_.unwritten.subtract(slot);
}

// If it wrote records, the next rest is short again. An empty flush shows nothing of the disk.
void Writer::flush(std::size_t records) {
  if (watch_.working() && rest_unless(log_.flush()) && records > 0) backoff_.reset();
}

void Writer::write_one(NewRecord record) {
  if (is_purge(record.header.kind)) record = owed_unless_written(std::move(record));
  if (!watch_.working()) {
    catalog_.counters.failed_writes += 1;
    if (record.done) record.done(Error::resting);
    return;
  }
  rest_unless(log_.append(std::move(record)));
}

NewRecord Writer::owed_unless_written(NewRecord purge) {
  NewRecord owed{.header = purge.header, .url = purge.url};
  auto asked = std::move(purge.done);
  purge.done = [this, asked = std::move(asked), owed = std::move(owed)](Result<Position> at) {
    if (!at) owe(owed);
    if (at) owed_.written_elsewhere = owed_.directory_left;
    if (asked) asked(at);
  };
  return purge;
}

void Writer::purge_everything() {
  write_one({.header = {.kind = RecordKind::purge_prefix}});
  flush(1);
}

void Writer::owe(NewRecord purge) {
  // A record that was queued before the purge may have been added to the index since.
  if (purge.header.kind == RecordKind::purge) catalog_.index.erase(purge.header.key);
  if (owed_.records.size() >= kMostOwed) return owe_everything();
  owed_.records.push_back(std::move(purge));
}

void Writer::owe_everything() {
  owed_.records.clear();
  catalog_.rules.cover_all();
  owed_.records.push_back({.header = {.kind = RecordKind::purge_prefix}});
}

void Writer::pay_owed() {
  for (NewRecord& record : std::exchange(owed_.records, {})) {
    if (watch_.working()) {
      write_one(std::move(record));
    } else {
      owe(std::move(record));  // the failure is counted already
    }
  }
}

bool Writer::look_after() {
  if (!watch_.working()) return false;
  const auto now = catalog_.clock.steady();
  // Some system calls, for which no record should wait each time.
  if (now - looked_after_ >= kLookAfter) {
    looked_after_ = now;
    if (!rest_unless(log_.check_directory())) return false;
    catalog_.squeezed = log_.is_squeezed();
  }
  bool more = false;
  const auto works = [&](const Result<bool>& left) {
    more = more || (left && *left);
    return rest_unless(left ? Result<void>() : left.error());
  };
  return works(apply_size()) && works(log_.settle_claims()) && works(log_.search_purged()) && more;
}

void Writer::resize(const LogSize& size) {
  const threads::MutexLock lock(size_mutex_);
  wanted_size_ = size;
}

// One segment at a time: records wait meanwhile. After a failure the next call tries again.
Result<bool> Writer::apply_size() {
  LogSize wanted;
  {
    const threads::MutexLock lock(size_mutex_);
    wanted = wanted_size_;
  }
  if (wanted != log_.size()) {
    if (const auto resized = log_.resize(wanted); !resized) return resized.error();
  }
  return log_.reclaim_surplus();
}

void Writer::doubt(const std::vector<WriteQueue::Doubt>& doubts) {
  bool any = false;
  for (const auto& [object, version] : doubts) {
    any = any || object == WriteQueue::kAnyObject;
    if (object != WriteQueue::kAnyObject) log_.doubt(object, version);
  }
  if (any) log_.doubt_objects();
}

// Only the search finds the entries that a purge rule covers. If the search takes long, or waits
// for a disk that rests, our digest would claim purged entries.
void Writer::suspend_claims_of_long_search() {
  if (catalog_.rules.count() == 0) {
    searching_since_.reset();
    catalog_.index.resume_claims(Unclaimed::searching);
    return;
  }
  const auto now = catalog_.clock.steady();
  if (!searching_since_) searching_since_ = now;
  const bool soon = watch_.working() && now - *searching_since_ < kClaimsMeanwhile;
  if (!soon) catalog_.index.suspend_claims(Unclaimed::searching);
}

bool Writer::rest_unless(const Result<void>& worked) {
  if (!worked) rest(worked.error());
  return worked.has_value();
}

void Writer::rest(Error reason) {
  // Records that failed may be in the file all the same.
  catalog_.log_has_more = true;
  if (reason == Error::no_directory || reason == Error::not_directory) {
    if (watch_.working()) catalog_.counters.lost += 1;
    catalog_.ready = false;
    owed_.directory_left = true;
    log_.abandon();
  }
  backoff_.rest(catalog_.clock.steady());
  watch_.rest(reason);
}

void Writer::recover() {
  Result<void> ready = log_.check_directory();
  if (!ready) {
    catalog_.ready = false;
    const auto loaded = log_.open(options_.path);
    ready = loaded ? Result<void>() : loaded.error();
    if (loaded && loaded->unreadable == 0) catalog_.log_has_more = owed_.directory_left;
    if (loaded && loaded->entries > 0 && owed_.written_elsewhere) owe_everything();
  }
  // The directory may be there and still take no records, as that of a full disk.
  if (ready) ready = log_.probe();
  if (!rest_unless(ready)) return;
  watch_.work();
  pay_owed();
  rest_unless(log_.flush());
  catalog_.ready = watch_.working();
}

}  // namespace proxy::cache::disk
