#include "proxy/observe/disk_watch.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <stdexcept>
#include <utility>

#include "config/counted.hpp"
#include "proxy/machine/folders.hpp"

namespace proxy {

namespace disk = cache::disk;

namespace {

std::string what_to_do(disk::Error error, const std::string& path) {
  switch (error) {
    case disk::Error::read_only:
      if (auto advice = machine::read_only_advice(path); !advice.empty()) return advice;
      return "give the folder to the user of the proxy; if it was made or mounted after the start "
             "of the proxy, restart that, because its sandbox knows the folders of the start alone";
    case disk::Error::no_space:
      return "make room in the file system of " + path +
             ", or set cache.disk.size to less than it has";
    case disk::Error::in_use:
      return "is another hearsay running with it?";
    case disk::Error::being_read:
      return "it is taken when that has ended";
    case disk::Error::too_small:
      return "give it at least 64MiB";
    case disk::Error::hangs:
      return "what it holds is found once it does";
    default:
      return "the disk is tried again from time to time";
  }
}

}  // namespace

std::string why_rests(disk::Error error, const std::string& path) {
  return fmt::format("the cache on disk rests: {}; {}", to_string(error), what_to_do(error, path));
}

std::optional<Fault::Told> DiskWatch::lost() const {
  auto told = lost_.told();
  return told ? told : damaged_.told();
}

// Each damaged record has a line of its own, and so has a rest.
void DiskWatch::note_losses(const disk::Counters& counters, Time now) {
  const std::uint64_t lost = counters.lost;
  if (std::exchange(known_lost_, lost) < lost) {
    lost_.found(fmt::format("{} was removed, emptied or unmounted while in use, so what it held is "
                            "lost: look who did that, and whether the right disk is there",
                            path_),
                now);
  }
  const std::uint64_t damaged = counters.corrupt + counters.failed_reads;
  const auto before = std::exchange(known_damaged_, damaged);
  if (!damaged_.told()) damaged_from_ = before;
  if (before < damaged) {
    damaged_.found(fmt::format("records in {} were damaged or unreadable ({} so far), and dropped: "
                               "look whether another program writes there, and test the disk "
                               "(dmesg); `hearsay cache verify` finds the others",
                               path_, damaged - damaged_from_),
                   now);
  }
  for (auto* const fault : {&lost_, &damaged_}) {
    const auto told = fault->told();
    if (told && now - told->last >= kTold && fault->mended()) {
      spdlog::info("for 10 minutes nothing was lost or damaged in {}", path_);
    }
  }
}

void DiskWatch::look() {
  if (!disk_) return;
  disk_->charge();
  const auto& disk = disk_->disk();
  const auto state = disk_->state();
  if (state.reason == disk::Error::handed_over) return;
  using disk::Unclaimed;
  auto& index = disk_->disk().catalog().index;
  if (state.reason == disk::Error::hangs) {
    index.suspend_claims(Unclaimed::hanging);
  } else {
    index.resume_claims(Unclaimed::hanging);
  }
  note_losses(disk.catalog().counters, std::chrono::steady_clock::now());
  if (working_ && !state.working) {
    spdlog::error("{}; what is stored stays in memory meanwhile", why_rests(state.reason, path_));
  } else if (!working_ && state.working) {
    spdlog::info("the cache on disk is back, with {}",
                 config::counted(disk.catalog().index.entries(), "entry", "entries"));
  }
  working_ = state.working;
  if (!crowded_ && disk.catalog().counters.crowded_out > 0) {
    crowded_ = true;
    spdlog::warn(
        "the index of {} entries takes half of cache.memory, so the oldest go though the disk has "
        "room; with more memory the disk could hold more",
        disk.catalog().index.entries());
  }
  if (!state.working) return;
  const bool squeezed = disk.catalog().squeezed;
  if (squeezed && !squeezed_) {
    spdlog::warn("the cache on disk: {}", kSqueezed);
  } else if (squeezed_ && !squeezed) {
    spdlog::info("the file system of cache.disk.path has room again");
  }
  squeezed_ = squeezed;
}

disk::LatelyPurged open_disk(cache::DiskTier& disk, const std::string& path,
                             cache::DiskTier::InUse in_use) {
  const auto begun = std::chrono::steady_clock::now();
  const auto loaded = disk.start(in_use);
  if (!loaded) {
    const auto error = loaded.error();
    const auto text =
        fmt::format("cache.disk.path {}: {}; {}", path, to_string(error), what_to_do(error, path));
    const bool is_taken = error == disk::Error::in_use && in_use == cache::DiskTier::InUse::fails;
    if (is_taken || error == disk::Error::too_small) {
      throw std::runtime_error(text);
    }
    if (error == disk::Error::hangs) {
      disk.disk().catalog().index.suspend_claims(disk::Unclaimed::hanging);
    }
    spdlog::error("{}", text);
    return {};
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  spdlog::debug("cache on disk at {}: {} in {}, read in {:.3f} s", path,
                config::counted(loaded->entries, "entry", "entries"),
                config::counted(loaded->segments, "segment"), took.count());
  if (loaded->damaged + loaded->cut + loaded->other_version + loaded->unreadable > 0) {
    spdlog::warn(
        "{}: segments that had lost something: {}, cut by a crash: {}, of another version and "
        "removed: {}, that could not be read: {}",
        path, loaded->damaged, loaded->cut, loaded->other_version, loaded->unreadable);
  }
  if (loaded->forgotten > 0) {
    spdlog::warn("{}: what the newest segment purged is not known, so nothing before it counts",
                 path);
  }
  return loaded->lately_purged;
}

}  // namespace proxy
