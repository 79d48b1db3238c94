#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "config/counted.hpp"
#include "digest/bloom_filter.hpp"
#include "digest/sizing.hpp"
#include "proxy/command/any_digest.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/lines.hpp"
#include "proxy/machine/descriptor.hpp"

namespace proxy::command {
namespace {

Trouble exists(const std::string& path) {
  return {fmt::format("{}: exists already; choose another name, or replace it with --force", path)};
}

mode_t mode_for_everybody() {
  // There is no other way to read it. No other thread makes files meanwhile.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Called before long work, too.
Result<void> may_save(const SaveOptions& options) {
  struct stat status {};
  const bool there = ::stat(options.out.c_str(), &status) == 0;
  if (there && !options.force) return exists(options.out);
  if (there && !S_ISREG(status.st_mode)) {
    return Trouble{fmt::format("{}: is no ordinary file, and is not replaced", options.out)};
  }
  return {};
}

// Saves the filter as a whole or not at all, and prints its facts. If the filter is salted, only
// the owner may read the file, since the salt is a secret. No reader sees a part of the file, and
// on trouble an older file stays as it was.
Result<int> save_filter(const digest::BloomFilter& filter, const SaveOptions& options,
                        const Streams& streams) {
  if (auto allowed = may_save(options); !allowed) return allowed.error();
  const bool salted = filter.shape().derivation == digest::Derivation::salted;
  const auto bytes = filter.save();
  // In the same folder, since a file gets its name within one file system only.
  std::string temporary = options.out + ".XXXXXX";
  machine::Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return system_trouble(options.out, errno);
  // mkostemp() makes the file for its owner alone, whatever the umask is.
  const mode_t mode = salted ? 0600 : mode_for_everybody();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  int error = ::fchmod(file.number(), mode) == 0 ? say(file.number(), text) : errno;
  // After a crash the name might otherwise lead to an empty file.
  if (error == 0 && ::fsync(file.number()) != 0) error = errno;
  // close() may be the first to report that a write over NFS failed.
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0) {
    // link() fails if the name exists; rename() would replace the file.
    const auto publish = options.force ? ::rename : ::link;
    error = publish(temporary.c_str(), options.out.c_str()) == 0 ? 0 : errno;
  }
  // Unlike rename(), link() leaves the temporary name.
  if (error != 0 || !options.force) ::unlink(temporary.c_str());
  if (error == EEXIST) return exists(options.out);
  if (error != 0) return system_trouble(options.out, error);
  Report report;
  report.add("file", options.out).add(describe(filter, bytes.size()));
  return print(options.json ? report.json() : report.text(), streams);
}

// 1 GiB of keys; for more, the user gives --capacity.
constexpr std::size_t kMostKeys = std::size_t{1} << 26;

// Calls take(key, lines) with each line's key, until it returns trouble.
template <class Take>
Result<void> each_key(const std::vector<InputFile>& inputs, Spelling spelling, Progress& progress,
                      Take take) {
  for (const InputFile& input : inputs) {
    progress.begin("building from " + input.name(), input.size());
    Lines lines(input, progress);
    while (const auto line = lines.next()) {
      if (line->empty()) continue;
      const auto key = key_of(*line, spelling);
      if (!key) return lines.at_line(key.error().text);
      if (auto taken = take(*key, lines); !taken) return taken.error();
    }
    if (lines.trouble()) return *lines.trouble();
  }
  return {};
}

digest::Sized<digest::Shape> shape_by(const BuildOptions& options, std::uint64_t capacity) {
  if (options.rate) {
    return options.hashes ? digest::shape_for(capacity, *options.rate, *options.hashes)
                          : digest::shape_for(capacity, *options.rate);
  }
  auto ratio = digest::best_ratio(options.bits_per_entry.value_or(digest::kDefaultBitsPerEntry));
  if (!ratio) return ratio.error();
  if (options.hashes) ratio->hashes = *options.hashes;
  return digest::shape_for(capacity, *ratio);
}

Result<digest::StrictFilter> empty_filter(const BuildOptions& options, std::uint64_t capacity) {
  const auto shape = shape_by(options, capacity);
  if (!shape) {
    return Trouble{fmt::format("no filter can be made for {} like this: {}",
                               config::counted(capacity, "entry", "entries"),
                               to_string(shape.error()))};
  }
  return digest::StrictFilter(*digest::BloomFilter::create(*shape), capacity);
}

Result<void> insert(digest::StrictFilter& filter, const digest::Key& key, const Lines& lines) {
  if (filter.insert(key)) return {};
  return lines.at_line(
      fmt::format("is one more distinct URL than the capacity of {}, "
                  "beyond which the error rate would not hold; give a larger --capacity",
                  filter.capacity()));
}

Result<digest::StrictFilter> filter_of_kept_keys(const BuildOptions& options,
                                                 const std::vector<InputFile>& inputs,
                                                 Progress& progress) {
  std::vector<digest::Key> keys;
  const auto keep = [&keys](const digest::Key& key, const Lines& lines) -> Result<void> {
    if (keys.size() == kMostKeys) {
      return lines.at_line("more URLs than are kept in memory; give --capacity, or a file");
    }
    keys.push_back(key);
    return {};
  };
  if (auto kept = each_key(inputs, options.spelling, progress, keep); !kept) return kept.error();
  auto filter = empty_filter(options, std::max<std::uint64_t>(keys.size(), 1));
  if (filter) filter->insert(keys);  // cannot exceed its capacity
  return filter;
}

Result<std::uint64_t> count_all(std::vector<InputFile>& inputs, Progress& progress) {
  std::uint64_t sum = 0;
  for (InputFile& input : inputs) {
    progress.begin("counting " + input.name(), input.size());
    const auto lines = count_lines(input, progress);
    if (!lines) return lines.error();
    sum += *lines;
  }
  return std::max<std::uint64_t>(sum, 1);
}

Result<digest::StrictFilter> filter_of(const BuildOptions& options, std::vector<InputFile>& inputs,
                                       Progress& progress) {
  const bool rereadable = std::all_of(inputs.begin(), inputs.end(),
                                      [](const InputFile& input) { return input.rereadable(); });
  // A pipe cannot be counted first, so its keys wait in memory until their number is known.
  if (!options.capacity && !rereadable) return filter_of_kept_keys(options, inputs, progress);
  const auto capacity =
      options.capacity ? Result<std::uint64_t>(*options.capacity) : count_all(inputs, progress);
  if (!capacity) return capacity.error();
  auto filter = empty_filter(options, *capacity);
  if (!filter) return filter;
  const auto take = [&filter](const digest::Key& key, const Lines& lines) {
    return insert(*filter, key, lines);
  };
  if (auto all = each_key(inputs, options.spelling, progress, take); !all) return all.error();
  return filter;
}

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

Result<int> build(const BuildOptions& options, const Streams& streams) {
  if (auto allowed = may_save(options.save); !allowed) return allowed.error();
  auto inputs = open_all(options.inputs, streams);
  if (!inputs) return inputs.error();
  Progress progress(streams);
  const auto filter = filter_of(options, *inputs, progress);
  progress.clear();
  if (!filter) return filter.error();
  return save_filter(filter->filter(), options.save, streams);
}

Result<int> unite(const UniteOptions& options, const Streams& streams) {
  if (auto allowed = may_save(options.save); !allowed) return allowed.error();
  Progress progress(streams);
  const auto filter = united(options.digests, progress);
  progress.clear();
  if (!filter) return filter.error();
  return save_filter(*filter, options.save, streams);
}

}  // namespace proxy::command
