#include "peers/native_target.hpp"

// What a query says is held, said again, means the same.
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
