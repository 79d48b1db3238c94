#include <fmt/format.h>

#include <algorithm>

#include "config/text.hpp"
#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache_access.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

constexpr std::size_t kMaxHead = std::size_t{64} << 10;
constexpr std::string_view kHeadField = "head";

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
  EntryPrinter(const CacheOptions& options, const Streams& streams)
      : json_(options.json), out_(streams.out) {
    if (!json_) out_.line("kind       size   age fresh claim  hits  URL");
  }

  void print(const Report& entry) {
    entries_ += 1;
    bytes_ += number_in(entry, "disk_bytes");
    if (json_) return out_.write(entry.json(Report::Letters::ascii));
    out_.line(fmt::format("{:<5} {:>9} {:>5} {:>5} {:>5} {:>5}  {}", text_in(entry, "kind", "?"),
                          config::short_size(number_in(entry, "bytes")),
                          time_in(entry, "age_seconds"), time_in(entry, "fresh_seconds"),
                          time_in(entry, "claimable_seconds"), count_in(entry, "hits"),
                          text_in(entry, "url", "?")));
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
  const bool json_;
  Output out_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<int> list_running(const CacheOptions& options, const Streams& streams) {
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

// One line per field, indented and escaped.
std::string indented(std::string_view head) {
  std::string text;
  for (head = head.substr(0, kMaxHead); !head.empty();) {
    const auto end = head.find("\r\n");
    text += "  " + escaped(head.substr(0, end)) + '\n';
    head.remove_prefix(end == head.npos ? head.size() : end + 2);
  }
  return text;
}

// All facts but the head, with names and texts escaped.
Report for_terminal(const Report& record) {
  Report report;
  for (const auto& [name, value] : record.facts()) {
    if (name == kHeadField) continue;
    const auto* text = std::get_if<std::string>(&value);
    report.add(escaped(name), text ? Report::Value(escaped(*text)) : value);
  }
  return report;
}

// Prints records and counts them.
class RecordPrinter {
 public:
  RecordPrinter(const CacheOptions& options, const Streams& streams)
      : json_(options.json), out_(streams.out) {}

  void print(const Report& record) {
    const bool is_first = records_++ == 0;
    if (json_) return out_.write(record.json(Report::Letters::ascii));
    if (!is_first) out_.line("");
    out_.write(for_terminal(record).text());
    if (const auto* head = record.find<std::string>(kHeadField)) out_.write(indented(*head));
  }
  bool done() const { return out_.closed(); }

  Result<int> end() {
    if (auto said = out_.finish(); !said) return said.error();
    return records_ > 0 ? kDone : kNone;
  }

 private:
  const bool json_;
  Output out_;
  std::uint64_t records_ = 0;
};

Result<int> show_running(const CacheOptions& options, const std::string& url,
                         const Streams& streams) {
  RecordPrinter printer(options, streams);
  const PageRequest request{"/admin/cache/show?url=" + percent_encoded(url)};
  const auto asked = ask_proxy(options.cache, request, [&printer](const Report& line) {
    if (line.find<std::string>("stored_as")) printer.print(line);
    return printer.done() ? ReadOn::no : ReadOn::yes;
  });
  if (!asked) return asked.error();
  return printer.end();
}

}  // namespace

Result<int> list(const CacheOptions& options, const Streams& streams) {
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  if (!*contents) return list_running(options, streams);
  const ScannedRelations relations(**contents);
  const cache::Time now = std::chrono::system_clock::now();
  Progress progress(streams, Printing::lines);
  EntryPrinter printer(options, streams);
  std::uint64_t scanned = 0;
  std::uint64_t unreadable = 0;
  const auto is_of_prefix = [prefix = options.prefix.value_or("")](std::string_view name) {
    return cache::StoredName::decode(name).url.starts_with(prefix);
  };
  progress.begin("listing", (*contents)->entries());
  (*contents)->each([&](const disk::Contents::Seen& seen) {
    progress.update(++scanned, 0);
    if (!seen.stored) {
      ++unreadable;
    } else if (is_of_prefix(seen.stored->url())) {
      const auto facts = inspect::facts_of(*seen.stored, relations, now);
      if (facts) printer.print(inspect::report_of(*facts, seen.stored->url()));
    }
    return !printer.done();
  });
  progress.clear();
  return printer.end(unreadable, streams);
}

Result<int> show(const CacheOptions& options, const Streams& streams) {
  const auto target = target_of(options.url);
  if (!target) return target.error();
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  if (!*contents) return show_running(options, target->url(), streams);
  const auto name = stored_name(options.cache, *target);
  const ScannedRelations relations(**contents);
  RecordPrinter printer(options, streams);
  (*contents)->each([&](const disk::Contents::Seen& seen) {
    if (seen.stored && seen.place.kind != disk::RecordKind::block &&
        cache::StoredName::decode(seen.stored->url()).url == name) {
      Report report;
      report.add("stored_as", std::string(seen.stored->url()));
      printer.print(report.add(inspect::record_of(seen.key, *seen.stored, relations)));
    }
    return !printer.done();
  });
  return printer.end();
}

}  // namespace proxy::command
