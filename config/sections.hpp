// Turns a document into Settings: the keys of each section, their ranges, and words that are
// reserved.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/section.hpp"

namespace config {

// Appends faults to `faults`. The settings are only usable if there are none.
Settings read_settings(const Value& document, Faults& faults);

// Each of these functions reads one part of the settings: the one of the same name in the
// outermost object.
void read_peers(Section& in, std::vector<PeerSettings>& peers);
// Needs a parent among the peers.
void read_never_direct(Section& in, std::span<const PeerSettings> peers,
                       std::vector<HostSpec>& never_direct);
void read_pac_fallback(Section& in, std::vector<std::string>& fallback);
// Refuses an origin at one of our own sockets, `listen`: we would ask ourselves.
void read_reverse(Section& in, std::span<const HostPort> listen, std::vector<Reverse>& reverse);
// A host that mirrors may ask, or redirects may lead to. Nothing also for "*" and "*.com".
std::optional<HostSpec> parse_mirrored(const std::string& text);
void read_mirrors(Section& in, MirrorSettings& mirrors);
// The key "registry", of mirrors and of a listener.
void read_registry(Section& in, std::string& registry);
void read_rules(Section& in, std::vector<RuleSettings>& rules);
// The rules of a recipe, which may leave out the host: they are then for all of its hosts.
void read_recipe_rules(Section& in, std::vector<RuleSettings>& rules);
void read_access(Section& in, AccessSettings& access);

// Reads the required key "host".
std::optional<HostSpec> require_host(Section& in);
// Reads a list of hosts, at most 256: each is compared with the hosts of all requests. As
// read_list().
std::optional<LocatedValue> read_hosts(Section& in, std::string_view key,
                                       std::vector<HostSpec>& into);

// The most bytes of a glob besides `*`: its matcher keeps a bit for each.
inline constexpr std::size_t kMostPlaces = 63;
// Whether a rule's `paths` may have this text: it begins with `/` or `*`, has at most 128 bytes,
// and at most kMostPlaces once it is spelled as in a URL.
bool is_path_glob(std::string_view text);

}  // namespace config
