// Decides which neighbours a search may ask, and when, and how long the search waits for each one,
// compared with the time that the origin takes. No I/O, no clock. Only Candidates::begin_trial()
// changes anything.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "config/settings.hpp"
#include "peers/accuracy.hpp"
#include "peers/directory.hpp"
#include "proxy/fill/site_fetches.hpp"

namespace proxy::sources {

// What asking claimants may cost a request.
struct Budget {
  using Time = std::chrono::microseconds;
  // A patience that lasts as long as the time-outs allow.
  static constexpr Time kEndless = std::chrono::hours{1};
  // A claimant that is expected to take longer is not asked. Nothing: the origin's time is unknown.
  std::optional<Time> longest;
  // The next source is asked at the latest when so much time has passed since the first question.
  Time patience;
};

// `origin`: the estimate for the request's origin. If that is not measured, no claimant is too
// slow. Else `prefer` decides how long a claimant may take:
// - neighbours: as long as the time-outs allow.
// - latency: 1 ms longer than the origin.
// - origin_load: three times as long as the origin, plus 20 ms; or 5 ms longer than a near origin
//   (under 10 ms). Without this bound, a neighbour that is 10 ms away could make each request to an
//   origin in the same room four times as long.
Budget budget_against(const peers::FirstByte& origin, config::Prefer prefer);

enum class Ask : std::uint8_t {
  yes,
  no,
  // One request at a time may ask the claimant, and asks its next source at once, too.
  on_trial,
};
// Whether to ask a claimant. One that was too slow is tried again after a while, because it may
// have been slow for a passing reason.
Ask whether_to_ask(const peers::Accuracy::Standing& claimant, const Budget& budget,
                   peers::SteadyTime now);

// How often a search for what nobody claims found a neighbour that fetches the response, or has
// fetched it: a decaying mean, as a share of all such searches. A neighbour's question that finds a
// fetch here counts like a search, since our own question has led it here. Pure.
class SiteLuck {
 public:
  enum class Question : std::uint8_t { in_vain, found };
  [[nodiscard]] SiteLuck with(Question question) const {
    return SiteLuck(share_ + ((question == Question::found ? 1 : 0) - share_) / 8);
  }
  [[nodiscard]] double share() const { return share_; }
  SiteLuck() = default;  // no question was asked: one finds a fetch as likely as not

