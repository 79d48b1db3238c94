#include "digest/squid_digest.hpp"

// A digest that decodes can be looked up in. Encoding it again gives the same bytes, unless it had
// reserved fields or a mask that does not fit the capacity.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto digest = digest::decode({data, size});
  if (!digest) return 0;
  digest->filter.contains(digest::Key{});
  const auto body = digest::encode(*digest);
  if (body.has_value() != digest->mask_fits_capacity()) __builtin_trap();
  if (body && *digest::decode(*body) != *digest) __builtin_trap();
  return 0;
}
