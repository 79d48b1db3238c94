// Whom to ask for a key, in which order, and what came of it.
#pragma once

#include <array>
#include <atomic>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/networks.hpp"
#include "digest/panel.hpp"
#include "peers/peer.hpp"
#include "peers/snapshot.hpp"

namespace peers {

using Claimants = boost::container::small_vector<PeerRef, 4>;

// One peer as monitoring shows it. What is unknown is empty.
struct PeerStatus {
  std::string name;
  std::string url;
  PeerKind kind = PeerKind::unknown;
  PeerState state = PeerState::waiting;
  std::optional<std::uint64_t> entries;     // in its digest, as it says
  std::optional<std::uint64_t> generation;  // of its digest, as it says
  std::optional<double> age_seconds;        // since its digest was last found current
  std::optional<double> false_positive_rate;
  std::uint64_t claims = 0;  // see Accuracy::Books for the books
  std::uint64_t true_hits = 0;
  std::uint64_t false_hits = 0;
  std::array<std::uint64_t, kFalseHits> false_hit_causes{};  // by FalseHit
  std::uint64_t failures = 0;
  std::uint64_t bytes_saved = 0;
  std::optional<double> first_byte_ms;
  std::uint64_t lookups = 0;  // in which its digest was asked, its claims included
  // To be held against false_positive_rate, which the bits predict: of the lookups of what it does
  // not hold, those in which its digest said that it does, absent / (lookups - claims + absent).
  // Empty until there was such a lookup. Only a claim that was tested and found `absent` counts:
  // one that nobody tested, as a cheaper peer had answered, is taken for true. A Squid does not
  // tell what is gone from what is absent, so that both count here.
  std::optional<double> observed_false_positive_rate;
  std::uint64_t probes = 0;
  std::uint64_t false_misses = 0;
  std::optional<double> false_miss_rate;  // of the probes; empty until there was one
  std::uint64_t polls = 0;
  std::uint64_t polls_failed = 0;
  std::uint64_t resyncs = 0;  // see PollReport
  std::uint64_t bytes_received = 0;
  // Bodies of our digest. Empty if it shares its address with another peer, or has none yet.
  std::optional<std::uint64_t> bytes_sent;
  std::string last_error;  // empty: the last poll was good
};

// All peers, and one immutable view of what they say they hold, which the control thread replaces
// after each poll. `now` is steady time everywhere.
class PeerDirectory {
 public:
  explicit PeerDirectory(std::span<const config::PeerSettings> settings);

  // In the order of the settings; the same for the directory's life.
  const std::vector<PeerRef>& peers() const { return peers_; }

  // Whether it is the address of a peer: that in the settings, or, where these have a name, the one
  // where the peer was last reached. Any thread, never waits, as the next.
  bool knows(const config::Address& address) const;
  // The one peer of that address; null if there is none, or if several have it.
  PeerRef at(const config::Address& address) const;

  // Peers whose digest claims the key, cheapest first (Accuracy::cost), on a tie in the order of
  // the settings. Leaves out who rests and whose digest is too old (PollReport::usable_until). Any
  // thread, never waits; one atomic load while no peer has a digest, no allocation up to 4
  // claimants.
  Claimants claimants(const digest::Key& key, SteadyTime now) const;

  // One of the peers whose digest is in use and does not claim the key, chosen by the number; null
  // if there is none. Leaves out whom claimants() does. Counts nothing. Any thread, never waits.
  PeerRef other_than_claimants(const digest::Key& key, SteadyTime now, std::uint32_t chosen) const;

  // How asking one of them went; see Accuracy::note. Any thread, never waits.
  void note(const PeerRef& peer, ClaimOutcome outcome,
            std::optional<std::chrono::microseconds> first_byte, std::uint64_t bytes,
            SteadyTime now, FalseHit cause = FalseHit::untold);

  // Control thread only.
  void update(std::size_t id, PollReport report);
  // Follows whose digest is asked and whose is not (as it rests, or its digest is too old), so that
  // PeerStatus::lookups is right to how often this is called. Control thread only.
  void follow_use(SteadyTime now);

  // Any thread.
  std::vector<PeerStatus> status(SteadyTime now) const;

 private:
  struct View {
    std::vector<PollReport> reports;  // by Peer::id
    digest::Panel panel;              // of their filters, likewise

    explicit View(std::vector<PollReport> reports_given);
  };

  std::vector<PeerRef> at_address(const View& view, const config::Address& address) const;

  std::vector<PeerRef> peers_;
  std::atomic<bool> anybody_{false};               // has a digest
  mutable std::atomic<std::uint64_t> lookups_{0};  // since somebody had one
  Snapshot<View> view_;
};

}  // namespace peers
