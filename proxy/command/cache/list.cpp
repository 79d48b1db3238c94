#include "proxy/command/cache/list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache/report_values.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/cache/scanned_relations.hpp"
#include "proxy/command/progress.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

std::string count_in(const Report& entry, std::string_view name) {
  const auto* number = entry.find<std::uint64_t>(name);
  return number ? fmt::to_string(*number) : "?";
}

std::string time_in(const Report& entry, std::string_view name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const auto* seconds = entry.find<std::uint64_t>(name);
  return seconds ? short_time(std::chrono::seconds(std::min(*seconds, kMost))) : "?";
}

// Prints entries and adds up their sizes.
class EntryPrinter {
 public:
  EntryPrinter(const ListOptions& options, const Streams& streams)
      : options_(options), out_(streams.out) {
    if (!options_.json) out_.line("kind       size   age fresh claim  hits  URL");
  }

  void print(const Report& entry) {
    entries_ += 1;
    bytes_ += number_in(entry, "disk_bytes");
    if (options_.json) {
      out_.write(entry.json(Report::Letters::ascii));
    } else {
      out_.line(fmt::format("{:<5} {:>9} {:>5} {:>5} {:>5} {:>5}  {}", text_in(entry, "kind", "?"),
                            config::short_size(number_in(entry, "bytes")),
                            time_in(entry, "age_seconds"), time_in(entry, "fresh_seconds"),
                            time_in(entry, "claimable_seconds"), count_in(entry, "hits"),
                            text_in(entry, "url", "?")));
    }
  }
  // Whether the reader of the output is gone.
  bool done() const { return out_.closed(); }

  // `unreadable`: the number of entries that could not be read.
  Result<int> end(std::uint64_t unreadable, const Streams& streams) {
    const bool complete = !out_.closed();
    if (auto said = out_.finish(); !said) return said.error();
    if (!complete) return kDone;
    auto text = fmt::format("{} {}, {} on disk", fmt::group_digits(entries_),
                            entries_ == 1 ? "entry" : "entries", config::short_size(bytes_));
    if (unreadable > 0) {
      text += fmt::format("; {} more cannot be read: `hearsay cache verify` says why", unreadable);
    }
    say(streams.err, text + '\n');
    return kDone;
  }

 private:
  const ListOptions& options_;
  Output out_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<int> list_stopped(const ListOptions& options, const disk::Contents& contents,
                         const Streams& streams) {
  const ScannedRelations relations(contents);
  const cache::Time now = std::chrono::system_clock::now();
  Progress progress(streams, Printing::lines);
  EntryPrinter printer(options, streams);
  std::uint64_t scanned = 0;
  std::uint64_t unreadable = 0;
  progress.begin("listing", contents.entries());
  contents.each([&](const disk::Contents::Seen& seen) {
    progress.update(++scanned, 0);
    if (!seen.stored) {
      ++unreadable;
    } else if (cache::url_in(seen.stored->url()).starts_with(options.prefix.value_or(""))) {
      const auto facts = inspect::facts_of(*seen.stored, relations, now);
      if (facts) printer.print(inspect::report_of(*facts, seen.stored->url()));
    }
    return !printer.done();
  });
  progress.clear();
  return printer.end(unreadable, streams);
}

Result<int> list_running(const ListOptions& options, const Streams& streams) {
  EntryPrinter printer(options, streams);
  std::string target = "/admin/cache/list";
  if (options.prefix) target += "?prefix=" + percent_encoded(*options.prefix);
  std::uint64_t unreadable = 0;
  const auto asked = ask_proxy(options.cache, {target}, [&](const Report& line) {
    if (line.find<std::string>("url")) printer.print(line);
    unreadable += number_in(line, "unreadable");
    return printer.done() ? ReadOn::no : ReadOn::yes;
  });
  if (!asked) return asked.error();
  return printer.end(unreadable, streams);
}

}  // namespace

Result<int> list(const ListOptions& options, const Streams& streams) {
  if (options.cache.path.empty()) return list_running(options, streams);
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  if (!*contents) return list_running(options, streams);
  return list_stopped(options, **contents, streams);
}

}  // namespace proxy::command
