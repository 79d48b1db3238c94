// A digest in any of the forms in which digests are saved or sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "digest/adaptive_filter.hpp"
#include "digest/blocked_filter.hpp"
#include "digest/bloomier_filter.hpp"
#include "digest/compact_approximator.hpp"
#include "digest/counting_filter.hpp"
#include "digest/message_filter.hpp"
#include "digest/native_digest.hpp"
#include "digest/quotient_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/squid_digest.hpp"
#include "digest/weighted_filter.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;

// A filter that digest/ saved, mapped into a file, or wrote as text; a snapshot in our native
// format; or Squid's digest. Squid's form has no magic number: bytes that begin like none of our
// forms count as Squid's.
class AnyDigest {
 public:
  // Opens a file. May wait for the disk, but never for the writer of a pipe. Returns trouble before
  // it allocates memory if the path is no ordinary file, or if the file is larger than any digest
  // of its form, or not as long as its first bytes say.
  static Result<AnyDigest> open(const std::string& path);
  // Decodes bytes. `place` names their source: the text of any trouble begins with it.
  static Result<AnyDigest> decode(std::span<const std::uint8_t> bytes, const std::string& place);

  // Whether the digest claims the key: false is certain. A file's later changes are not seen.
  bool contains(const digest::Key& key) const;

  // The number of a key in a Bloomier filter or an approximator that claims it; nothing in others.
  std::optional<std::uint64_t> value_of(const digest::Key& key) const;

  // Kind, sizes, fill and error rate, under the same names for every form. Never reveals the salt.
  Report describe() const;

  // The Bloom filter inside the digest, owned by this object. Null if the digest's form has none.
  const digest::BloomFilter* bloom() const;
  std::string_view kind() const { return kind_; }

  using Filter =
      std::variant<digest::BloomFilter, digest::CountingFilter, digest::ScalableFilter,
                   digest::BlockedFilter, digest::QuotientFilter, digest::NativeDigest,
                   digest::SquidDigest, digest::BloomierFilter, digest::WeightedFilter,
                   digest::CompactApproximator, digest::AdaptiveFilter, digest::MessageFilter>;

  AnyDigest(std::string_view kind, std::uint64_t bytes, Filter filter)
      : kind_(kind), bytes_(bytes), filter_(std::move(filter)) {}

 private:
  std::string_view kind_;
  std::uint64_t bytes_;  // length as saved or sent
  Filter filter_;
};

struct FoundDigest {
  std::string url;  // of the digest itself; empty: it is a file
  AnyDigest digest;
};

// Opens the file, or fetches the digest if `name` is a URL. If the URL has no path, asks that proxy
// for Hearsay's form first, then for Squid's. A URL with a path is that of the digest itself.
// Blocks for at most `limit` per request, of which there may be two. Follows no redirect and uses
// no proxy; an answer larger than any digest on the wire is trouble.
Result<FoundDigest> find_digest(const std::string& name, std::chrono::milliseconds limit);

// Reports the facts of a filter in memory. `bytes` is the size of its saved form.
Report describe(const digest::BloomFilter& filter, std::uint64_t bytes);

}  // namespace proxy::command
