// Peers of Squid, as far as settings can say them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/command/squid/parts.hpp"

namespace proxy::command::squid {

using Hosts = std::vector<std::string>;

// A cache_peer line, as far as settings can say it.
struct Peer {
  Line line;
  std::string name;
  config::HostPort at;
  bool parent = false;
  bool origin = false;  // the server of a site of ours (originserver)
  bool tls = false;
  bool no_digest = false;
  std::uint64_t weight = 1;
  std::string login;
  std::string send_host;  // of an origin; empty: the client's
  Hosts for_hosts;        // empty: all
  Hosts not_for;

  [[nodiscard]] std::string url() const { return (tls ? "https://" : "http://") + to_text(at); }
};

// Appends what `more` has new, up to 256 hosts. Returns whether there is room for all. Pure.
bool append_new(Hosts& into, const Hosts& more);

// Writes "reverse" and "forward". An origin whose sites the settings cannot name is left out. Pure.
void write_reverse(std::vector<Peer> origins, const Accelerators& accelerators, Json& into,
                   Findings& findings);

}  // namespace proxy::command::squid
