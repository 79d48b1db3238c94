// Decides which peers to ask for a key and in which order, and records the results.
#pragma once

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
#include "digest/rule.hpp"
#include "peers/peer.hpp"
#include "peers/site.hpp"
#include "peers/snapshot.hpp"

namespace peers {

using Claimants = boost::container::small_vector<PeerRef, 4>;

// A peer's digest as monitoring shows it. Unknown values are empty.
struct DigestStatus {
  std::optional<std::uint64_t> entries;     // as the peer says
  std::optional<std::uint64_t> generation;  // as the peer says
  std::optional<double> age_seconds;        // since the digest was last confirmed to be current
  std::optional<double> false_positive_rate;
};

// The settings of a peer, for monitoring.
struct PeerSettingsShown {
  std::string name;
  std::string url;
  std::size_t id = 0;  // Peer::id
  config::Role role = config::Role::sibling;
  config::Trust trust = config::Trust::site;
};

// One peer as monitoring shows it. Unknown values are empty.
struct PeerStatus : PeerSettingsShown {
  PeerKind kind = PeerKind::unknown;
  PeerState state = PeerState::waiting;
  DigestStatus digest;
  Accuracy::Books books;
  std::uint64_t lookups = 0;  // requests that consulted the digest, claimed or not
  // The observed false-positive rate: of the lookups of keys that the peer does not hold, the share
  // its digest claimed, absent / (lookups - claims + absent). Compare with
  // digest.false_positive_rate, the rate predicted from the bits set. Empty before the first such
  // lookup. Only claims that were tested and found `absent` count as false: a claim that was not
  // tested, because another peer had answered, is taken for true. The answers of a Squid do not
  // distinguish gone from absent, so for a Squid both count.
  std::optional<double> observed_false_positive_rate;
  std::optional<double> false_miss_rate;  // false_misses / probes; empty before the first probe
  PollCounts polls;
  // Bodies of our digest sent to the peer. Empty if the peer shares its address with another, or
  // its address is not known yet.
  std::optional<std::uint64_t> bytes_sent;
  std::uint32_t unresolved = 0;  // PollReport::unresolved
  std::string last_error;        // empty: the last poll was good
};

// All peers, and one immutable view of what they claim, which the control thread replaces after
// each poll. `now` is steady time throughout.
class PeerDirectory {
 public:
  // `before`: the directory of the settings before, if there was one. A peer that both name keeps
  // its record, and its digest unless the setting `digest` has changed. Any thread.
  explicit PeerDirectory(std::span<const config::PeerSettings> settings,
                         const PeerDirectory* before = nullptr);

  // All peers, in the order of the settings. The list does not change.
  const std::vector<PeerRef>& peers() const { return peers_; }

  // Whether this is the address of a peer: the address in the settings or, if the settings give a
  // name, the address at which the peer was last reached. Any thread, never waits; at() likewise.
  bool knows(const config::Address& address) const;
  // The one peer with this address; null if no peer has it, or several do.
  PeerRef at(const config::Address& address) const;

  // The peers whose digest claims the key, each once, in the order of the settings. `rule`: the
  // asker's rule for the URL (digest/rule.hpp), whose claims count beside those for everybody;
  // digest::kOfPart for objects held in part. Leaves out peers that are resting, peers whose digest
  // is too old (PollReport::usable_until), and peers that have denied the key since they published
  // their digest. Any thread, never waits. Costs one atomic load while no peer has a digest;
  // allocates only for more than 4 claimants.
  Claimants claimants(const digest::Key& key, SteadyTime now, digest::RuleMark rule = 0) const;

  // The statement of one peer's digest about a key.
  struct Claim {
    PeerRef peer;
    PeerState state = PeerState::waiting;
    std::optional<bool> claims;  // nothing: the peer has no digest that may be used
    bool denied = false;         // the peer has denied the key since it published the digest
  };
  // Returns the claims of all peers but ourselves, in the order of the settings. `rule`: as for
  // claimants(). Changes no counter. Any thread may call this; it never waits.
  std::vector<Claim> claims_of(const digest::Key& key, SteadyTime now,
                               digest::RuleMark rule = 0) const;

