#include "proxy/command/cache/list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/cache/stored_name.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/cache/scanned_relations.hpp"
#include "proxy/command/progress.hpp"
#include "proxy/command/terminal_text.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

std::uint64_t number_in(const Report& entry, std::string_view name) {
  const auto* number = entry.find<std::uint64_t>(name);
  return number ? *number : 0;
}

std::string count_in(const Report& entry, std::string_view name) {
  const auto* number = entry.find<std::uint64_t>(name);
  return number ? fmt::to_string(*number) : "?";
}

std::string time_in(const Report& entry, std::string_view name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const auto* seconds = entry.find<std::uint64_t>(name);
  return seconds ? short_time(std::chrono::seconds(std::min(*seconds, kMost))) : "?";
}

std::string text_in(const Report& entry, std::string_view name) {
  const auto* text = entry.find<std::string>(name);
  return text ? escaped(*text) : "?";
}

// Writes entries as they are told, and adds them up.
class Lines {
 public:
  Lines(const ListOptions& options, const Streams& streams) : options_(options), out_(streams.out) {
    if (!options_.json) out_.line("kind       size   age fresh claim  hits  URL");
  }

  void tell(const Report& entry) {
    listed_ += 1;
    bytes_ += number_in(entry, "disk_bytes");
    if (options_.json) {
      out_.write(entry.json(Report::Letters::ascii));
    } else {
      out_.line(fmt::format("{:<5} {:>9} {:>5} {:>5} {:>5} {:>5}  {}", text_in(entry, "kind"),
                            short_size(number_in(entry, "bytes")), time_in(entry, "age_seconds"),
                            time_in(entry, "fresh_seconds"), time_in(entry, "claimable_seconds"),
                            count_in(entry, "hits"), text_in(entry, "url")));
    }
  }
  // Nobody wants to read more.
  bool done() const { return out_.done(); }

  // `unreadable`: entries that were there and could not be told of.
  Result<int> end(std::uint64_t unreadable, const Streams& streams) {
    const bool complete = !out_.done();
    if (auto said = out_.finish(); !said) return said.error();
    if (!complete) return kDone;
    auto text =
        fmt::format("{} entries, {} on disk", fmt::group_digits(listed_), short_size(bytes_));
    if (unreadable > 0) {
      text += fmt::format("; {} more cannot be read: `hearsay cache verify` says why", unreadable);
    }
    say(streams.err, text + '\n');
    return kDone;
  }

 private:
  const ListOptions& options_;
  Output out_;
  std::uint64_t listed_ = 0;
  std::uint64_t bytes_ = 0;
};

Result<int> list_stopped(const ListOptions& options, const disk::Contents& contents,
                         const Streams& streams) {
  const ScannedRelations relations(contents);
  const cache::Time now = std::chrono::system_clock::now();
  Progress progress(streams, Printing::lines);
  Lines lines(options, streams);
  std::uint64_t looked_at = 0;
  std::uint64_t unreadable = 0;
  progress.stage("listing", contents.entries());
  contents.each([&](const disk::Contents::Seen& seen) {
    progress.at(++looked_at, 0);
    if (!seen.stored) {
      ++unreadable;
    } else if (cache::url_in(seen.stored->url()).starts_with(options.prefix.value_or(""))) {
      const auto facts = inspect::facts_of(*seen.stored, relations, now);
      if (facts) lines.tell(inspect::report_of(*facts, seen.stored->url()));
    }
    return !lines.done();
  });
  progress.clear();
  return lines.end(unreadable, streams);
}

Result<int> list_running(const ListOptions& options, const Streams& streams) {
  Lines lines(options, streams);
  std::string target = "/admin/cache/list";
  if (options.prefix) target += "?prefix=" + as_parameter(*options.prefix);
  std::uint64_t unreadable = 0;
  const auto asked = ask_running(options.place, {target}, [&](const Report& told) {
    if (told.find<std::string>("url")) lines.tell(told);
    unreadable += number_in(told, "unreadable");
    return !lines.done();
  });
  if (!asked) return asked.error();
  return lines.end(unreadable, streams);
}

}  // namespace

Result<int> list(const ListOptions& options, const Streams& streams) {
  if (options.place.path.empty()) return list_running(options, streams);
  const auto contents = look_into(options.place, streams);
  if (!contents) return contents.error();
  if (!*contents) return list_running(options, streams);
  return list_stopped(options, **contents, streams);
}

}  // namespace proxy::command
