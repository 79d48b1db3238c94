#include "proxy/observe/watch.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <stdexcept>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/machine/folders.hpp"

namespace proxy::observe {

namespace disk = cache::disk;

namespace {

// Each advice is what helps most operators; an error without one passes by itself.
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

std::string why_it_refuses(peers::PeerKind kind) {
  return kind == peers::PeerKind::squid
             ? "refuses us: its http_access does not allow our address"
             : "refuses us: not in its access.clients, or its access.rules deny us";
}

std::string why_resting(peers::Reason reason, peers::PeerKind kind) {
  switch (reason) {
    case peers::Reason::lies:
      return "most of its recent claims were false, so it rests: look who runs it, and at its log";
    case peers::Reason::contradicted:
      return "the origin contradicts what it gave, so it rests: look who runs it, or set its trust "
             "to guest";
    case peers::Reason::not_a_proxy:
      return "what answers at its address is not this neighbour, so it rests: look at its url in "
             "peers";
    case peers::Reason::refuses_us:
      return why_it_refuses(kind);
    case peers::Reason::none:
      return {};
    default:
      return "it failed requests, and rests: look at its log, and at the way to it";
  }
}

// The check that finds a contradiction says so itself, with the URL.
bool is_said_already(const peers::PeerStatus& peer) {
  return peer.state == peers::PeerState::resting &&
         peer.books.reason == peers::Reason::contradicted;
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
void DiskWatch::record_losses(const disk::Counters& counters, Time now) {
  const std::uint64_t lost = counters.lost;
  // Counters and no events: the disk counts on its own thread, and this one says it.
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

void DiskWatch::look(Time now) {
  if (!disk_) return;
  disk_->charge();
  const auto& disk = disk_->disk();
  const auto state = disk_->state();
  // The successor has the disk now, and says what is to be said of it.
  if (state.reason == disk::Error::handed_over) return;
  using disk::Unclaimed;
  // A neighbour that believes the claim would wait for a disk that does not answer.
  auto& index = disk_->disk().catalog().index;
  if (state.reason == disk::Error::hangs) {
    index.suspend_claims(Unclaimed::hanging);
  } else {
    index.resume_claims(Unclaimed::hanging);
  }
  record_losses(disk.catalog().counters, now);
  if (working_ && !state.working) {
    spdlog::error("{}; what is stored stays in memory meanwhile", why_rests(state.reason, path_));
  } else if (!working_ && state.working) {
    spdlog::info("the cache on disk is back, with {}",
                 config::counted(disk.catalog().index.entries(), "entry", "entries"));
  }
  working_ = state.working;
  // Said once: it lasts until somebody changes the settings.
  if (!crowded_ && disk.catalog().counters.crowded_out > 0) {
    crowded_ = true;
    spdlog::warn(
        "the index of {} entries takes half of cache.memory, so the oldest go though the disk has "
        "room; with more memory the disk could hold more",
        disk.catalog().index.entries());
  }
  // While the disk rests, nobody looks how full its file system is.
  if (!state.working) return;
  const bool squeezed = disk.catalog().squeezed;
  if (std::exchange(squeezed_, squeezed) == squeezed) return;
  if (squeezed) {
    spdlog::warn("the cache on disk: {}", kSqueezed);
  } else {
    spdlog::info("the file system of cache.disk.path has room again");
  }
}

disk::LatelyPurged open_disk(cache::DiskTier& disk, const std::string& path,
                             cache::DiskTier::InUse in_use, const machine::Clock& clock) {
  const auto begun = clock.steady();
  const auto loaded = disk.start(in_use);
  if (!loaded) {
    const auto error = loaded.error();
    const auto text =
        fmt::format("cache.disk.path {}: {}; {}", path, to_string(error), what_to_do(error, path));
    // Two proxies with one directory would be a fault of the settings, which no time mends.
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
  const std::chrono::duration<double> took = clock.steady() - begun;
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

std::string why_down(const peers::PeerStatus& peer) {
  using peers::PeerState;
  switch (peer.state) {
    case PeerState::resting:
      return why_resting(peer.books.reason, peer.kind);
    case PeerState::trying:
      // A trial does not say that the peer has ceased to refuse us.
      if (peer.books.reason != peers::Reason::refuses_us) break;
      return why_it_refuses(peer.kind);
    case PeerState::failing:
    case PeerState::stale:
    case PeerState::down:
      return "its digest cannot be fetched: " + peer.last_error +
             (peer.unresolved > 0 ? ": look at its url in the setting peers"
                                  : ": look whether it runs, and at the way to it");
    case PeerState::off:
    case PeerState::waiting:
    case PeerState::usable:
      break;
  }
  return {};
}

// A peer that fails requests is at fault itself, whatever the name servers do.
bool is_excused(const peers::PeerStatus& peer, const upstream::NameHealth& names,
                std::chrono::steady_clock::time_point now) {
  using peers::PeerState;
  const bool by_polls = peer.state == PeerState::failing || peer.state == PeerState::stale ||
                        peer.state == PeerState::down;
  if (!by_polls || peer.unresolved == 0) return false;
  // While all names fail, each peer would be reported, though only the name servers are to blame.
  return peer.unresolved <= peers::kDownAfter || names.fails_lately(now);
}

// A neighbour that rested and is being tried may rest again at once. One whose polls failed answers
// them again.
bool PeerWatch::look(const std::vector<peers::PeerStatus>& peers, const upstream::NameHealth& names,
                     Time now) {
  using peers::PeerState;
  std::map<std::string, Down> down;
  bool changed = false;
  for (const auto& peer : peers) {
    const auto why = why_down(peer);
    // By name, as a reload may give a peer another number.
    const auto known = down_.find(peer.name);
    const bool was_down = known != down_.end();
    if (is_excused(peer, names, now)) {
      if (was_down) down.insert(*known);
      continue;
    }
    const bool on_trial = was_down && known->second.rests && peer.state == PeerState::trying;
    if (!why.empty() || on_trial) {
      const bool rests = on_trial || peer.state == PeerState::resting;
      const bool was_said = was_down && known->second.said;
      const bool says = !was_said && !why.empty() && !is_said_already(peer);
      down.emplace(peer.name, Down{was_down ? known->second.since : now, rests, was_said || says});
      changed = changed || !was_down;
      if (says) {
        spdlog::warn("peer {} is down: {}; requests go without it", peer.name, why);
      }
    } else if (was_down) {
      changed = true;
      const auto gone = std::chrono::duration_cast<std::chrono::seconds>(now - known->second.since);
      spdlog::info("peer {} is back, after {} s", peer.name, gone.count());
    }
  }
  down_ = std::move(down);
  return changed;
}

std::string step_text(const machine::ClockStep& step) {
  const auto by = std::chrono::round<std::chrono::seconds>(std::chrono::abs(step.by));
  return fmt::format("the clock of this machine was set {} by {}",
                     step.by < step.by.zero() ? "back" : "ahead", config::rough_text(by));
}

std::string doubt_text(const machine::ClockStep& last, machine::Clock::Time now) {
  // At least a second: "0 seconds ago" would read like a mistake.
  const auto ago =
      std::max(std::chrono::ceil<std::chrono::seconds>(now - last.seen), std::chrono::seconds(1));
  return fmt::format("{}, {} ago: the ages of responses that were stored before are doubtful",
                     step_text(last), config::rough_text(ago));
}

void write_step(const machine::ClockStep& step) {
  spdlog::warn(
      "{}: ages go on by the time that passes; if the clock is wrong now, set it (timedatectl, "
      "chrony)",
      step_text(step));
}

void write_ages_right() {
  spdlog::info("the ages of stored responses are not doubtful any more after the clock was set");
}

}  // namespace proxy::observe
