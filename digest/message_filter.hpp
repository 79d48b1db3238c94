// A filter that is small enough for a field of a message.
#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/sizing.hpp"

namespace digest {

// The shape of such a filter. There are few shapes, which both sides know, so that a byte names
// one.
struct MessageShape {
  unsigned size = 0;    // 0 to kMessageSizes - 1: 64 bits, 128, and so on
  unsigned hashes = 1;  // 1 to kMessageHashes

  std::uint64_t bits() const { return std::uint64_t{64} << size; }
  bool operator==(const MessageShape&) const = default;
};
inline constexpr unsigned kMessageSizes = 8;  // 64 bits to 8192
inline constexpr unsigned kMessageHashes = 16;

// Returns the shape of the fewest bits that keeps the rate with so many keys, and the fewest hashes
// that do so. too_large: no shape keeps it.
Sized<MessageShape> message_shape_for(std::uint64_t entries, double rate);

// A Bloom filter within a message: which nodes it has passed, so that a node can tell that it comes
// a second time (Whitaker and Wetherall 2002), or which news the sender wants, so that the receiver
// sends what matches and the sender drops what it did not mean (the interest filters of light
// clients of a ledger, BIP 37). Never forgets an inserted key. Positions are independent, since
// those of double hashing overlap too often in so few bits. Any number of threads may read one
// filter; a writer must be alone.
//
// Position i: the upper half of the 128-bit product of seeded_hash(key, i) and the bits.
// Payload: 1 byte, size << 4 | hashes - 1; then the bits, of which bit n has value 1 << (n & 7) in
// byte n >> 3. The text of a filter is the base64 of its payload. The saved form
// (FilterKind::message) has the payload as it is.
class MessageFilter {
 public:
  static constexpr std::size_t kMostBytes = 1 + (std::size_t{64} << (kMessageSizes - 1)) / 8;

  // Both numbers of the shape must be in their ranges, as message_shape_for() has them.
  explicit MessageFilter(MessageShape shape);

  // Read what save(), payload() or to_text() wrote. The bytes may come from anywhere. Allocate at
  // most kMostBytes, or about as much as the text has.
  static Loaded<MessageFilter> load(std::span<const std::uint8_t> file);
  static std::optional<MessageFilter> from_payload(std::span<const std::uint8_t> payload);
  static std::optional<MessageFilter> from_text(std::string_view text);
  std::vector<std::uint8_t> save() const;
  std::span<const std::uint8_t> payload() const { return payload_; }
  std::string to_text() const;

  void insert(const Key& key);
  bool contains(const Key& key) const;

  MessageShape shape() const { return shape_; }
  std::uint64_t bits_set() const;
  double false_positive_rate() const;

  bool operator==(const MessageFilter&) const = default;

 private:
  std::uint64_t position(const Key& key, unsigned number) const;

  MessageShape shape_;
  std::vector<std::uint8_t> payload_;
};

}  // namespace digest