 private:
  explicit SiteLuck(double share) : share_(share) {}
  double share_ = 0.5;
};

// What this proxy knows of a URL that no neighbour claims. `stale`: it has a stale response, or has
// left the response with a neighbour before.
enum class Held : std::uint8_t { nothing, stale };

// Whether a request for a URL that no neighbour claims may wait until a neighbour of the site has
// said whether it fetches the response. Prefer::neighbours: always. Prefer::latency: never.
// Otherwise only if the origin takes at least eight times as long as the neighbour, or is unknown.
// For Held::stale, twice as long is enough: copies grow stale everywhere at the same time, so a
// neighbour is probably renewing its own. Where questions for the origin's responses find a fetch,
// or none was asked yet, the neighbour may take as much longer as a claimant may, times the share
// of the questions that find one. Where most do, and the origin is not near, it always may: its
// times may be those of a busy hour, and patience_with_member() bounds the wait.
bool site_pays(const peers::FirstByte& origin, const peers::FirstByte& neighbour,
               config::Prefer prefer, Held held, SiteLuck luck = {});

// For how long a neighbour's copy of what is stale here has to stay fresh at least (RFC 9111
// 5.2.1.3). `ttl`: of the stale one, 0 or negative. Ages are told in whole seconds, so proxies that
// have the same response find it stale up to a second apart. In that second, a neighbour that calls
// its copy fresh would give what is stale by our count. It is asked for a copy that lasts longer,
// and so was fetched later; if it has none, it knows that we fetch one. Zero: any fresh copy was
// fetched later, or none lasts that long when it arrives. Pure.
std::chrono::seconds least_freshness(std::chrono::seconds lifetime, std::chrono::seconds ttl,
                                     const peers::FirstByte& origin = {});

// A key that no neighbour claims, and what decides which member of the site is asked about it.
struct Unclaimed {
  const digest::Key& key;
  const peers::PeerDirectory& directory;
  fill::SiteFetches& fetches;
  peers::Epoch ours;  // of the digest of this proxy
  peers::FirstByte origin_takes;
  Budget budget;
  config::Prefer prefer = config::Prefer::origin_load;
  Held held = Held::nothing;
  SiteLuck luck = {};
  // The response never changes, by its class: it is mostly a large file, of which each byte that
  // the origin need not send is worth the wait. Then the question always pays, unless
  // Prefer::latency forbids it, and patience_with_member() alone bounds the wait.
  bool is_lasting = false;
};
// The neighbour to ask about the key, none of those given up: its owner or, if that is this proxy,
// the neighbour that has said that it fetches the key. Null: none, or the question does not pay.
peers::PeerRef member_to_ask(const Unclaimed& unclaimed,
                             const peers::SiteQuestion::GivenUp& given_up, peers::SteadyTime now);
// The neighbour that fetches the key, as its owner says. Null: it was given up, may not be asked
// now, or its answers take longer than a claimant may.
peers::PeerRef fetcher_to_ask(const Unclaimed& unclaimed, peers::Epoch fetcher,
                              const peers::SiteQuestion::GivenUp& given_up, peers::SteadyTime now);

// Whether the origin is asked before this claimant, or at once beside it. True if the origin's time
// is unknown and the claimant is known not to be near: asking the origin measures it.
bool origin_comes_first(const peers::FirstByte& claimant, const Budget& budget);

// How long to wait for a claimant before the next source is asked, too: the 95th percentile of its
// answers, from 10 ms to budget.patience. 50 ms are assumed of a claimant that has never answered.
// No time at all if origin_comes_first(). With Prefer::neighbours, as long as the time-outs allow.
Budget::Time patience_with(const peers::FirstByte& claimant, const Budget& budget);

// How long to wait for more of a neighbour's body before another source is asked for the rest, too:
// the 95th percentile of the neighbour's time to first byte or budget.patience, whichever is
// longer, but 50 ms at least. A neighbour's disk may take that long.
Budget::Time patience_in_body(const peers::FirstByte& neighbour, const Budget& budget);

// How long to wait for more of a body that a neighbour is fetching itself, before the origin is
// asked for the rest, too: as long as the origin mostly takes, but 1 s at least.
Budget::Time patience_in_fetched_body(const peers::FirstByte& origin);

// How long to wait for a parent before the next server of the route is asked, too: as long as the
// origin mostly takes, or 200 ms if that is unknown. With Prefer::neighbours, which is for a line
// that is paid by the byte, as long as the time-outs allow.
Budget::Time patience_with_parent(const peers::FirstByte& origin, config::Prefer prefer);

// How long to wait for the word of a neighbour about what nobody claims, before the next one is
// asked: as patience_with(), but the origin never comes first, because nobody may be fetching.
Budget::Time patience_with_member(const peers::FirstByte& neighbour, const Budget& budget);

// Whether a neighbour that is fetching the response says so again each peers::kHeartbeat.
enum class Repeats : std::uint8_t { no, yes };
// How long to wait for a neighbour that is fetching the response itself: the 95th percentile of the
// origin's time plus 20 ms, or 500 ms if that time is unknown. If the neighbour repeats that it is
// fetching, it works, and a second fetch would rarely be faster: so the wait is four times as long,
// or 4 s. The neighbour may have lost its own source meanwhile, and have begun anew.
Budget::Time patience_with_fetch(const peers::FirstByte& origin, Repeats repeats = Repeats::no);
// How long a neighbour may be silent that says each peers::kHeartbeat that it is fetching.
inline constexpr Budget::Time kSilence = 2 * peers::kHeartbeat;

// Why a neighbour is asked.
enum class Lead : std::uint8_t {
  claim,  // its digest claims the key
  site,   // it may be fetching what nobody claims: see peers/site.hpp
};

// What an answer from the claimant is likely to cost, in microseconds: its time to first byte,
// times the questions under way there, divided by the share of its claims that came true.
inline double price_of(const peers::Accuracy::Standing& claimant) {
  const auto takes = static_cast<double>(claimant.first_byte.mean().count());
  return (takes + 1.0) * (claimant.under_way + 1.0) / claimant.came_true;
}

// Whether the first price is so much lower that it is no chance: below two thirds, and by more than
// a millisecond.
inline bool clearly_less(double price, double other) {
  return 1.5 * price < other && price + 1'000 < other;
}

// Orders claimants by drawing two of those left at random and taking the better one; equals share
// the questions evenly. Always taking the best would send them all to whoever was measured best.
// `standing_of` gives the standing of an element; `draw` a random number.
template <class T, class StandingOf>
void order_by_choice(std::span<T> claimants, StandingOf standing_of,
                     const std::function<std::uint32_t()>& draw) {
  for (std::size_t i = 0; i + 1 < claimants.size(); ++i) {
    const auto left = claimants.size() - i;
    const auto first = i + draw() % left;
    const auto second = i + (first - i + 1 + draw() % (left - 1)) % left;
    const bool better = clearly_less(price_of(standing_of(claimants[second])),
                                     price_of(standing_of(claimants[first])));
    std::swap(claimants[i], claimants[better ? second : first]);
  }
}

// Belongs to one search.
class Candidates {
 public:
  // `draw` gives random numbers.
  Candidates(peers::Claimants claimants, const Budget& budget, peers::SteadyTime now,
             const std::function<std::uint32_t()>& draw);

