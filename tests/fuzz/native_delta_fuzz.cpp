#include "digest/gap_code.hpp"
#include "digest/native_digest.hpp"

namespace {

digest::NativeDigest held() {
  auto filter = *digest::BloomFilter::create(
      {.bits = 1000, .hashes = 4, .derivation = digest::Derivation::salted});
  for (std::uint8_t i = 0; i < 50; ++i) filter.insert({{i}});
  const auto checksum = digest::checksum_of(filter.bytes());
  return {.epoch = 1, .generation = 1, .checksum = checksum, .filter = std::move(filter)};
}

}  // namespace

// The input is the gaps of positions to flip in a held digest. Decoding a message made of them must
// yield that digest with exactly these positions changed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto before = held();
  (void)digest::decode_native({data, size}, &before, 1 << 10);
  digest::GapReader reader({data, size}, size % 8, before.filter.shape().bits);
  std::vector<std::uint32_t> flips;
  for (std::uint32_t flip = 0; reader.next(flip);) flips.push_back(flip);
  std::vector<std::uint8_t> bits(before.filter.bytes().begin(), before.filter.bytes().end());
  auto after = before;
  after.checksum = digest::flip_bits(bits, flips, before.checksum);
  after.generation = 2;
  after.filter = *digest::BloomFilter::from_bytes(before.filter.shape(), bits);
  const auto decoded = digest::decode_native(digest::encode_delta(digest::head_of(after), 1, flips),
                                             &before, 1 << 10);
  const bool full = after.filter.false_positive_rate() > digest::kMaxNativeFalsePositives;
  if (decoded.has_value() == full || (decoded && *decoded != after)) __builtin_trap();
  return 0;
}
