#include "peers/directory.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace peers {
namespace {

std::vector<PeerRef> make_peers(std::span<const config::PeerSettings> settings,
                                std::span<const PeerRef> before) {
  std::vector<PeerRef> peers;
  for (const config::PeerSettings& one : settings) {
    // By name and server, since a list is sorted anew or gets a peer in front.
    const auto same = std::find_if(before.begin(), before.end(),
                                   [&](const PeerRef& peer) { return peer->is_named_by(one); });
    peers.push_back(same == before.end()
                        ? std::make_shared<Peer>(peers.size(), one)
                        : std::make_shared<Peer>(peers.size(), one, (*same)->record));
  }
  return peers;
}

std::optional<double> share(std::uint64_t of, std::uint64_t all) {
  if (all == 0) return std::nullopt;
  return static_cast<double>(of) / static_cast<double>(all);
}

// Every lookup that the digest did not claim was of a key that the peer does not hold. So was every
// claim that was found absent.
std::optional<double> observed_rate(const Accuracy::Books& books, std::uint64_t lookups) {
  const auto absent = books.by_cause[static_cast<std::size_t>(FalseHit::absent)];
  const auto not_claimed = lookups - std::min(lookups, books.claims);
  return share(absent, not_claimed + absent);
}

std::optional<config::Address> address_of(const Peer& peer, const PollReport& report) {
  // The settings win: an address that a name led to says nothing of a peer that has an address.
  const auto told = config::parse_address(peer.host);
  return told ? told : report.address;
}

DigestStatus digest_of(const PollReport& report, SteadyTime now) {
  DigestStatus status{.entries = std::nullopt,
                      .generation = report.generation,
                      .age_seconds = std::nullopt,
                      .false_positive_rate = std::nullopt};
  if (report.confirmed) {
    status.age_seconds = std::chrono::duration<double>(now - *report.confirmed).count();
  }
  if (report.claims.filter) {
    status.entries = report.claims.entries;
    status.false_positive_rate = report.claims.filter->false_positive_rate();
  }
  return status;
}

PeerStatus status_of(const Peer& peer, const PollReport& report, std::uint64_t lookups,
                     SteadyTime now) {
  const Accuracy::Books books = peer.accuracy.books();
  return {{peer.name, peer.url, peer.id, peer.role, peer.trust},
          report.kind,
          state_of(peer, report, now),
          digest_of(report, now),
          books,
          lookups,
          observed_rate(books, lookups),
          share(books.false_misses, books.probes),
          report.polls,
          std::nullopt,  // see PeerDirectory::status()
          report.unresolved,
          report.last_error};
}

digest::Panel panel_of(std::span<const PollReport> reports) {
  std::vector<const digest::BloomFilter*> filters;
  for (const PollReport& report : reports) filters.push_back(report.claims.filter.get());
  return digest::Panel(filters);
}

}  // namespace

PeerDirectory::View::View(std::vector<PollReport> reports_given)
    : reports(std::move(reports_given)), panel(panel_of(reports)) {}

PeerDirectory::PeerDirectory(std::span<const config::PeerSettings> settings,
                             const PeerDirectory* before)
    : peers_(make_peers(settings, before ? before->peers() : std::span<const PeerRef>())),
      lookups_(before ? before->lookups_.load(std::memory_order_relaxed) : 0),
      view_(first_view(peers_, before)) {
  anybody_ = view_.read([](const View& view) { return view.anybody(); });
  // A record that was taken over may still count lookups in a digest that was not.
  view_.read([&](const View& view) {
    for (const PeerRef& peer : peers_) {
      const bool has_digest = !!view.reports[peer->id].claims.filter;
      if (!has_digest) peer->accuracy.end_use(lookups_.load(std::memory_order_relaxed));
    }
  });
}