  // For a key that nobody claims: the neighbour to ask whether it is being fetched; null: none.
  explicit Candidates(peers::PeerRef of_site) : lead_(Lead::site) {
    if (of_site) in_line_.push_back(std::move(of_site));
  }

  [[nodiscard]] Lead lead() const { return lead_; }
  [[nodiscard]] bool of_site() const { return lead_ == Lead::site; }
  // How the search treats the neighbour. `yes`: it is in the line. `on_trial`: it may be tried.
  // `no`: it is asked only if the origin fails. Nothing: it is no candidate.
  [[nodiscard]] std::optional<Ask> place_of(const peers::PeerRef& peer) const;
  // Whether there is nobody to ask.
  [[nodiscard]] bool none() const { return in_line_.empty() && !reserve(); }
  // Takes a neighbour on trial that no other request is trying now, to be asked beside the next
  // source. The caller must call Probation::end_trial() later. Null: there is no such neighbour.
  peers::PeerRef begin_trial();
  // The neighbour that begin_trial() would return.
  [[nodiscard]] peers::PeerRef next_trial() const;

  // The line has the neighbours that fit the budget, the better of two drawn at random first.
  [[nodiscard]] bool left() const { return asked_ < in_line_.size(); }
  [[nodiscard]] std::size_t asked() const { return asked_; }
  [[nodiscard]] const peers::PeerRef& first_left() const { return in_line_[asked_]; }
  const peers::PeerRef& next() { return in_line_[asked_++]; }

  // Asks this neighbour, too, as the last of the line.
  void add(peers::PeerRef peer) { in_line_.push_back(std::move(peer)); }

  // Asks this neighbour only where the origin does not answer.
  void put_in_reserve(peers::PeerRef peer) { too_slow_.push_back(std::move(peer)); }
  // Whether the reserve has a neighbour. The reserve is asked only where the origin does not
  // answer. It has the neighbours that are too slow, those on trial, and those that were put off.
  [[nodiscard]] bool reserve() const { return !too_slow_.empty() || !on_trial_.empty(); }
  // Call this when the origin has failed: the reserve joins the line.
  void add_reserve();

 private:
  peers::Claimants in_line_;
  peers::Claimants on_trial_;
  peers::Claimants too_slow_;  // and others in reserve
  std::size_t asked_ = 0;
  Lead lead_ = Lead::claim;
};

}  // namespace proxy::sources