  // One of the peers whose digest is in use and does not claim the key, selected by `chosen`; null
  // if there is none. `rule`: as for claimants(). Leaves out the peers that claimants() leaves out.
  // Changes no counter. Any thread, never waits.
  PeerRef other_than_claimants(const digest::Key& key, SteadyTime now, std::uint32_t chosen,
                               digest::RuleMark rule = 0) const;

  // Which peer to ask, before the origin, about a key that nobody claims (peers/site.hpp): its
  // owner among us, with `our_epoch`, and the Hearsays of the site that may be asked now, none of
  // them on trial and none `without`. Null: we are the owner. Any thread, never waits; member() and
  // epoch_of() likewise.
  PeerRef owner(const digest::Key& key, Epoch our_epoch, SteadyTime now,
                std::span<const Epoch> without = {}) const;
  // The Hearsay of the site that has this epoch, be it on trial; null if none has, or it rests.
  PeerRef member(Epoch epoch, SteadyTime now) const;
  // The epoch of the peer's digest, whether it may be asked now or not.
  std::optional<Epoch> epoch_of(const PeerRef& peer) const;

  // Whether the keeper of the key is another Hearsay of the site that may be asked now. The keeper
  // is the one with the greatest bid of all that hold the key, us included, and gives it up last. A
  // claimant without an epoch keeps nothing for us. `rule`: by which we keep it; 0: none. Changes
  // no counter. Any thread, never waits.
  bool is_kept_elsewhere(const digest::Key& key, Epoch our_epoch, SteadyTime now,
                         digest::RuleMark rule = 0) const;

  // The ETag of the peer's digest in use; empty if it is not in the native form. Any thread, never
  // waits.
  std::string native_etag(const PeerRef& peer) const;

  // Whether an answer from the peer's address is the peer's own. `said`: how the answer names its
  // sender. Any thread, never waits.
  Proof proof_of(const PeerRef& peer, const SelfNaming& said) const;

  // Records that the peer, asked at `asked`, has denied that it holds the key: it is not asked for
  // the key again until its digest has changed. A denial of what an older digest claimed says
  // nothing about the digest in use. Any thread, never waits.
  void record_denial(const PeerRef& peer, const digest::Key& key, SteadyTime asked);
  // Records how asking a peer ended, and sets Asked::foreseen itself. Any thread, never waits.
  void record(const PeerRef& peer, Asked asked, SteadyTime now);

  // The report of one peer. Any thread.
  PollReport report(std::size_t id) const;
  // Replaces the report of one peer. Control thread only.
  void update(std::size_t id, PollReport report);
  // Records which digests are consulted and which are not (their peer rests, or they are too old).
  // PeerStatus::lookups is as exact as the calls of this are frequent. Control thread only.
  void record_use(SteadyTime now);

  // The status of all peers but ourselves. Any thread may call this.
  std::vector<PeerStatus> status(SteadyTime now) const;

 private:
  struct View {
    std::vector<PollReport> reports;  // indexed by Peer::id
    digest::Panel panel;              // of the filters of all reports, likewise

    explicit View(std::vector<PollReport> reports_given);
    bool anybody() const;  // whether a peer has a digest
  };

  static std::unique_ptr<const View> first_view(const std::vector<PeerRef>& peers,
                                                const PeerDirectory* before);
  // The epoch of a peer that is a Hearsay of the site and may be asked now.
  enum class OnTrial : std::uint8_t { left_out, counts };
  static std::optional<Epoch> epoch_of(const View& view, const PeerRef& peer, SteadyTime now,
                                       OnTrial on_trial = OnTrial::left_out);
  // Calls found(id) for each claimant of the key, or of the key under the rule, once for each of
  // the two. No Squid claims the latter.
  template <class Found>
  static void ask(const View& view, const digest::Key& key, digest::RuleMark rule, Found found);
  // Whether the digest of the report claims one of the two keys. The report has a digest.
  static bool says(const PollReport& report, const digest::Key& key, const digest::Key& ruled);
  static bool foreseen(const PeerRef& peer, const View& view, std::uint64_t total);
  PeerRef at(const View& view, const config::Address& address) const;

  std::vector<PeerRef> peers_;
  std::atomic<bool> anybody_{false};               // has a digest
  mutable std::atomic<std::uint64_t> lookups_{0};  // since somebody had one
  Snapshot<View> view_;
};

}  // namespace peers
