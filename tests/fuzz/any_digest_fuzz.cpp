#include "digest/key.hpp"
#include "proxy/command/any_digest.hpp"

// Whatever decodes as a digest can be looked up in and described.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto digest = proxy::command::AnyDigest::decode({data, size}, "fuzz");
  if (!digest) return 0;
  (void)digest->contains(digest::Key{});
  if (digest->describe().json().empty() || digest->describe().text().empty()) __builtin_trap();
  if (digest->bloom() != nullptr) (void)digest->bloom()->save();
  return 0;
}
