#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "digest/bloom_filter.hpp"
#include "digest/little_endian.hpp"
#include "digest/sizing.hpp"
#include "proxy/command/digest.hpp"
#include "proxy/command/line_sets.hpp"
#include "proxy/command/lines.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {
namespace {

using inspect::Report;

// What CommonOptions give, for the filter that claims the lines that may be common to all files.
struct FilterNeeds {
  digest::Salt salt;   // for the keys of the lines
  double rate;         // the share of lines not common to all files that the filter may claim
  std::size_t memory;  // in bytes, for two filters at once
  bool exact;          // if the memory is too little for the rate, the filter may claim more
};

// The inputs from the smallest to the largest, without the first input unless it is the smallest.
std::vector<InputFile*> chain_of(std::vector<InputFile>& inputs) {
  std::vector<InputFile*> chain;
  for (auto input = inputs.begin() + 1; input != inputs.end(); ++input) chain.push_back(&*input);
  std::sort(chain.begin(), chain.end(),
            [](const InputFile* a, const InputFile* b) { return a->size() < b->size(); });
  if (inputs.front().size() < chain.front()->size()) chain.insert(chain.begin(), &inputs.front());
  return chain;
}

Result<digest::Shape> shape_for(const FilterNeeds& needs, std::uint64_t capacity, double rate) {
  // Two filters exist at once, so each may take half of the bytes: 4 bits for each byte.
  const auto most_bits = std::min<std::uint64_t>(std::uint64_t{4} * needs.memory, digest::kMaxBits);
  const auto wanted = digest::shape_for(capacity, rate);
  if (wanted && wanted->bits <= most_bits) return *wanted;
  if (needs.exact) {
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

// Makes a filter that claims every line that all inputs contain. Starts with the smallest input;
// each further input yields a filter of those of its lines that the previous filter claims. So no
// filter is larger than the smallest input requires. The caller looks up the lines of the first
// input: that input takes part only if it is the smallest. Reads each input once to count and once
// to filter; all must be rereadable.
Result<digest::BloomFilter> candidate_filter(std::vector<InputFile>& inputs,
                                             const FilterNeeds& needs, Progress& progress) {
  const auto chain = chain_of(inputs);
  // Each filter passes its false claims on to the next one, so the rates add up.
  const double rate = needs.rate / static_cast<double>(chain.size());
  std::optional<digest::BloomFilter> filter;
  std::optional<std::uint64_t> capacity;
  for (InputFile* const input : chain) {
    progress.begin("counting " + input->name(), input->size());
    const auto lines = count_lines(*input, progress);
    if (!lines) return lines.error();
    capacity = next_capacity(*lines, capacity, rate);
    const auto shape = shape_for(needs, *capacity, rate);
    if (!shape) return shape.error();
    digest::BloomFilter next = *digest::BloomFilter::create(*shape);
    auto inserted = insert_claimed(*input, filter, needs.salt, progress, next);
    if (!inserted) return inserted.error();
    filter = std::move(next);
  }
  return std::move(*filter);
}

std::uint64_t hash_of(const digest::Key& key) {
  return digest::load64(key.bytes.data());
}

constexpr std::size_t kLeastMemory = std::size_t{1} << 20;
// More than any filter can use: a larger --memory makes no difference.
constexpr std::size_t kMostForFilters = std::size_t{1} << 40;

// The budget for a part: no more than all lines of the file need, even if each has a single byte.
std::size_t part_budget(std::uint64_t file_bytes, std::size_t most) {
  constexpr std::size_t kLeast = std::size_t{128} << 10;
  constexpr std::size_t kPerByte = 64;
  return file_bytes < most / kPerByte ? std::min(most, kLeast + kPerByte * file_bytes) : most;
}

class Intersection {
 public:
  Intersection(const CommonOptions& options, const Streams& streams, std::vector<InputFile> inputs)
      : options_(options),
        inputs_(std::move(inputs)),
        progress_(streams, Printing::lines),
        out_(streams.out) {}

  Result<void> run() {
    const std::size_t memory = std::min(options_.memory, kMostForFilters) / 2;
    const FilterNeeds needs{salt_, options_.rate, memory, options_.exact};
    auto filter = candidate_filter(inputs_, needs, progress_);
    if (!filter) return filter.error();
    filter_bytes_ = filter->bytes().size();
    const auto printed = print_all(*filter);
    const auto written = out_.finish();
    progress_.clear();
    return printed ? written : printed;
  }

  Report report() const {
    Report report;
    report.add("printed", printed_).add("exact", options_.exact).add("parts", parts_);
    report.add("filter_bytes", filter_bytes_);
    report.add("false_positive_rate_bound", options_.exact ? 0.0 : options_.rate);
    return report;
  }

 private:
  Result<void> print_all(const digest::BloomFilter& filter) {
    InputFile& first = inputs_.front();
    if (auto start = first.rewind(); !start) return start;
    Lines lines(first, progress_);
    for (auto line = lines.next(); line && !out_.closed();) {
      const std::uint64_t before = lines.number() - 1;
      CandidateLines part(part_budget(first.size(), options_.memory / 2));
      ++parts_;
      progress_.begin("looking through " + first.name(), first.size());
      line = take(part, filter, lines, line);
      if (lines.trouble()) break;
      // What occurs above this part has been printed with an earlier one.
      if (auto struck = strike_earlier(part, before); !struck) return struck;
      if (auto confirmed = confirm(part); !confirmed) return confirmed;
      print(part);
    }
    if (lines.trouble()) return *lines.trouble();
    return {};
  }

  // Adds lines to the part, from `line` on. Returns the first line that does not fit, if any.
  std::optional<std::string_view> take(CandidateLines& part, const digest::BloomFilter& filter,
                                       Lines& lines, std::optional<std::string_view> line) const {
    for (; line; line = lines.next()) {
      const digest::Key key = line_key(salt_, *line);
      if (filter.contains(key) && part.add(*line, hash_of(key)) == Added::no_room) break;
    }
    return line;
  }

  // Reads a file again and calls found(line, hash) for each of its first `most` lines.
  template <class Found>
  Result<void> each_line(const std::string& name, std::uint64_t most, Found found) {
    const auto input = InputFile::open(name, Streams{}, Opening::at_once);
    if (!input) return input.error();
    progress_.begin("verifying by " + name, input->size());
    Lines lines(*input, progress_);
    for (; most > 0; --most) {
      const auto line = lines.next();
      if (!line) break;
      found(*line, hash_of(line_key(salt_, *line)));
    }
    if (lines.trouble()) return *lines.trouble();
    return {};
  }

  Result<void> strike_earlier(CandidateLines& part, std::uint64_t lines) {
    if (lines == 0 || part.size() == 0) return {};
    return each_line(options_.files.front(), lines,
                     [&part](std::string_view line, auto hash) { part.strike(line, hash); });
  }

  Result<void> confirm(CandidateLines& part) {
    if (!options_.exact || part.size() == 0) return {};
    constexpr auto kAll = ~std::uint64_t{0};
    for (std::uint32_t round = 1; round < options_.files.size(); ++round) {
      const auto read = each_line(
          options_.files[round], kAll,
          [&part, round](std::string_view line, auto hash) { part.confirm(line, hash, round); });
      if (!read) return read;
    }
    return {};
  }

  void print(const CandidateLines& part) {
    const auto rounds = options_.exact ? static_cast<std::uint32_t>(options_.files.size() - 1) : 0U;
    part.each_confirmed(rounds, [this](std::string_view line) {
      out_.line(line);
      ++printed_;
      return !out_.closed();
    });
  }

  const CommonOptions& options_;
  // Of this run alone, so that nobody can prepare lines whose keys collide.
  const digest::Salt salt_ = random_salt();
  std::vector<InputFile> inputs_;
  Progress progress_;
  Output out_;
  std::uint64_t printed_ = 0;
  std::uint64_t parts_ = 0;
  std::size_t filter_bytes_ = 0;
};

}  // namespace

Added CandidateLines::add(std::string_view line, std::uint64_t hash) {
  // The index takes 9 bytes per slot. When it grows, twice as many slots are half full, and the old
  // ones exist, too: up to 32 bytes per line.
  constexpr std::size_t kPerLine = sizeof(Candidate) + 32;
  if (find(line, hash)) return Added::yes;
  if (used_ + line.size() + (size() + 1) * kPerLine > budget_) return Added::no_room;
  char* const text = texts_.get() + used_;
  used_ += line.copy(text, line.size());
  index_.insert(&lines_.emplace_back(Candidate{{text, line.size()}, hash}));
  return Added::yes;
}

CandidateLines::Candidate* CandidateLines::find(std::string_view line, std::uint64_t hash) const {
  Candidate wanted{line, hash};
  const auto found = index_.find(&wanted);
  return found == index_.end() ? nullptr : *found;
}

void CandidateLines::confirm(std::string_view line, std::uint64_t hash, std::uint32_t round) {
  Candidate* const found = find(line, hash);
  // If one file lacks a line, the line misses that round and all later ones. A second copy in the
  // same file changes nothing.
  if (found && found->mark + 1 == round) found->mark = round;
}

void CandidateLines::strike(std::string_view line, std::uint64_t hash) {
  constexpr std::uint32_t kStruck = ~std::uint32_t{0};
  if (Candidate* const found = find(line, hash)) found->mark = kStruck;
}

Result<int> common_lines(const CommonOptions& options, const Streams& streams) {
  if (options.memory < kLeastMemory) return Trouble{"--memory must be at least 1MiB"};
  auto inputs = open_all(options.files, streams, Opening::at_once);
  if (!inputs) return inputs.error();
  for (const InputFile& input : *inputs) {
    if (input.rereadable()) continue;
    return Trouble{
        fmt::format("{}: is no ordinary file, and `common` reads files more than once; "
                    "save the lines to a file first",
                    input.name())};
  }
  Intersection intersection(options, streams, std::move(*inputs));
  if (auto done = intersection.run(); !done) return done.error();
  if (!options.quiet)
    say(streams.err, options.json ? intersection.report().json() : intersection.report().text());
  return kDone;
}

}  // namespace proxy::command
