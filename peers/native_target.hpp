// Where a Hearsay serves its native digest. How a request names the generation that the reader
// holds, and how long the request may wait for the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "digest/native_digest.hpp"

namespace peers {

inline constexpr std::string_view kNativePath = "/digest/native";
inline constexpr std::string_view kNativeType = "application/vnd.hearsay.digest";
// The field of a question to a Hearsay that names the ETag of its digest, which claims the URL.
inline constexpr std::string_view kDigestField = "Hearsay-Digest";
// The field of a question to a Hearsay that names the rule by which the asker reuses responses of
// the URL (digest::RuleHash, in 16 hex digits as of to_text() in site.hpp). Zeros: no rule.
inline constexpr std::string_view kRuleField = "Hearsay-Rule";

// The field of a question to a Hearsay for a range that says that its first bytes will do: the
// answer may end where the first block is missing. Its value is kFirstWillDo.
inline constexpr std::string_view kPartField = "Hearsay-Part";
inline constexpr std::string_view kFirstWillDo = "first";

struct NativeBase {
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;

  bool operator==(const NativeBase&) const = default;
};

// Reads the ETag of a native digest (native_etag() in publisher.hpp), which is foreign text.
// Nothing if it is none.
std::optional<NativeBase> parse_native_etag(std::string_view etag);

// The origin-form to request. If `base_digest` is null it asks for a whole digest, else for the
// changes, and the answer may wait for `hold` until there are any; 0 asks for an answer at once. A
// Hearsay that does not know `wait` answers at once.
std::string native_target(const digest::NativeDigest* base_digest,
                          std::chrono::milliseconds hold = {});

// Reads from a request's target, which is untrusted, the generation that the reader holds. Zeros,
// which no reader holds, if the query is missing or malformed.
NativeBase native_base(std::string_view target);

// A poll is held no longer than this, whatever its reader asks for.
inline constexpr std::chrono::seconds kLongestHold{30};

// Reads from a request's target, which is untrusted, how long the answer may wait: at most
// kLongestHold. 0 if the target does not say so, or is malformed.
std::chrono::milliseconds hold_asked(std::string_view target);

}  // namespace peers
