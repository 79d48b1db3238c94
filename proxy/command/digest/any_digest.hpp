// A digest in whichever form somebody saved or sent it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "digest/blocked_filter.hpp"
#include "digest/bloom_filter.hpp"
#include "digest/counting_filter.hpp"
#include "digest/native_digest.hpp"
#include "digest/quotient_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/squid_digest.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;

// Filters that digest/ saves or maps into a file, their text form, a snapshot in our native format,
// Squid's digest. What begins as none of ours is taken for Squid's, which has no mark.
class AnyDigest {
 public:
  // Blocks, but never for a writer. What of the file is read: digest_file.hpp.
  static Result<AnyDigest> open(const std::string& path);
  // `place` begins what is said about trouble.
  static Result<AnyDigest> decode(std::span<const std::uint8_t> bytes, const std::string& place);

  // False: certainly not in. As of when it was opened.
  bool contains(const digest::Key& key) const;

  // What it is, how full, how often wrong; the same names whatever the form. Never the salt.
  Report describe() const;

  // The claims, if they are those of one Bloom filter; else null.
  const digest::BloomFilter* bloom() const;
  std::string_view kind() const { return kind_; }

 private:
  using Filter = std::variant<digest::BloomFilter, digest::CountingFilter, digest::ScalableFilter,
                              digest::BlockedFilter, digest::QuotientFilter, digest::NativeDigest,
                              digest::SquidDigest>;

  AnyDigest(std::string_view kind, std::uint64_t bytes, Filter filter)
      : kind_(kind), bytes_(bytes), filter_(std::move(filter)) {}

  template <class T, class E>
  static Result<AnyDigest> made(boost::system::result<T, E> loaded, std::string_view kind,
                                std::uint64_t bytes, const std::string& place);

  std::string_view kind_;
  std::uint64_t bytes_;  // as saved or sent
  Filter filter_;
};

// The same of a filter in memory that takes so many bytes when it is saved.
Report describe(const digest::BloomFilter& filter, std::uint64_t bytes);

}  // namespace proxy::command
