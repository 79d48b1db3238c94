#include "proxy/cache/disk_tier/disk_tier.hpp"

#include <algorithm>

namespace proxy::cache {
namespace {

using disk::Error;
using disk::Key;
using disk::Location;
using disk::RecordKind;
using disk::Result;
using disk::Wait;

// Memory for an entry of the index at worst (index_memory_test), and some for claims.
constexpr std::uint64_t kIndexBytes = 64;

// Records that wait to be written may take an eighth of the memory; if that is less than four
// blocks, up to a quarter.
std::uint64_t queue_share(std::uint64_t memory_bytes) {
  return std::max(memory_bytes / 8, std::min<std::uint64_t>(4 * kBlockBytes, memory_bytes / 4));
}

// The index takes at most half of the memory.
std::size_t entries_fitting(std::uint64_t memory_bytes) {
  return memory_bytes / 2 / kIndexBytes;
}

disk::Options options_of(DiskLimits limits, std::uint64_t memory_bytes,
                         disk::PurgeRules::Reading reading, const std::atomic<Store*>& memory) {
  disk::Options options;
  options.queue_bytes = std::min(options.queue_bytes, queue_share(memory_bytes));
  options.path = std::move(limits.path);
  options.log.bytes = limits.bytes;
  options.log.entries = entries_fitting(memory_bytes);
  options.log.segment_bytes = limits.segment_bytes;
  options.purge_reading = std::move(reading);
  // An entry that memory answers is not looked up on disk, and would seem unused there.
  options.log.keep = [&memory](const Key& key, const Location& location) {
    const Store* above = memory;
    return location.used || (above && above->was_used(key));
  };
  if (limits.kept_elsewhere) options.log.kept_elsewhere = std::move(limits.kept_elsewhere);
  return options;
}

}  // namespace

std::uint64_t segments_of(std::uint64_t bytes) {
  const auto each = disk::segment_bytes_for({.bytes = bytes});
  return each ? bytes / *each + 1 : 0;
}

DiskTier::DiskTier(Budget& budget, machine::Clock& clock, DiskLimits limits,
                   disk::PurgeRules::Reading reading, const digest::RandomWords& random)
    : budget_(budget),
      admission_(budget, limits.admit),
      writer_(disk_,
              [this](const Key& key, const Entry& entry) {
                give_up_copy(digest::key_of(digest::Method::get, entry.url()), key, entry);
              }),
      selectors_(disk_, reader_, writer_, Selectors::fitting(budget.limit())),
      blocks_(budget, disk_, reader_,
              [this](const Key& key, const Entry& block) { give_up_copy(key, key, block); }),
      disk_(clock, options_of(std::move(limits), budget.limit(), std::move(reading), memory_),
            random),
      pool_(std::in_place, clock) {}

// What memory alone knows of the entry's use passes to the index.
void DiskTier::give_up_copy(const Key& key, const Key& key_on_disk, const Entry& entry) {
  Store* const memory = memory_;
  if (!memory || entry.object() || entry.body.size < EntryReader::kLeftFrom) return;
  if (memory->was_used(key)) (void)disk_.find(key_on_disk, entry.url());
  memory->drop(key, entry);
}

Result<void> DiskTier::resize(std::uint64_t bytes, Admit admit) {
  admission_.apply(admit);
  return disk_.resize(bytes, entries_fitting(budget_.limit()));
}

bool DiskTier::follow_clock(std::chrono::milliseconds ahead) {
  const bool changed = disk_.catalog().apply_clock(ahead);
  if (changed) reader_.forget_known();
  return changed;
}

DiskTier::Stopped DiskTier::stop() {
  const bool read = !pool_ || pool_->end(kReadLimit) == disk::ReadPool::End::joined;
  if (read) pool_.reset();
  const bool written = disk_.end() == disk::Writer::End::joined;
  return read && written ? Stopped::yes : Stopped::hangs;
}

bool DiskTier::settle(std::chrono::milliseconds limit) {
  return (!pool_ || pool_->settle(limit)) && disk_.queue().settle(limit);
}

disk::State DiskTier::state() const {
  if (hangs()) return {.working = false, .reason = Error::hangs};
  return disk_.state();
}

std::optional<Selector> DiskTier::selector_in(const ReadBack::Seen& seen, const Location& at,
                                              const disk::StoredRecord& stored) {
  auto selector = decode_selector(stored.head());
  if (!selector) return std::nullopt;
  selectors_.record(seen, stored.url(), *selector, stored.header());
  const bool is_claimed = at.claimable_until != 0;
  if (is_claimed && !disk_.may_hold(selector->claimed)) {  // the claimed variant is gone
    disk_.catalog().index.set_claim(seen.key, seen.at, 0);
  }
  return selector;
}

Result<ReadBack> DiskTier::read(const Sought& sought, Store& memory, Wait wait, Bodies bodies) {
  const auto& [url_key, url, request] = sought;
  ReadBack read;
  auto location = disk_.find(url_key, url);
  if (!location) return read;
  http::NormalForms forms(request);
  const auto drop_corrupt = [this](const Key& key, const Location& at) {
    disk_.drop(key, at, Error::corrupt);
    return Error::corrupt;
  };
  const auto is_known = [&, name = url](const ReadBack::Seen& seen, std::uint64_t selector) {
    return bodies == Bodies::large_in_file && reader_.add_known(read, seen, selector, name, forms);
  };
  if (is_known(read.by.emplace(ReadBack::Seen{url_key, location->at}), 0)) return read;
  auto stored = reader_.open(*read.by, *location, url, wait);
  if (!stored) return stored.error();
  std::uint64_t number = 0;
  if (location->kind == RecordKind::selector) {
    const auto selector = selector_in(*read.by, *location, *stored);
    if (!selector) return drop_corrupt(url_key, *location);
    read.varies = true;
    number = selector->number;
    const Key key = variant_key(url_key, *selector, forms);
    location = disk_.find(key, url);
    if (!location) return read;
    if (is_known(read.variant.emplace(ReadBack::Seen{key, location->at}), number)) return read;
    stored = reader_.open(*read.variant, *location, url, wait);
    if (!stored) return stored.error();
  }
  if (location->kind == RecordKind::block || location->kind == RecordKind::selector) return read;
  auto saved = decode_head(url, stored->head(), stored->header());
  const auto& found = read.variant ? *read.variant : *read.by;
  if (!saved || saved->selector != number) return drop_corrupt(found.key, *location);
  if (!saved->entry.extras.variant.matches(forms)) {
    // A marked field (http::Field::selects) selects though the response has no selector.
    if (number == 0) return read;
    return drop_corrupt(found.key, *location);
  }
  EntryReader::Wanted wanted{std::move(*stored), std::move(*saved), bodies};
  return reader_.read_entry(std::move(read), std::move(wanted), memory, wait);
}

bool DiskTier::still_found(const ReadBack& read, std::string_view url) const {
  const auto there = [this, url](const std::optional<ReadBack::Seen>& seen) {
    return !seen || disk_.holds(seen->key, url, seen->at);
  };
  return there(read.by) && there(read.variant);
}

bool DiskTier::put(const Key& url_key, const Kept& response, const Kept& superseded,
                   const std::function<bool()>& stored_above) {
  const threads::MutexLock lock(selectors_.lock_of(url_key));
  // Under the lock that purge() takes: no purge comes between memory and disk.
  if (!stored_above()) return false;
  if (response.entry->variant().varies()) {
    selectors_.put_variant(url_key, response, superseded);
  } else {
    (void)writer_.write(url_key, response, superseded, 0);
  }
  return true;
}

DiskTier::Purge DiskTier::purge(const Key& url_key, disk::Done done, Also also) {
  const threads::MutexLock lock(selectors_.lock_of(url_key));
  // Variants that are on disk still have the old number, and cannot be found by a new selector.
  selectors_.forget(url_key);
  if (also == Also::nothing && !disk_.may_hold(url_key)) return Purge::nothing;
  disk_.purge(url_key, std::move(done));
  return Purge::queued;
}

Result<void> DiskTier::purge_all(std::string_view text, disk::Done done,
                                 disk::PurgeRules::Room room) {
  // A purge of many URLs must not come between memory and disk of any of them.
  const Selectors::AllLocked all(selectors_);
  return disk_.purge_prefix(text, std::move(done), room);
}

void DiskTier::charge() {
  // Bodies in the queue are charged already, as blocks of their entries.
  const disk::Catalog& catalog = disk_.catalog();
  const auto bytes = catalog.index.bytes() + catalog.rules.bytes() + disk_.queue().bytes() / 8 +
                     selectors_.bytes();
  if (bytes > charged_) budget_.charge(bytes - charged_);
  if (bytes < charged_) budget_.release(charged_ - bytes);
  charged_ = bytes;
}

}  // namespace proxy::cache
