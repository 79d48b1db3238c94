// What is said of the disk, of neighbours and of the clock, in the log and in /health.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "peers/directory.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/observe/fault.hpp"
#include "proxy/upstream/name_health.hpp"

namespace proxy::observe {

// The text for a person while Catalog::squeezed.
inline constexpr std::string_view kSqueezed =
    "the file system of cache.disk.path is full, and has less room than cache.disk.size, so the "
    "oldest go; make room there, or cache.disk.size smaller";

// Why the cache at the path rests and, where it may not be written, what to do; for a person.
std::string why_rests(cache::disk::Error error, const std::string& path);

// For one thread that calls look() regularly. look() lets the disk charge its memory to the budget,
// and suspends the disk's claims while the disk hangs. It logs when the disk begins to rest and
// when the disk works again. It logs once if memory is too small for the index. It logs when
// the file system begins to be too full for cache.disk.size, and when it has room again. It notes
// when the directory vanishes, and when records are damaged.
class DiskWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Watches the disk. Null: no disk is configured.
  explicit DiskWatch(cache::DiskTier* disk, std::string path = {})
      : disk_(disk), path_(std::move(path)) {}
  void look(Time now);
  // Says what was lost of the cache in the last 10 minutes, although the disk works, and what to
  // do. Any thread may call this.
  [[nodiscard]] std::optional<Fault::Told> lost() const;

 private:
  static constexpr std::chrono::minutes kTold{10};

  void record_losses(const cache::disk::Counters& counters, Time now);

  cache::DiskTier* disk_;
  std::string path_;
  bool working_ = true;
  bool crowded_ = false;
  bool squeezed_ = false;
  std::uint64_t known_lost_ = 0;
  std::uint64_t known_damaged_ = 0;
  std::uint64_t damaged_from_ = 0;  // before the fault that is told
  Fault lost_;
  Fault damaged_;
};

// Opens the directory of the setting cache.disk and logs the number of its entries. Throws
// std::runtime_error, with a text for a person, if only other settings help. Logs any other
// failure, and a disk that takes long; the disk is then tried again while the proxy runs. Returns
// what was purged before, as far as it is known at once. With InUse::rests, a directory that
// another process has is such a failure.
cache::disk::LatelyPurged open_disk(cache::DiskTier& disk, const std::string& path,
                                    cache::DiskTier::InUse in_use, const machine::Clock& clock);

// Why the neighbour is down; empty: it is not, as far as is known. Pure.
std::string why_down(const peers::PeerStatus& peer);

// Whether the neighbour is down for a fault that may be the name servers': its name is not
// resolved, and they fail lately, or too few polls have failed to tell.
bool is_excused(const peers::PeerStatus& peer, const upstream::NameHealth& names,
                std::chrono::steady_clock::time_point now);

// Says once when a neighbour goes down, and once when it is back. For one thread that calls look()
// regularly.
class PeerWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `peers`: all that are known at `now`. The watch forgets neighbours that are no longer known. A
  // neighbour that is_excused() counts as before. Returns whether a neighbour went down or is back.
  bool look(const std::vector<peers::PeerStatus>& peers, const upstream::NameHealth& names,
            Time now);

 private:
  struct Down {
    Time since;
    bool rests;  // when it was last seen down; else its polls fail
    bool said;   // that it is down; a lie is said where it is found
  };

  std::map<std::string, Down> down_;  // by name
};

// "the clock of this machine was set back by 2 hours". Pure.
std::string step_text(const machine::ClockStep& step);

// The text of /health while ages are doubtful. Pure.
std::string doubt_text(const machine::ClockStep& last, machine::Clock::Time now);

// Writes the step to the log.
void write_step(const machine::ClockStep& step);
// Writes to the log that ages are not doubtful any more.
void write_ages_right();

}  // namespace proxy::observe
