#include "peers/native_target.hpp"

// The generation that a query names is named by the query written for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string target(data, data + size);
  const auto base = peers::native_base(target);
  if (base == peers::NativeBase{}) return 0;
  const digest::NativeDigest held{.epoch = base.epoch,
                                  .generation = base.generation,
                                  .filter = *digest::BloomFilter::create({.bits = 8, .hashes = 1})};
  if (peers::native_base(peers::native_target(&held)) != base) __builtin_trap();
  return 0;
}
