#include <cstring>
#include <vector>

#include "digest/native_digest.hpp"

// Also tried with a corrected checksum of the header, which mutation alone does not produce.
// Whatever decodes is one generation, and survives encoding and decoding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kRoom = std::size_t{1} << 16;
  constexpr std::size_t kChecked = digest::kNativeHeaderBytes - 8;
  std::vector<std::uint8_t> message(data, data + size);
  (void)digest::decode_native(message, nullptr, kRoom);
  if (size < digest::kNativeHeaderBytes) return 0;
  const auto checksum = digest::checksum_of({message.data(), kChecked});
  std::memcpy(message.data() + kChecked, &checksum, sizeof checksum);
  const auto decoded = digest::decode_native(message, nullptr, kRoom);
  if (!decoded) return 0;
  const auto again = digest::decode_native(digest::encode_snapshot(*decoded), nullptr, kRoom);
  if (!again || *again != *decoded) __builtin_trap();
  return 0;
}
