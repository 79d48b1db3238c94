// The ways to origins: which parents are asked for a URL, in which order, and whether the origin is
// asked after them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config/settings.hpp"
#include "peers/peer.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::policy {

// A parent's part in the rendezvous hash of a URL (Thaler and Ravishankar 1998), weighted as
// Schindelhauer and Schomaker (2005) do: the parent with the greatest score is asked first. Proxies
// with the same parents compute the same scores. `url`: hashed; `parent`: of the parent's host and
// port; `weight`: 1 or more. A parent of twice the weight is first for twice as many URLs. Pure.
double rendezvous_score(const digest::Key& url, std::uint64_t parent, unsigned weight);

// Immutable but for the parents' live state. Any thread.
class Routes {
 public:
  // `before`: the routes that these replace, if their parents are the same; else null. Both then
  // share the live state. `peers`: of the settings; a parent that turns out to be ourselves is
  // never asked.
  Routes(const config::Settings& settings, const Routes* before,
         const std::vector<peers::PeerRef>& peers = {});

  // The route to the origin of the target. For an https URL it has only parents that are reached
  // over TLS, so that nobody on the way can read path and fields. CONNECT may go by every parent.
  [[nodiscard]] upstream::Route find(const http::Target& target) const;

  // Whether the peer of this number in the settings may be asked for the target's host.
  [[nodiscard]] bool may_ask(std::size_t peer, const http::Target& target) const {
    return hosts_.may_ask(peer, target);
  }

  // The state of a parent, by the peer's number in the settings. Nothing for a sibling.
  struct Status {
    bool rests = false;
    bool on_trial = false;  // it has rested, and has not answered since
    std::uint64_t requests = 0;
    std::uint64_t failures = 0;
  };
  [[nodiscard]] std::optional<Status> status(std::size_t peer,
                                             upstream::Origins::Clock::time_point now) const;

 private:
  struct Member {
    std::size_t peer = 0;        // its number in the settings
    std::uint64_t identity = 0;  // hashed from host and port
    unsigned weight = 1;
    bool tls = false;
    peers::PeerRef known;  // null: it is not ourselves
    [[nodiscard]] bool is_ourselves() const { return known && known->is_ourselves(); }
  };
  // Puts the parents of the route into the order of their scores.
  void put_in_order(upstream::Route& route, const http::Target& target) const;

  const http::PeerHosts hosts_;
  const std::vector<http::HostPattern> never_direct_;
  const std::vector<Member> members_;  // by their numbers in parents_
  const std::shared_ptr<upstream::Parents> parents_;
};

}  // namespace proxy::policy
