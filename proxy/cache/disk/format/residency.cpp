#include "proxy/cache/disk/format/residency.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace proxy::cache::disk {

Residency::~Residency() {
  if (mapping_) ::munmap(mapping_, kMaxSegmentBytes);
}

bool Residency::has(std::uint64_t offset, std::uint64_t bytes) const {
  std::call_once(mapped_, [this] {
    void* const made =
        ::mmap(nullptr, kMaxSegmentBytes, PROT_READ, MAP_SHARED, file_.descriptor(), 0);
    if (made != MAP_FAILED) mapping_ = made;
  });
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto end = offset + bytes;
  if (!mapping_ || end > kMaxSegmentBytes) return false;
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

}  // namespace proxy::cache::disk
