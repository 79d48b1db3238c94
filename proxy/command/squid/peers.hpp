// Neighbours and the servers of our own sites, from the lines of cache_peer and the lines that
// choose among peers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/plain.hpp"

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

// Takes the options of the line. Nothing if the line is none that settings can say. Pure.
std::optional<Peer> read_peer(const Line& line, bool has_accelerator, Findings& findings);

// Appends what `more` has new, up to 256 hosts. Returns whether there is room for all. Pure.
bool append_new(Hosts& into, const Hosts& more);

// Reads `cache_peer`, `cache_peer_access`, `never_direct` and `always_direct`. Servers behind an
// accelerator become "reverse". `listening`: no peer may be where we listen. Pure.
void read_peers(const std::vector<Line>& lines, const Acls& acls, const Listening& listening,
                Imported& into, Findings& findings);

// Writes "reverse" and "forward". An origin whose sites the settings cannot name is left out, so no
// request gets to another server than in Squid. Pure.
void write_reverse(std::vector<Peer> origins, const Accelerators& accelerators, Imported& into,
                   Findings& findings);

}  // namespace proxy::command::squid
