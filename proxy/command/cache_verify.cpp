#include "proxy/command/cache_verify.hpp"

#include <fmt/format.h>

#include "proxy/cache/disk/verify.hpp"
#include "proxy/command/progress.hpp"
#include "proxy/command/report.hpp"
#include "proxy/command/shown.hpp"

namespace proxy::command {
namespace {

namespace disk = cache::disk;

std::string json_of(const disk::Damage& damage) {
  Report report;
  report.add("segment", file_of(damage.segment)).add("offset", damage.offset);
  report.add("what", std::string(disk::to_string(damage.fault)));
  report.add("lost_bytes", damage.lost_bytes);
  report.add("url", damage.url.empty() ? Report::Value() : std::string(damage.url));
  return report.json(Report::Letters::ascii);
}

std::string text_of(const disk::Damage& damage) {
  auto text = fmt::format("{}, offset {}: {}; ", file_of(damage.segment), damage.offset,
                          disk::to_string(damage.fault));
  text += damage.lost_bytes > 0 ? fmt::format("{} bytes lost", damage.lost_bytes) : "nothing lost";
  if (!damage.url.empty()) text += "; " + escaped(damage.url);
  return text + '\n';
}

class Verifying {
 public:
  Verifying(const VerifyOptions& options, const disk::Directory& directory, const Streams& streams)
      : options_(options),
        directory_(directory),
        progress_(streams, Printing::lines),
        out_(streams.out) {}

  Result<int> run() {
    const auto items = directory_.segments();
    if (!items) return cache_trouble(options_.place, items.error());
    std::uint64_t expected = 0;
    for (const auto& item : *items) expected += item.bytes;
    progress_.stage("verifying", expected);
    for (const auto& item : *items) {
      if (item.is_file && !out_.done()) check(item);
    }
    progress_.clear();
    out_.write(summary());
    if (auto said = out_.finish(); !said) return said.error();
    return all_.damages == 0 ? kDone : kDamaged;
  }

 private:
  void check(const disk::Directory::Item& item) {
    const auto tell = [this](const disk::Damage& damage) {
      out_.write(options_.json ? json_of(damage) : text_of(damage));
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
    progress_.at(all_.bytes, 0);
  }

  std::string summary() const {
    Report report;
    report.add("segments", segments_).add("good_records", all_.records);
    report.add("bytes", all_.bytes).add("damaged_places", all_.damages);
    return report.as(options_.json);
  }

  const VerifyOptions& options_;
  const disk::Directory& directory_;
  Progress progress_;
  Output out_;
  std::uint64_t segments_ = 0;
  disk::Verified all_;
};

}  // namespace

Result<int> verify(const VerifyOptions& options, const Streams& streams) {
  const auto directory = disk::Directory::open(options.place.path, disk::Access::read);
  if (!directory) return cache_trouble(options.place, directory.error());
  return Verifying(options, *directory, streams).run();
}

}  // namespace proxy::command
