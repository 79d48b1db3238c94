// Where an entry lies, in 15 bytes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "digest/rule.hpp"
#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

inline constexpr std::uint16_t kMostHits = (1U << 12) - 1;

// What the index knows about one entry.
struct Location {
  Position at{};
  std::uint32_t bytes = 0;  // of the record; the index rounds up by at most 1/32 or 15 bytes
  std::uint32_t claimable_until = 0;  // seconds since 1970; 0: never
  RecordKind kind = RecordKind::whole;
  bool used = false;          // a request found the entry since the record was written
  std::uint16_t hits = 0;     // since the start; at most kMostHits
  digest::RuleMark rule = 0;  // of the claim; 0: it is for everybody

  bool operator==(const Location&) const = default;
};

inline Location location_of(const Listed& listed, std::uint32_t segment) {
  return {.at = {segment, listed.offset},
          .bytes = listed.bytes,
          .claimable_until = listed.claimable_until,
          .kind = listed.kind,
          .rule = listed.rule};
}

// A packed Location. Times count from `origin` (seconds since 1970): an earlier time becomes 0, and
// a time more than 17 years later becomes the latest possible one.
class PackedLocation {
 public:
  PackedLocation(const Location& place, std::uint32_t origin) {
    const std::uint64_t where =
        std::uint64_t{place.at.segment} << 36 | std::uint64_t{place.at.offset / kAlignment} << 12 |
        std::uint64_t{size_class(place.bytes)} << 2 | (place.used ? kUsed : 0);
    low_ = static_cast<std::uint32_t>(where);
    high_ = static_cast<std::uint32_t>(where >> 32);
    const std::uint32_t until = place.claimable_until > origin ? place.claimable_until - origin : 0;
    rest_ = static_cast<std::uint32_t>(place.kind) << 29 | (until < kLatest ? until : kLatest);
    set_rule_and_hits(place.rule, std::min(place.hits, kMostHits));
  }

  Location unpack(std::uint32_t origin) const {
    const std::uint32_t until = rest_ & kLatest;
    return {.at = at(),
            .bytes = class_bytes(low_ >> 2 & 0x3ff),
            .claimable_until = until == 0 ? 0 : origin + until,
            .kind = kind(),
            .used = (low_ & kUsed) != 0,
            .hits = hits(),
            .rule = rule()};
  }

  Position at() const {
    const std::uint64_t where = std::uint64_t{high_} << 32 | low_;
    return {static_cast<std::uint32_t>(where >> 36),
            static_cast<std::uint32_t>(where >> 12 & 0xffffff) * kAlignment};
  }
  RecordKind kind() const { return static_cast<RecordKind>(std::uint32_t{rest_} >> 29); }
  void use() {
    low_ = low_ | kUsed;
    add_hits(1);
  }
  std::uint16_t hits() const {
    return static_cast<std::uint16_t>(rule_and_hits_[0] | (rule_and_hits_[1] & 0xf) << 8);
  }
  void add_hits(std::uint32_t more) {
    const std::uint32_t left = kMostHits - hits();
    set_rule_and_hits(rule(), static_cast<std::uint16_t>(hits() + std::min(more, left)));
  }
  digest::RuleMark rule() const {
    return static_cast<digest::RuleMark>(rule_and_hits_[1] >> 4 | rule_and_hits_[2] << 4);
  }
  // Whether the index counts the key as claimed. A Location does not have this bit.
  bool claimed() const { return (low_ & kClaimed) != 0; }
  void claim(bool is) { low_ = is ? low_ | kClaimed : low_ & ~kClaimed; }

 private:
  static constexpr std::uint32_t kUsed = 1;
  static constexpr std::uint32_t kClaimed = 2;
  static constexpr std::uint32_t kLatest = (std::uint32_t{1} << 29) - 1;

  // Units of 16 bytes as a floating point number with 5 bits after the leading one, rounded up.
  static constexpr std::uint32_t size_class(std::uint32_t bytes) {
    std::uint32_t units = (bytes + kAlignment - 1) / kAlignment;
    if (units < 64) return units;
    auto exponent = static_cast<std::uint32_t>(std::bit_width(units)) - 6;
    units = (units + (1U << exponent) - 1) >> exponent;
    return exponent * 32 + units;  // 64 units carry over into the next exponent
  }
  static constexpr std::uint32_t class_bytes(std::uint32_t size) {
    if (size < 64) return size * kAlignment;
    const std::uint32_t exponent = size / 32 - 1;
    return (size - exponent * 32) << exponent << 4;
  }

  void set_rule_and_hits(digest::RuleMark rule, std::uint16_t hits) {
    rule_and_hits_ = {static_cast<std::uint8_t>(hits),
                      static_cast<std::uint8_t>((rule & 0xf) << 4 | hits >> 8),
                      static_cast<std::uint8_t>(rule >> 4)};
  }

  // A 32-bit number without alignment, so that a slot of the map has no gaps.
  class Word {
   public:
    Word& operator=(std::uint32_t value) {
      bytes_ = std::bit_cast<std::array<std::uint8_t, 4>>(value);
      return *this;
    }
    operator std::uint32_t() const { return std::bit_cast<std::uint32_t>(bytes_); }

   private:
    std::array<std::uint8_t, 4> bytes_;
  };

  // Bits of both words, from the top: 28 segment, 24 offset / 16, 10 size, 1 claimed, 1 used.
  Word low_;
  Word high_;
  Word rest_;                                  // from the top: 3 kind, 29 time
  std::array<std::uint8_t, 3> rule_and_hits_;  // as a little-endian number: 12 rule, 12 hits
};
static_assert(sizeof(PackedLocation) == 15);
static_assert(digest::kMostMarks == 1U << 12);

}  // namespace proxy::cache::disk
