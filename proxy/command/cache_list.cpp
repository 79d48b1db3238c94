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

std::string line_of(const Report& entry) {
  return fmt::format("{:<5} {:>9} {:>5} {:>5} {:>5} {:>5}  {}\n", text_in(entry, "kind", "?"),
                     config::short_size(number_in(entry, "bytes")), time_in(entry, "age_seconds"),
                     time_in(entry, "fresh_seconds"), time_in(entry, "claimable_seconds"),
                     count_in(entry, "hits"), text_in(entry, "url", "?"));
}

// All facts, with names and texts escaped, and below them the fields of the head, indented.
std::string paragraph_of(const Report& record) {
  Report report;
  for (const auto& [name, value] : record.facts()) {
    if (name == kHeadField) continue;
    const auto* text = std::get_if<std::string>(&value);
    report.add(escaped(name), text ? Report::Value(escaped(*text)) : value);
  }
  std::string text = report.text();
  const auto* const head = record.find<std::string>(kHeadField);
  std::string_view rest = head ? std::string_view(*head).substr(0, kMaxHead) : "";
  while (!rest.empty()) {
    const auto end = rest.find("\r\n");
    text += "  " + escaped(rest.substr(0, end)) + '\n';
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 2);
  }
  return text;
}

// Prints reports, counts them and adds up their sizes.
class Printer {
 public:
  struct Form {
    std::string (*text)(const Report&);
    std::string_view title;    // before the first report
    std::string_view between;  // the others
  };

  Printer(const CacheOptions& options, const Streams& streams, Form form)
      : json_(options.json), form_(form), out_(streams.out) {
    if (!json_) out_.write(form_.title);
  }

  void print(const Report& report) {
    bytes_ += number_in(report, "disk_bytes");
    if (json_) {
      out_.write(report.json(Report::Letters::ascii));
    } else {
      out_.write(reports_ > 0 ? form_.between : "");
      // Texts come from servers, so each form escapes them for the terminal.
      out_.write(form_.text(report));
    }
    ++reports_;
  }

  // Asks the running proxy for a page and prints those of its lines that have a text of this name.
  // Returns the number of entries that the proxy could not read.
  Result<std::uint64_t> print_page(const ConfiguredCache& cache, const std::string& target,
                                   std::string_view name) {
    std::uint64_t unreadable = 0;
    const auto asked = ask_proxy(cache, {target}, [&](const Report& line) {
      if (line.find<std::string>(name)) print(line);
      unreadable += number_in(line, "unreadable");
      return done() ? ReadOn::no : ReadOn::yes;
    });
    if (!asked) return asked.error();
    return unreadable;
  }

  Result<void> finish() { return out_.finish(); }
  // Whether the reader of the output is gone.
  bool done() const { return out_.closed(); }
  std::uint64_t reports() const { return reports_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const bool json_;
  const Form form_;
  Output out_;
  std::uint64_t reports_ = 0;
  std::uint64_t bytes_ = 0;
};

// Returns the number of entries that could not be read.
std::uint64_t list_stopped(const disk::Contents& contents, const CacheOptions& options,
                           const Streams& streams, Printer& printer) {
  const ScannedRelations relations(contents);
  // Not machine::Clock, whose tick may be earlier than the newest entry: ages are shown in seconds.
  const cache::Time now = std::chrono::system_clock::now();
  Progress progress(streams, Printing::lines);
  std::uint64_t scanned = 0;
  std::uint64_t unreadable = 0;
  const auto is_of_prefix = [prefix = options.prefix.value_or("")](std::string_view name) {
    return cache::StoredName::decode(name).url.starts_with(prefix);
  };
  progress.begin("listing", contents.entries());
  contents.each([&](const disk::Contents::Seen& seen) {
    progress.update(++scanned, 0);
    if (!seen.stored) {
      ++unreadable;
    } else if (is_of_prefix(seen.stored->url())) {
      const auto facts = inspect::facts_of(*seen.stored, relations, now);
      if (facts) printer.print(inspect::report_of(*facts, seen.stored->url()));
    }
    return !printer.done();
  });
  return unreadable;
}

void show_stopped(const disk::Contents& contents, const std::string& name, Printer& printer) {
  const ScannedRelations relations(contents);
  contents.each([&](const disk::Contents::Seen& seen) {
    if (seen.stored && seen.place.kind != disk::RecordKind::block &&
        cache::StoredName::decode(seen.stored->url()).url == name) {
      Report report;
      report.add("stored_as", std::string(seen.stored->url()));
      printer.print(report.add(inspect::record_of(seen.key, *seen.stored, relations)));
    }
    return !printer.done();
  });
}

}  // namespace

Result<int> list(const CacheOptions& options, const Streams& streams) {
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  Printer printer(options, streams,
                  {line_of, "kind       size   age fresh claim  hits  URL\n", ""});
  std::string target = "/admin/cache/list";
  if (options.prefix) target += "?prefix=" + percent_encoded(*options.prefix);
  const auto unreadable = *contents ? list_stopped(**contents, options, streams, printer)
                                    : printer.print_page(options.cache, target, "url");
  if (!unreadable) return unreadable.error();
  const bool complete = !printer.done();
  if (auto said = printer.finish(); !said) return said.error();
  // A summary of a list that its reader has cut short would be wrong.
  if (!complete) return kDone;
  auto text = fmt::format("{} {}, {} on disk", fmt::group_digits(printer.reports()),
                          printer.reports() == 1 ? "entry" : "entries",
                          config::short_size(printer.bytes()));
  if (*unreadable > 0) {
    text += fmt::format("; {} more cannot be read: `hearsay cache verify` says why", *unreadable);
  }
  say(streams.err, text + '\n');
  return kDone;
}

Result<int> show(const CacheOptions& options, const Streams& streams) {
  const auto target = target_of(options.url);
  if (!target) return target.error();
  const auto contents = open_stopped(options.cache, streams);
  if (!contents) return contents.error();
  Printer printer(options, streams, {paragraph_of, "", "\n"});
  if (*contents) {
    show_stopped(**contents, stored_name(options.cache, *target), printer);
  } else {
    // The URL as requested: the proxy applies the rules of its sites itself.
    const auto page = "/admin/cache/show?url=" + percent_encoded(target->url());
    const auto asked = printer.print_page(options.cache, page, "stored_as");
    if (!asked) return asked.error();
  }
  if (auto said = printer.finish(); !said) return said.error();
  return printer.reports() > 0 ? kDone : kNone;
}

}  // namespace proxy::command
