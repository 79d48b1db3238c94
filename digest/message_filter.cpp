#include "digest/message_filter.hpp"

#include <algorithm>
#include <cmath>

#include "digest/base64.hpp"
#include "digest/positions.hpp"
#include "digest/shape.hpp"

namespace digest {

// There are 128 shapes, so trying them in their order costs a microsecond or so.
Sized<MessageShape> message_shape_for(std::uint64_t entries, double rate) {
  if (entries == 0) return SizingError::no_entries;
  if (!(rate > 0 && rate < 1)) return SizingError::rate_out_of_range;
  for (unsigned size = 0; size < kMessageSizes; ++size) {
    for (unsigned hashes = 1; hashes <= kMessageHashes; ++hashes) {
      const MessageShape shape{size, hashes};
      const auto reached = false_positive_rate(shape.bits(), entries, hashes);
      if (reached && *reached <= rate) return shape;
    }
  }
  return SizingError::too_large;
}

MessageFilter::MessageFilter(MessageShape shape)
    : shape_(shape), payload_(1 + static_cast<std::size_t>(shape.bits() / 8)) {
  payload_[0] = static_cast<std::uint8_t>(shape.size << 4 | (shape.hashes - 1));
}

std::uint64_t MessageFilter::position(const Key& key, unsigned number) const {
  return scaled(seeded_hash(key, number), shape_.bits());
}

// Two positions of a key may coincide, as the formula for the rate assumes.
void MessageFilter::insert(const Key& key) {
  for (unsigned i = 0; i < shape_.hashes; ++i) {
    const std::uint64_t bit = position(key, i);
    // The first byte is that of the shape.
    std::uint8_t& byte = payload_[1 + (bit >> 3)];
    byte = static_cast<std::uint8_t>(byte | 1U << (bit & 7));
  }
}

bool MessageFilter::contains(const Key& key) const {
  for (unsigned i = 0; i < shape_.hashes; ++i) {
    const std::uint64_t bit = position(key, i);
    if ((payload_[1 + (bit >> 3)] >> (bit & 7) & 1) == 0) return false;
  }
  return true;
}

std::uint64_t MessageFilter::bits_set() const {
  return count_bits(std::span(payload_).subspan(1));
}

// From the bits set, so that it is right whatever number of keys the filter was made for.
double MessageFilter::false_positive_rate() const {
  const double fill = static_cast<double>(bits_set()) / static_cast<double>(shape_.bits());
  return std::pow(fill, shape_.hashes);
}

std::optional<MessageFilter> MessageFilter::from_payload(std::span<const std::uint8_t> payload) {
  if (payload.empty()) return std::nullopt;
  const unsigned first = payload[0];
  const MessageShape shape{first >> 4, (first & 15) + 1};
  if (shape.size >= kMessageSizes) return std::nullopt;
  // Every bit belongs to a position, so any bits can be those of a filter.
  MessageFilter filter(shape);
  if (payload.size() != filter.payload_.size()) return std::nullopt;
  std::copy(payload.begin(), payload.end(), filter.payload_.begin());
  return filter;
}

std::optional<MessageFilter> MessageFilter::from_text(std::string_view text) {
  const auto payload = from_base64(text);
  return payload ? from_payload(*payload) : std::nullopt;
}

std::string MessageFilter::to_text() const {
  return to_base64(payload_);
}

Loaded<MessageFilter> MessageFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::message);
  if (!reader) return reader.error();
  const auto payload = reader->bytes(reader->left());
  auto filter = from_payload(payload);
  if (filter) return *std::move(filter);
  return payload.empty() || payload[0] >> 4 < kMessageSizes ? FileError::wrong_length
                                                            : FileError::bad_shape;
}

std::vector<std::uint8_t> MessageFilter::save() const {
  FileWriter file(FilterKind::message, payload_.size());
  file.bytes(payload_);
  return std::move(file).finish();
}

}  // namespace digest
