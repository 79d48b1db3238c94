#include <utility>

#include "proxy/cache/disk/verify.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/inspect/live_parts.hpp"

namespace proxy::inspect {
namespace {

namespace disk = cache::disk;

class LiveVerify final : public Slices {
 public:
  LiveVerify(cache::DiskTier& tier, std::function<void(const disk::Damage&)> tell)
      : disk_(tier.disk()), tell_(std::move(tell)) {}

  bool next(machine::Clock& clock, std::string& out) override {
    if (!walk_) {
      walk_.emplace(disk_.catalog().index, [](const disk::Location&) { return true; });
      append(out, Report().add("expected_bytes", disk_.catalog().used_bytes.load()));
    }
    const SliceLimit limit(clock, out);
    while (!limit.reached()) {
      const auto step = walk_->next();
      if (!step) {
        append(out, summary());
        return false;
      }
      check(*step, out);
    }
    write_progress(clock.steady(), out);
    return true;
  }

 private:
  void check(const disk::Walk::Step& step, std::string& out) {
    std::string url;
    const auto& [key, place] = step;
    const auto checked = disk_.check(key, place, url);
    all_.bytes += place.bytes;
    if (checked) {
      all_.records += 1;
    } else if (checked.error() != disk::Error::gone) {
      const bool read = checked.error() == disk::Error::corrupt;
      const auto fault = url.empty() ? disk::Fault::head : disk::Fault::body;
      const disk::Damage damage{read ? fault : disk::Fault::unreadable, place.at.segment,
                                place.at.offset, place.bytes, url};
      all_.damages += 1;
      tell_(damage);
      append(out, report_of(damage));
    }
  }

  // A regular line also shows whether the client is still reading.
  void write_progress(machine::Clock::SteadyTime now, std::string& out) {
    constexpr std::chrono::milliseconds kOften{500};
    if (now - said_ < kOften) return;
    said_ = now;
    append(out, Report().add("checked_bytes", all_.bytes));
  }

  Report summary() const {
    Report report;
    report.add("segments", std::uint64_t{disk_.catalog().segments.count()})
        .add("good_records", all_.records);
    return report.add("bytes", all_.bytes).add("damaged_places", all_.damages);
  }

  disk::Disk& disk_;
  const std::function<void(const disk::Damage&)> tell_;
  std::optional<disk::Walk> walk_;
  disk::Verified all_;
  machine::Clock::SteadyTime said_{};
};

}  // namespace

std::unique_ptr<Slices> verify_live(cache::DiskTier& disk,
                                    std::function<void(const disk::Damage&)> tell) {
  return std::make_unique<LiveVerify>(disk, std::move(tell));
}

}  // namespace proxy::inspect
