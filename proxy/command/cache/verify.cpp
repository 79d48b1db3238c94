#include "proxy/command/cache/verify.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"
#include "proxy/command/cache/report_values.hpp"
#include "proxy/command/cache/running_proxy.hpp"
#include "proxy/command/progress.hpp"
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

std::string line_of(const Report& damage, const VerifyOptions& options) {
  return options.json ? damage.json(Report::Letters::ascii) : text_of(damage);
}

class StoppedCheck {
 public:
  StoppedCheck(const VerifyOptions& options, const disk::Directory& directory,
               const Streams& streams)
      : options_(options),
        directory_(directory),
        progress_(streams, Printing::lines),
        out_(streams.out) {}

  Result<int> run() {
    const auto items = directory_.segments();
    if (!items) return trouble_with(options_.cache, items.error());
    std::uint64_t expected = 0;
    for (const auto& item : *items) expected += item.bytes;
    progress_.begin("verifying", expected);
    for (const auto& item : *items) {
      if (item.is_file && !out_.closed()) check(item);
    }
    progress_.clear();
    out_.write(summary());
    if (auto said = out_.finish(); !said) return said.error();
    return all_.damages == 0 ? kDone : kDamaged;
  }

 private:
  void check(const disk::Directory::Item& item) {
    const auto tell = [this](const disk::Damage& damage) {
      out_.write(line_of(inspect::report_of(damage), options_));
    };
    segments_ += 1;
    const auto file = directory_.open_segment(item.segment);
    if (!file) {
      all_.damages += 1;
      tell({disk::Fault::unreadable, item.segment, 0, item.bytes, {}});
      return;
    }
    const auto verified = disk::verify(*file, item.segment, tell);
    all_.records += verified.records;
    all_.bytes += verified.bytes;
    all_.damages += verified.damages;
    progress_.update(all_.bytes, 0);
  }

  std::string summary() const {
    Report report;
    report.add("segments", segments_).add("good_records", all_.records);
    report.add("bytes", all_.bytes).add("damaged_places", all_.damages);
    return options_.json ? report.json() : report.text();
  }

  const VerifyOptions& options_;
  const disk::Directory& directory_;
  Progress progress_;
  Output out_;
  std::uint64_t segments_ = 0;
  disk::Verified all_;
};

// The last line of the answer is the summary.
Result<int> verify_running(const VerifyOptions& options, const Streams& streams) {
  Progress progress(streams, Printing::lines);
  Output out(streams.out);
  Report summary;
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

Result<int> verify(const VerifyOptions& options, const Streams& streams) {
  if (options.cache.path.empty()) return verify_running(options, streams);
  const auto directory = disk::Directory::open(options.cache.path, disk::Access::read);
  if (!directory && directory.error() == disk::Error::in_use) {
    return verify_running(options, streams);
  }
  if (!directory) return trouble_with(options.cache, directory.error());
  return StoppedCheck(options, *directory, streams).run();
}

}  // namespace proxy::command
