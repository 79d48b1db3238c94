#include "peers/directory.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace peers {
namespace {

std::vector<PeerRef> make_peers(std::span<const config::Peer> settings) {
  std::vector<PeerRef> peers;
  peers.reserve(settings.size());
  for (const config::Peer& one : settings) {
    peers.push_back(std::make_shared<Peer>(peers.size(), one));
  }
  return peers;
}

PeerStatus status_of(const Peer& peer, const Report& report, Time now) {
  const Accuracy::Books books = peer.accuracy.books();
  PeerStatus status{.name = peer.name,
                    .url = peer.url,
                    .kind = report.kind,
                    .state = state_of(peer, report, now),
                    .entries = std::nullopt,
                    .generation = report.generation,
                    .age_seconds = std::nullopt,
                    .false_positive_rate = std::nullopt,
                    .claims = books.claims,
                    .true_hits = books.true_hits,
                    .false_hits = books.false_hits,
                    .failures = books.failures,
                    .bytes_saved = books.bytes_saved,
                    .first_byte_ms = std::nullopt,
                    .polls = report.polls,
                    .polls_failed = report.polls_failed,
                    .resyncs = report.resyncs,
                    .bytes_received = report.bytes_received,
                    .last_error = report.last_error};
  if (books.first_byte) {
    status.first_byte_ms = static_cast<double>(books.first_byte->count()) / 1000.0;
  }
  if (report.confirmed) {
    status.age_seconds = std::chrono::duration<double>(now - *report.confirmed).count();
  }
  if (report.claims.filter) {
    status.entries = report.claims.entries;
    status.false_positive_rate = report.claims.filter->false_positive_rate();
  }
  return status;
}

digest::Panel panel_of(std::span<const Report> reports) {
  std::vector<const digest::BloomFilter*> filters;
  filters.reserve(reports.size());
  for (const Report& report : reports) filters.push_back(report.claims.filter.get());
  return digest::Panel(filters);
}

}  // namespace

Directory::View::View(std::vector<Report> reports_given)
    : reports(std::move(reports_given)), panel(panel_of(reports)) {}

Directory::Directory(std::span<const config::Peer> settings)
    : peers_(make_peers(settings)),
      view_(std::make_unique<const View>(std::vector<Report>(settings.size()))) {}

Claimants Directory::claimants(const digest::Key& key, Time now) const {
  if (!anybody_.load(std::memory_order_relaxed)) return {};
  struct Priced {
    double cost;
    std::size_t id;

    auto operator<=>(const Priced&) const = default;
  };
  boost::container::small_vector<Priced, 4> found;
  view_.read([&](const View& view) {
    view.panel.ask(key, [&](std::size_t id) {
      if (!view.reports[id].counts(now) || peers_[id]->accuracy.resting(now)) return;
      found.push_back({peers_[id]->accuracy.cost(), id});
    });
  });
  std::sort(found.begin(), found.end());
  Claimants claimants;
  for (const Priced& one : found) {
    peers_[one.id]->accuracy.claimed();
    claimants.push_back(peers_[one.id]);
  }
  return claimants;
}

void Directory::note(const PeerRef& peer, Outcome outcome,
                     std::optional<std::chrono::microseconds> first_byte, std::uint64_t bytes,
                     Time now) {
  peer->accuracy.note(outcome, first_byte, bytes, now);
}

void Directory::update(std::size_t id, Report report) {
  auto reports = view_.read([](const View& view) { return view.reports; });
  reports[id] = std::move(report);
  const bool anybody = std::any_of(reports.begin(), reports.end(),
                                   [](const Report& one) { return !!one.claims.filter; });
  view_.replace(std::make_unique<const View>(std::move(reports)));
  anybody_.store(anybody, std::memory_order_relaxed);
}

std::vector<PeerStatus> Directory::status(Time now) const {
  return view_.read([&](const View& view) {
    std::vector<PeerStatus> all;
    all.reserve(peers_.size());
    for (const PeerRef& peer : peers_) all.push_back(status_of(*peer, view.reports[peer->id], now));
    return all;
  });
}

}  // namespace peers
