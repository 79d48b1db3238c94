// Frees the space of the oldest segments, and copies their used entries to the newest one.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/format/footer.hpp"
#include "proxy/cache/disk/log/appender.hpp"
#include "proxy/cache/disk/log/limits.hpp"
#include "proxy/cache/disk/log/object_claims.hpp"
#include "proxy/cache/disk/log/segment_files.hpp"

namespace proxy::cache::disk {

// How much of reclaimed segments may still be copied. All appends wait while entries are copied.
struct CopyAllowance {
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
};

// Reclaims one segment at a time, the oldest first: appends the entries to keep again, then removes
// the file. For the writer's thread; waits for the disk.
class Reclaimer {
 public:
  static constexpr auto kAnyNumber = std::numeric_limits<std::size_t>::max();

  // All outlive the reclaimer.
  Reclaimer(const LogLimits& limits, Catalog& catalog, SegmentFiles& files, Appender& appender,
            ObjectClaims& claims)
      : limits_(limits), catalog_(catalog), files_(files), appender_(appender), claims_(claims) {}

  // Reclaims segments until LogLimits::bytes allows one more segment and the index has at most this
  // many entries. Never reclaims the segment that records are appended to. Each copy reduces the
  // allowance.
  Result<void> make_room(std::size_t entries, CopyAllowance& allowance);
  // Reclaims one segment. After an error the segment is still there, and the caller may try again.
  Result<void> reclaim(std::uint32_t number, CopyAllowance& allowance);
  // Whether the index has more entries than LogLimits allows.
  bool is_crowded() const { return catalog_.index.entries() > limits_.entries; }
  // The oldest segment, if all together take more than LogLimits::bytes; never the newest.
  std::optional<std::uint32_t> surplus() const;

 private:
  Result<void> clear_out(const Segment& segment, CopyAllowance& allowance);
  Result<void> clear_out(const Listed& listed, Position at, CopyAllowance& allowance);
  Result<void> clear_out_block(const Key& key, const Location& location, CopyAllowance& allowance);
  void read_ahead(const Segment& segment, const std::vector<Listed>& records,
                  const CopyAllowance& allowance) const;
  Result<void> copy(const Key& key, const Location& location, CopyAllowance& allowance);
  void evict(const Key& key, Position at);

  const LogLimits& limits_;
  Catalog& catalog_;
  SegmentFiles& files_;
  Appender& appender_;
  ObjectClaims& claims_;
};

}  // namespace proxy::cache::disk
