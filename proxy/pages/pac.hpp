// Proxy auto-configuration: the script from which a client learns when to use this proxy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "peers/peer.hpp"

namespace proxy::pages {

// The script of /proxy.pac and /wpad.dat. Its function FindProxyForURL() resolves no names, and
// returns one of two texts:
// - "DIRECT" alone for what this proxy would refuse, or is not to be asked for: hosts without a
//   dot, `access.direct`, this machine, addresses under access.deny_to, the sites of `reverse`,
//   ftp, and CONNECT to other ports than access.connect_ports;
// - else "PROXY `proxy`", followed by what `pac_fallback` lists, but by DIRECT only for hosts that
//   `never_direct` lets clients reach.
// `peers`: of the settings. `own_name`: the host name of this machine. Pure.
std::string pac_script(const config::Settings& settings, const std::vector<peers::PeerRef>& peers,
                       const config::HostPort& proxy, std::string_view own_name);

// Whether the host is one at which clients look for /wpad.dat: "wpad" in some domain.
bool is_wpad(std::string_view host);

}  // namespace proxy::pages