std::unique_ptr<const PeerDirectory::View> PeerDirectory::first_view(
    const std::vector<PeerRef>& peers, const PeerDirectory* before) {
  std::vector<PollReport> reports(peers.size());
  const auto take_over = [&](const View& view) {
    for (const PeerRef& old : before->peers()) {
      const auto same = std::find_if(peers.begin(), peers.end(), [&](const PeerRef& peer) {
        return peer->record == old->record && peer->digest == old->digest;
      });
      if (same == peers.end()) continue;
      reports[(*same)->id] = view.reports[old->id];
    }
  };
  if (before) before->view_.read(take_over);
  return std::make_unique<const View>(std::move(reports));
}

bool PeerDirectory::View::anybody() const {
  return std::any_of(reports.begin(), reports.end(),
                     [](const PollReport& one) { return !!one.claims.filter; });
}

PollReport PeerDirectory::report(std::size_t id) const {
  return view_.read([id](const View& view) { return view.reports[id]; });
}

PeerRef PeerDirectory::at(const View& view, const config::Address& address) const {
  PeerRef found;
  for (const PeerRef& peer : peers_) {
    const bool is_there = address_of(*peer, view.reports[peer->id]) == address;
    if (!is_there || peer->is_ourselves()) continue;
    if (found) return nullptr;
    found = peer;
  }
  return found;
}

// We poll ourselves, too, and may read our digest.
bool PeerDirectory::knows(const config::Address& address) const {
  return view_.read([&](const View& view) {
    return std::any_of(peers_.begin(), peers_.end(), [&](const PeerRef& peer) {
      return address_of(*peer, view.reports[peer->id]) == address;
    });
  });
}

PeerRef PeerDirectory::at(const config::Address& address) const {
  return view_.read([&](const View& view) { return at(view, address); });
}

template <class Found>
void PeerDirectory::ask(const View& view, const digest::Key& key, digest::RuleMark rule,
                        Found found) {
  view.panel.ask(key, found);
  if (rule == 0) return;
  view.panel.ask(digest::under_rule(key, rule), [&](std::size_t id) {
    if (view.reports[id].claims.native) found(id);
  });
}

// A Squid claims nothing under a rule: what its digest says of such a key is an error of its
// filter.
bool PeerDirectory::says(const PollReport& report, const digest::Key& key,
                         const digest::Key& ruled) {
  const auto& filter = *report.claims.filter;
  return filter.contains(key) || (report.claims.native && filter.contains(ruled));
}

