#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
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

constexpr std::size_t kFirstSlots = 1024;
constexpr std::uint64_t kOffset = (std::uint64_t{1} << 48) - 1;

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

CandidateLines::CandidateLines(std::size_t budget)
    : budget_(budget), arena_(new std::byte[budget]), slots_(kFirstSlots) {}

// Returns the slot of the line, or the free slot where it belongs.
std::size_t CandidateLines::slot_of(std::string_view line, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t entry = slots_[slot];
    if (entry == 0) return slot;
    // The upper bits are those of the line's hash: most other lines need no look at the arena.
    if ((entry ^ hash) >> 48 != 0) continue;
    const LineHeader& header = *header_at((entry & kOffset) - 1);
    if (header.hash == hash && line_of(header) == line) return slot;
  }
}

Added CandidateLines::add(std::string_view line, std::uint64_t hash) {
  std::size_t slot = slot_of(line, hash);
  if (slots_[slot] != 0) return Added::yes;
  const std::size_t need = bytes_for(line.size());
  if (size_ + 1 > slots_.size() / 4 * 3) {
    if (grow(need) == Added::no_room) return Added::no_room;
    slot = slot_of(line, hash);
  }
  if (used_ + need + slots_.size() * sizeof slots_[0] > budget_) return Added::no_room;
  auto* const header =
      new (arena_.get() + used_) LineHeader{hash, static_cast<std::uint32_t>(line.size()), 0};
  std::memcpy(header + 1, line.data(), line.size());
  // One more than the offset, since 0 is a free slot.
  slots_[slot] = (hash & ~kOffset) | (used_ + 1);
  used_ += need;
  ++size_;
  return Added::yes;
}

// Doubles the slots, if the budget allows for the new slots, the old ones and `need` more bytes.
Added CandidateLines::grow(std::size_t need) {
  const std::size_t more = 2 * slots_.size();
  if (used_ + need + (more + slots_.size()) * sizeof slots_[0] > budget_) return Added::no_room;
  const auto old = std::exchange(slots_, std::vector<std::uint64_t>(more));
  for (const std::uint64_t entry : old) {
    if (entry == 0) continue;
    const LineHeader& header = *header_at((entry & kOffset) - 1);
    slots_[slot_of(line_of(header), header.hash)] = entry;
  }
  return Added::yes;
}

void CandidateLines::confirm(std::string_view line, std::uint64_t hash, std::uint32_t round) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry == 0) return;
  LineHeader& header = *header_at((entry & kOffset) - 1);
  // If one file lacks a line, the line misses that round and all later ones. A second copy in the
  // same file changes nothing.
  if (header.mark + 1 == round) header.mark = round;
}

void CandidateLines::strike(std::string_view line, std::uint64_t hash) {
  const std::uint64_t entry = slots_[slot_of(line, hash)];
  if (entry != 0) header_at((entry & kOffset) - 1)->mark = kStruck;
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
