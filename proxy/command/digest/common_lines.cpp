#include "proxy/command/digest/common_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/command/digest/candidate_filter.hpp"
#include "proxy/command/digest/candidate_lines.hpp"
#include "proxy/command/digest/line_key.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;
namespace {

std::uint64_t hash_of(const digest::Key& key) {
  return digest::load64(key.bytes.data());
}

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
    const auto shortage = options_.exact ? OnShortage::exceed_rate : OnShortage::fail;
    auto filter = candidate_filter(inputs_, {salt_, options_.rate, memory, shortage}, progress_);
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
  const digest::Salt salt_ = random_salt();
  std::vector<InputFile> inputs_;
  Progress progress_;
  Output out_;
  std::uint64_t printed_ = 0;
  std::uint64_t parts_ = 0;
  std::size_t filter_bytes_ = 0;
};

}  // namespace

Result<int> common_lines(const CommonOptions& options, const Streams& streams) {
  if (options.memory < kLeastCommonMemory) return Trouble{"--memory must be at least 1MiB"};
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
