// Where a Hearsay is asked for its digest, and how the question says what the asker holds.
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

// The origin-form to ask for. `held` null: for all of it.
std::string native_target(const digest::NativeDigest* held);

// What the asker says it holds, in the query of an origin-form from anywhere; zeros, which nobody
// holds, where it does not say it well.
NativeBase native_base(std::string_view target);

}  // namespace peers
