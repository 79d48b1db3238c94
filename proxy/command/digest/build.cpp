#include "proxy/command/digest/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/counted.hpp"
#include "digest/sizing.hpp"
#include "digest/bloom_filter.hpp"
#include "proxy/command/lines.hpp"

namespace proxy::command {
namespace {

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

}  // namespace proxy::command