Claimants PeerDirectory::claimants(const digest::Key& key, SteadyTime now,
                                   digest::RuleMark rule) const {
  if (!anybody_.load(std::memory_order_relaxed)) return {};
  // Under a rule two keys are looked up, and either may be claimed by mistake.
  lookups_.fetch_add(rule == 0 ? 1 : 2, std::memory_order_relaxed);
  boost::container::small_vector<std::size_t, 4> found;
  view_.read([&](const View& view) {
    ask(view, key, rule, [&](std::size_t id) {
      if (!view.reports[id].counts(now) || peers_[id]->accuracy.resting(now)) return;
      if (peers_[id]->denials.has(key, view.reports[id].claims.number)) return;
      // A digest may claim both keys.
      if (std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
    });
  });
  // After the view: what counts claims is shared by all threads, and a reader holds up update().
  Claimants claimants;
  for (const std::size_t id : found) {
    peers_[id]->accuracy.claimed();
    claimants.push_back(peers_[id]);
  }
  return claimants;
}

std::vector<PeerDirectory::Claim> PeerDirectory::claims_of(const digest::Key& key, SteadyTime now,
                                                           digest::RuleMark rule) const {
  const auto ruled = digest::under_rule(key, rule);
  return view_.read([&](const View& view) {
    std::vector<Claim> all;
    for (const PeerRef& peer : peers_) {
      if (peer->is_ourselves()) continue;
      const PollReport& report = view.reports[peer->id];
      all.push_back(
          {.peer = peer,
           .state = state_of(*peer, report, now),
           .claims = report.counts(now) ? std::optional(says(report, key, ruled)) : std::nullopt,
           .denied = peer->denials.has(key, report.claims.number)});
    }
    return all;
  });
}

PeerRef PeerDirectory::other_than_claimants(const digest::Key& key, SteadyTime now,
                                            std::uint32_t chosen, digest::RuleMark rule) const {
  const auto ruled = digest::under_rule(key, rule);
  boost::container::small_vector<std::size_t, 16> others;
  view_.read([&](const View& view) {
    for (std::size_t id = 0; id < peers_.size(); ++id) {
      const PollReport& report = view.reports[id];
      if (!report.counts(now) || peers_[id]->accuracy.resting(now)) continue;
      if (!says(report, key, ruled)) others.push_back(id);
    }
  });
  return others.empty() ? nullptr : peers_[others[chosen % others.size()]];
}

void PeerDirectory::record(const PeerRef& peer, Asked asked, SteadyTime now) {
  const auto total = lookups_.load(std::memory_order_relaxed);
  asked.foreseen = asked.cause == FalseHit::absent &&
                   view_.read([&](const View& view) { return foreseen(peer, view, total); });
  peer->accuracy.record(asked, now);
}

// Whether the filter of the peer's digest explains that it claims what the peer never held.
bool PeerDirectory::foreseen(const PeerRef& peer, const View& view, std::uint64_t total) {
  const auto& filter = view.reports[peer->id].claims.filter;
  // The digest may have gone since it was asked, and nothing is known of its errors then.
  if (!filter) return false;
  const auto absent =
      peer->accuracy.books().by_cause[static_cast<std::size_t>(FalseHit::absent)] + 1;
  const auto lookups = peer->accuracy.lookups(total);
  return !beyond_prediction(absent, lookups, filter->false_positive_rate());
}

std::optional<Epoch> PeerDirectory::epoch_of(const View& view, const PeerRef& peer, SteadyTime now,
                                             OnTrial on_trial) {
  const PollReport& report = view.reports[peer->id];
  const bool is_of_site = peer->role == config::Role::sibling && peer->trust == config::Trust::site;
  if (!report.claims.native || !is_of_site) return std::nullopt;
  const auto& probation = peer->accuracy.probation();
  if (!report.counts(now) || probation.resting(now)) return std::nullopt;
  if (on_trial == OnTrial::left_out && probation.on()) return std::nullopt;
  return report.claims.native->epoch;
}

PeerRef PeerDirectory::owner(const digest::Key& key, Epoch our_epoch, SteadyTime now,
                             std::span<const Epoch> without) const {
  return view_.read([&](const View& view) {
    PeerRef owner;
    auto highest = bid_for(key, our_epoch);
    for (const PeerRef& peer : peers_) {
      const auto epoch = epoch_of(view, peer, now);
      if (!epoch || bid_for(key, *epoch) <= highest) continue;
      if (std::find(without.begin(), without.end(), *epoch) != without.end()) continue;
      highest = bid_for(key, *epoch);
      owner = peer;
    }
    return owner;
  });
}

PeerRef PeerDirectory::member(Epoch epoch, SteadyTime now) const {
  return view_.read([&](const View& view) {
    const auto found = std::find_if(peers_.begin(), peers_.end(), [&](const PeerRef& peer) {
      return epoch_of(view, peer, now, OnTrial::counts) == epoch;
    });
    return found == peers_.end() ? nullptr : *found;
  });
}

std::optional<Epoch> PeerDirectory::epoch_of(const PeerRef& peer) const {
  return view_.read([&](const View& view) {
    const auto& native = view.reports[peer->id].claims.native;
    return native ? std::optional(native->epoch) : std::nullopt;
  });
}

bool PeerDirectory::is_kept_elsewhere(const digest::Key& key, Epoch our_epoch, SteadyTime now,
                                      digest::RuleMark rule) const {
  if (!anybody_.load(std::memory_order_relaxed)) return false;
  bool is_kept = false;
  if (rule == digest::kOfPart) rule = 0;  // a neighbour may hold another part
  view_.read([&](const View& view) {
    ask(view, key, rule, [&](std::size_t id) {
      const Peer& peer = *peers_[id];
      const auto takes = peer.accuracy.first_byte();
      const bool is_at_hand = peer.for_all && takes.measured() && takes.mean() <= kNear;
      const auto epoch = epoch_of(view, peers_[id], now);
      if (!is_at_hand || !epoch || peer.denials.has(key, view.reports[id].claims.number)) return;
      is_kept = is_kept || bid_for(key, *epoch) > bid_for(key, our_epoch);
    });
  });
  return is_kept;
}

std::string PeerDirectory::native_etag(const PeerRef& peer) const {
  return view_.read([&](const View& view) {
    const PollReport& report = view.reports[peer->id];
    return report.claims.native ? report.etag : std::string();
  });
}

Proof PeerDirectory::proof_of(const PeerRef& peer, const SelfNaming& said) const {
  return view_.read(
      [&](const View& view) { return view.reports[peer->id].identity.proof_in(said); });
}

void PeerDirectory::record_denial(const PeerRef& peer, const digest::Key& key, SteadyTime asked) {
  view_.read([&](const View& view) {
    const PollReport& report = view.reports[peer->id];
    if (report.claims.since <= asked) peer->denials.record(key, report.claims.number);
  });
}

void PeerDirectory::update(std::size_t id, PollReport report) {
  // A copy, since readers may use the old view until replace() returns. Filters are shared.
  auto reports = view_.read([](const View& view) { return view.reports; });
  const auto polled = report.confirmed.value_or(SteadyTime::min());
  const bool is_new = reports[id].claims.filter != report.claims.filter;
  report.claims.number = reports[id].claims.number + (is_new ? 1 : 0);
  report.claims.since = is_new ? polled : reports[id].claims.since;
  auto& accuracy = peers_[id]->accuracy;
  report.failures_in_a_row > 0 ? accuracy.poll_failed(polled) : accuracy.polled(polled);
  const bool had_one = !!reports[id].claims.filter;
  const bool has_one = !!report.claims.filter;
  reports[id] = std::move(report);
  const auto total = lookups_.load(std::memory_order_relaxed);
  if (has_one && !had_one) accuracy.begin_use(total);
  if (had_one && !has_one) accuracy.end_use(total);
  auto view = std::make_unique<const View>(std::move(reports));
  const bool anybody = view->anybody();
  view_.replace(std::move(view));
  anybody_.store(anybody, std::memory_order_relaxed);
}

void PeerDirectory::record_use(SteadyTime now) {
  const auto total = lookups_.load(std::memory_order_relaxed);
  view_.read([&](const View& view) {
    for (const PeerRef& peer : peers_) {
      const bool asked = view.reports[peer->id].counts(now) && !peer->accuracy.resting(now);
      asked ? peer->accuracy.begin_use(total) : peer->accuracy.end_use(total);
    }
  });
}

std::vector<PeerStatus> PeerDirectory::status(SteadyTime now) const {
  return view_.read([&](const View& view) {
    std::vector<PeerStatus> all;
    const auto total = lookups_.load(std::memory_order_relaxed);
    for (const PeerRef& peer : peers_) {
      if (peer->is_ourselves()) continue;
      const auto lookups = peer->accuracy.lookups(total);
      const PollReport& report = view.reports[peer->id];
      all.push_back(status_of(*peer, report, lookups, now));
      const auto address = address_of(*peer, report);
      // Of two peers behind one address nobody knows which of them read our digest.
      if (address && at(view, *address)) all.back().bytes_sent = all.back().books.bytes_sent;
    }
    return all;
  });
}

}  // namespace peers
