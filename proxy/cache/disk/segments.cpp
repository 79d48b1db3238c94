#include "proxy/cache/disk/segments.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace proxy::cache::disk {
namespace {

// cachestat(2) on x86-64 and ARM64; older C libraries do not declare it. Elsewhere the call fails,
// and mincore(2) is asked.
constexpr long kCacheStat = 451;
struct CacheStatRange {
  std::uint64_t offset;
  std::uint64_t bytes;
};
struct CacheStat {
  std::uint64_t pages;  // that the page cache has
  std::uint64_t others[4];
};

}  // namespace

Residency::~Residency() {
  if (mapping_) ::munmap(mapping_, kMaxSegmentBytes);
}

bool Residency::has(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return true;  // the system would count up to the end of the file
  if (offset + bytes > kMaxSegmentBytes) return false;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  CacheStatRange range{offset, bytes};
  CacheStat found{};
  if (::syscall(kCacheStat, file_.descriptor(), &range, &found, 0) != 0) {
    return has_by_mapping(offset, bytes);
  }
  return found.pages == (offset + bytes - 1) / page - offset / page + 1;
}

bool Residency::has_by_mapping(std::uint64_t offset, std::uint64_t bytes) const {
  std::call_once(mapped_, [this] {
    void* const made =
        ::mmap(nullptr, kMaxSegmentBytes, PROT_READ, MAP_SHARED, file_.descriptor(), 0);
    if (made != MAP_FAILED) mapping_ = made;
  });
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto end = offset + bytes;
  if (!mapping_ || end > kMaxSegmentBytes) return false;
  // One byte for each page: a large body is asked about in parts.
  std::array<unsigned char, 256> pages;
  for (auto at = offset / page * page; at < end;) {
    const auto count = std::min<std::uint64_t>(pages.size(), (end - at + page - 1) / page);
    auto* const from = static_cast<std::uint8_t*>(mapping_) + at;
    if (::mincore(from, count * page, pages.data()) != 0) return false;
    const auto is_there = [](unsigned char state) { return (state & 1) != 0; };
    if (!std::all_of(pages.data(), pages.data() + count, is_there)) return false;
    at += count * page;
  }
  return true;
}

bool SegmentUsers::add(const std::shared_ptr<SegmentUser>& user) {
  const threads::MutexLock lock(mutex_);
  if (closed_) return false;
  if (users_.size() >= most_) {
    std::erase_if(users_, [](const auto& one) { return one.expired(); });
    most_ = std::max(kFewest, 2 * users_.size());
  }
  users_.push_back(user);
  return true;
}

void SegmentUsers::save_all() {
  std::vector<std::weak_ptr<SegmentUser>> users;
  {
    const threads::MutexLock lock(mutex_);
    closed_ = true;
    users = std::exchange(users_, {});
  }
  // Without the lock, because save() waits for the disk.
  for (const auto& one : users) {
    if (const auto user = one.lock()) user->save();
  }
}

std::shared_ptr<const Segment> Segments::find(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.find(number);
  return found == segments_.end() ? nullptr : found->second;
}

void Segments::add(std::shared_ptr<const Segment> segment) {
  const threads::WriteLock lock(mutex_);
  const auto number = segment->number;
  segments_[number] = std::move(segment);
}

void Segments::remove(std::uint32_t number) {
  const threads::WriteLock lock(mutex_);
  segments_.erase(number);
}

void Segments::clear() {
  const threads::WriteLock lock(mutex_);
  segments_.clear();
}

std::shared_ptr<const Segment> Segments::after(std::uint32_t number) const {
  const threads::ReadLock lock(mutex_);
  const auto found = segments_.upper_bound(number);
  return found == segments_.end() ? nullptr : found->second;
}

// By number instead of under the lock, because the users read from the disk.
void Segments::save_all_users() const {
  for (auto segment = oldest(); segment; segment = after(segment->number)) {
    segment->users.save_all();
  }
}

std::size_t Segments::count() const {
  const threads::ReadLock lock(mutex_);
  return segments_.size();
}

}  // namespace proxy::cache::disk
