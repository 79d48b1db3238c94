#include <fmt/format.h>

#include "config/counted.hpp"
#include "proxy/command/cache_access.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;
using inspect::Report;

std::string text_of(const Report& damage) {
  auto text = fmt::format("{}, offset {}: {}; ", text_in(damage, "segment", ""),
                          number_in(damage, "offset"), text_in(damage, "what", ""));
  const auto lost = number_in(damage, "lost_bytes");
  text += lost > 0 ? config::counted(lost, "byte") + " lost" : "nothing lost";
  if (damage.find<std::string>("url")) text += "; " + text_in(damage, "url", "");
  return text + '\n';
}

std::string line_of(const Report& damage, const CacheOptions& options) {
  return options.json ? damage.json(Report::Letters::ascii) : text_of(damage);
}

Result<int> verify_stopped(const CacheOptions& options, const disk::Directory& directory,
                           const Streams& streams) {
  const auto items = directory.segments();
  if (!items) return trouble_with(options.cache, items.error());
  Progress progress(streams, Printing::lines);
  Output out(streams.out);
  std::uint64_t segments = 0;
  std::uint64_t expected = 0;
  disk::Verified all;
  const auto print_damage = [&](const disk::Damage& damage) {
    out.write(line_of(inspect::report_of(damage), options));
  };
  // Before the first segment, so that progress has a whole that it is a part of.
  for (const auto& item : *items) expected += item.bytes;
  progress.begin("verifying", expected);
  for (const auto& item : *items) {
    if (!item.is_file || out.closed()) continue;
    segments += 1;
    const auto file = directory.open_segment(item.segment);
    if (!file) {
      // An unreadable segment counts as damage, and so changes the exit code.
      all.damages += 1;
      print_damage({disk::Fault::unreadable, item.segment, 0, item.bytes, {}});
      continue;
    }
    const auto verified = disk::verify(*file, item.segment, print_damage);
    all.records += verified.records;
    all.bytes += verified.bytes;
    all.damages += verified.damages;
    progress.update(all.bytes, 0);
  }
  progress.clear();
  Report summary;
  summary.add("segments", segments).add("good_records", all.records);
  summary.add("bytes", all.bytes).add("damaged_places", all.damages);
  out.write(options.json ? summary.json() : summary.text());
  if (auto said = out.finish(); !said) return said.error();
  return all.damages == 0 ? kDone : kDamaged;
}

// The last line of the answer is the summary.
Result<int> verify_running(const CacheOptions& options, const Streams& streams) {
  Progress progress(streams, Printing::lines);
  Output out(streams.out);
  Report summary;
  // The empty body makes it a POST, which alone may begin such work.
  const PageRequest request{.target = "/admin/cache/verify", .body = ""};
  const auto asked = ask_proxy(options.cache, request, [&](const Report& line) {
    if (line.find<std::string>("what")) {
      out.write(line_of(line, options));
    } else if (const auto* expected = line.find<std::uint64_t>("expected_bytes")) {
      progress.begin("verifying", *expected);
    } else if (const auto* checked = line.find<std::uint64_t>("checked_bytes")) {
      progress.update(*checked, 0);
    } else {
      summary = line;
    }
    return out.closed() ? ReadOn::no : ReadOn::yes;
  });
  progress.clear();
  if (!asked) return asked.error();
  out.write(options.json ? summary.json() : summary.text());
  if (auto said = out.finish(); !said) return said.error();
  return number_in(summary, "damaged_places") == 0 ? kDone : kDamaged;
}

}  // namespace

Result<int> verify(const CacheOptions& options, const Streams& streams) {
  if (options.cache.path.empty()) return verify_running(options, streams);
  const auto directory = disk::Directory::open(options.cache.path, disk::Access::read);
  if (!directory && directory.error() == disk::Error::in_use) {
    return verify_running(options, streams);
  }
  if (!directory) return trouble_with(options.cache, directory.error());
  return verify_stopped(options, *directory, streams);
}

}  // namespace proxy::command
