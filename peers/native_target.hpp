// Where a Hearsay serves its native digest, and how a request names the generation that the reader
// holds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "digest/native_digest.hpp"

namespace peers {

inline constexpr std::string_view kNativePath = "/digest/native";
inline constexpr std::string_view kNativeType = "application/vnd.hearsay.digest";

struct NativeBase {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;

  bool operator==(const NativeBase&) const = default;
};

// The origin-form to request. If `base_digest` is null it asks for a whole digest.
std::string native_target(const digest::NativeDigest* base_digest);

// Reads from a request's target, which is untrusted, the generation that the reader holds. Zeros,
// which no reader holds, if the query is missing or malformed.
NativeBase native_base(std::string_view target);

}  // namespace peers
