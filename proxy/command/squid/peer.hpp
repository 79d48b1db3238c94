// A cache_peer line, as far as settings can say it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/endpoint.hpp"
#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {

using Hosts = std::vector<std::string>;

struct Peer {
  Line line;
  std::string name;
  std::string host;
  std::uint64_t port = 0;
  bool parent = false;
  bool origin = false;  // the server of a site of ours (originserver)
  bool tls = false;
  bool no_digest = false;
  std::uint64_t weight = 1;
  std::string login;
  std::string send_host;  // of an origin; empty: the client's
  Hosts for_hosts;        // empty: all
  Hosts not_for;
};

inline std::string url_of(const Peer& peer) {
  const config::HostPort at{peer.host, static_cast<std::uint16_t>(peer.port)};
  return (peer.tls ? "https://" : "http://") + config::to_text(at);
}

}  // namespace proxy::command::squid
