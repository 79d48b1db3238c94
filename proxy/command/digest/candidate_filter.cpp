#include "proxy/command/digest/candidate_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "digest/sizing.hpp"
#include "proxy/command/digest/line_key.hpp"

namespace proxy::command {
namespace {

// The inputs from the smallest to the largest, without the first input unless it is the smallest.
std::vector<InputFile*> chain_of(std::vector<InputFile>& inputs) {
  std::vector<InputFile*> chain;
  for (auto input = inputs.begin() + 1; input != inputs.end(); ++input) chain.push_back(&*input);
  std::sort(chain.begin(), chain.end(),
            [](const InputFile* a, const InputFile* b) { return a->size() < b->size(); });
  if (inputs.front().size() < chain.front()->size()) chain.insert(chain.begin(), &inputs.front());
  return chain;
}

Result<digest::Shape> shape_within(std::size_t bytes, std::uint64_t capacity, double rate,
                                   OnShortage shortage) {
  const std::uint64_t most_bits =
      std::min<std::uint64_t>(std::uint64_t{8} * bytes, digest::kMaxBits);
  const auto wanted = digest::shape_for(capacity, rate);
  if (wanted && wanted->bits <= most_bits) return *wanted;
  if (shortage == OnShortage::exceed_rate) {
    return digest::Shape{.bits = most_bits, .hashes = *digest::optimal_hashes(most_bits, capacity)};
  }
  return Trouble{fmt::format(
      "a filter for {} lines at this error rate needs {}; "
      "give more --memory (a filter gets a quarter of it), a higher --fpr, or --exact, which works "
      "with any amount",
      capacity,
      wanted ? fmt::format("{} MiB", (wanted->byte_count() >> 20) + 1) : "more than 512 MiB")};
}

// The most distinct lines that the next filter can receive: all lines of the input; or, if there is
// a previous filter, its capacity plus the lines that it claims wrongly, with a margin for chance.
std::uint64_t next_capacity(std::uint64_t lines, std::optional<std::uint64_t> before, double rate) {
  if (!before) return std::max<std::uint64_t>(lines, 1);
  const double wrong = std::ceil(1.1 * rate * static_cast<double>(lines)) + 64;
  return std::clamp<std::uint64_t>(lines, 1, *before + static_cast<std::uint64_t>(wrong));
}

Result<void> insert_claimed(const InputFile& input,
                            const std::optional<digest::BloomFilter>& before,
                            const digest::Salt& salt, Progress& progress,
                            digest::BloomFilter& into) {
  progress.begin("filtering " + input.name(), input.size());
  Lines lines(input, progress);
  while (const auto line = lines.next()) {
    const digest::Key key = line_key(salt, *line);
    if (!before || before->contains(key)) into.insert(key);
  }
  if (lines.trouble()) return *lines.trouble();
  return {};
}

}  // namespace

Result<digest::BloomFilter> candidate_filter(std::vector<InputFile>& inputs,
                                             const CandidateFilterOptions& options,
                                             Progress& progress) {
  const auto chain = chain_of(inputs);
  const double rate = options.rate / static_cast<double>(chain.size());
  std::optional<digest::BloomFilter> filter;
  std::optional<std::uint64_t> capacity;
  for (InputFile* const input : chain) {
    progress.begin("counting " + input->name(), input->size());
    const auto lines = count_lines(*input, progress);
    if (!lines) return lines.error();
    capacity = next_capacity(*lines, capacity, rate);
    const auto shape = shape_within(options.memory / 2, *capacity, rate, options.shortage);
    if (!shape) return shape.error();
    digest::BloomFilter next = *digest::BloomFilter::create(*shape);
    auto inserted = insert_claimed(*input, filter, options.salt, progress, next);
    if (!inserted) return inserted.error();
    filter = std::move(next);
  }
  return std::move(*filter);
}

}  // namespace proxy::command
