#include "proxy/command/digest/unite.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"
#include "proxy/command/digest/any_digest.hpp"
#include "proxy/command/progress.hpp"

namespace proxy::command {
namespace {

Result<AnyDigest> open_bloom(const std::string& path) {
  auto digest = AnyDigest::open(path);
  if (!digest || digest->bloom() != nullptr) return digest;
  return Trouble{
      fmt::format("{}: a {} filter; only Bloom filters can be united (plain, counting, "
                  "mapped, native or Squid's)",
                  path, digest->kind())};
}

std::string summary_of(const digest::Shape& shape) {
  return fmt::format("{} bits and {}{}", shape.bits,
                     config::counted(shape.hashes, "hash", "hashes"),
                     shape.layout == digest::Layout::partitioned ? " in slices" : "");
}

Trouble unlike(const std::string& first, const digest::Shape& one, const std::string& other,
               const digest::Shape& two) {
  if (summary_of(one) == summary_of(two)) {
    return {
        fmt::format("{} and {} derive bits from keys in different ways, or with different "
                    "salts: they cannot be united",
                    first, other)};
  }
  return {
      fmt::format("{} has {}, {} has {}: only filters of one shape can be united; build both "
                  "with the same --capacity and --fpr or --bits-per-entry",
                  first, summary_of(one), other, summary_of(two))};
}

Result<digest::BloomFilter> united(const std::vector<std::string>& paths, Progress& progress) {
  progress.begin("uniting " + config::counted(paths.size(), "digest"), paths.size());
  const auto first = open_bloom(paths.front());
  if (!first) return first.error();
  digest::BloomFilter sum = *first->bloom();
  for (std::size_t i = 1; i < paths.size(); ++i) {
    progress.update(i, 0);
    const auto next = open_bloom(paths[i]);
    if (!next) return next.error();
    if (!sum.unite(*next->bloom())) {
      return unlike(paths.front(), sum.shape(), paths[i], next->bloom()->shape());
    }
  }
  return sum;
}

}  // namespace

Result<int> unite(const UniteOptions& options, const Streams& streams) {
  if (auto allowed = may_save(options.save); !allowed) return allowed.error();
  Progress progress(streams);
  const auto filter = united(options.digests, progress);
  progress.clear();
  if (!filter) return filter.error();
  return save_filter(*filter, options.save, streams);
}

}  // namespace proxy::command
