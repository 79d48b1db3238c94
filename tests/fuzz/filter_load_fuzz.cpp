#include "digest/adaptive_filter.hpp"
#include "digest/base64.hpp"
#include "digest/blocked_filter.hpp"
#include "digest/bloom_filter.hpp"
#include "digest/bloomier_filter.hpp"
#include "digest/compact_approximator.hpp"
#include "digest/counting_filter.hpp"
#include "digest/message_filter.hpp"
#include "digest/quotient_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/weighted_filter.hpp"

using digest::FilterKind;

// Every filter that loads can be looked up in and saved, and the saved form loads as the same
// filter.
template <class Filter>
void load(FilterKind kind, std::span<const std::uint8_t> payload) {
  digest::FileWriter file(kind);
  file.bytes(payload);
  const auto filter = Filter::load(std::move(file).finish());
  if (!filter) return;
  filter->contains(digest::Key{});
  const auto saved = filter->save();
  if (Filter::load(saved)->save() != saved) __builtin_trap();
}

// The first byte selects the kind. The rest is a payload, which gets a correct checksum, or a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> payload(data + 1, size - 1);
  const auto kind = static_cast<FilterKind>(data[0]);
  if (kind == FilterKind::bloom) load<digest::BloomFilter>(kind, payload);
  if (kind == FilterKind::counting) load<digest::CountingFilter>(kind, payload);
  if (kind == FilterKind::scalable) load<digest::ScalableFilter>(kind, payload);
  if (kind == FilterKind::blocked) load<digest::BlockedFilter>(kind, payload);
  if (kind == FilterKind::quotient) load<digest::QuotientFilter>(kind, payload);
  if (kind == FilterKind::bloomier) load<digest::BloomierFilter>(kind, payload);
  if (kind == FilterKind::weighted) load<digest::WeightedFilter>(kind, payload);
  if (kind == FilterKind::bounds) load<digest::CompactApproximator>(kind, payload);
  if (kind == FilterKind::adaptive) load<digest::AdaptiveFilter>(kind, payload);
  if (kind == FilterKind::message) load<digest::MessageFilter>(kind, payload);
  const std::string text(payload.begin(), payload.end());
  const auto bytes = digest::from_base64(text);
  if (bytes && digest::to_base64(*bytes) != text) __builtin_trap();
  return 0;
}
