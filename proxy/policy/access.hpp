// Whether a client may use this proxy, and for what: the settings access, forward and known URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/machine/clock.hpp"
#include "proxy/policy/access_rules.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/upstream/guard.hpp"

namespace proxy::policy {

// The facts on which access depends besides the request and its policy.
struct AccessAsker {
  const config::Address& address;
  std::string_view user;  // empty: not known yet
  machine::Clock& clock;  // read if a rule has times
  const upstream::Guard& guard;
};

// Why a client may not.
struct NoAccess {
  enum class Why : std::uint8_t {
    not_a_client,    // access.clients does not have its address
    rule,            // an access rule denies it
    unknown_user,    // a rule needs to know the user: 407
    no_cleartext,    // likewise, and a password could be read on the way
    no_forward,      // it chooses an origin, and this server is no proxy (setting forward)
    no_destination,  // access.deny_to has the origin
    unknown_name,    // see may_mean_us()
    list,            // access.block has the URL
    no_tunnel_port,  // access.connect_ports lacks the port
    unknown_url,     // the mapping's file of known URLs lacks the URL: 404
    bad_mirror,      // the path stands for no URL: 400
    no_mirror,       // mirrors.hosts lacks the host of the URL that the path stands for
    mirror_method,   // such a path is asked for by a method that changes something: 405
  };
  Why why = Why::rule;
  std::string_view rule = {};   // the name of the access rule that decides; empty: none
  std::string_view realm = {};  // of unknown_user: what the password is for
  std::string_view allow = {};  // of mirror_method: the methods that may be used

  bool operator==(const NoAccess&) const = default;
};
unsigned status_of(NoAccess::Why why);
// One line for a person. The client learns the name of the rule, but not its conditions.
std::string text_of(const NoAccess& no_access);

// Whether a client that uses this proxy as its proxy may have meant a mirror path of this proxy.
// The URL has a port of ours, but a name that access.own_names lacks. Call this for a request whose
// destination is denied.
bool may_mean_us(const Request& request, const upstream::Guard& guard);
inline constexpr std::string_view kUnknownNameText =
    "this proxy does not connect there; if the name is its own, the setting access.own_names lacks "
    "it";

// The 504 of a request that may not leave this proxy.
inline constexpr std::string_view kOfflineText =
    "not held here, and this proxy is offline (setting cache.offline, or a rule)";

// The access rule that decides on the request. Null: the list of clients decides.
const AccessRule* deciding_rule(const AccessAsker& asker, const Request& request);

// Why the client cannot sign in for `rule`, which names users. Either the request arrived in
// reverse mode, where clients take this proxy for the origin. Or the password would cross the
// network in clear, and access.users.cleartext does not allow that. Nothing: the client is asked
// for a password.
std::optional<NoAccess> check_sign_in(const AccessAsker& asker, const Request& request,
                                      const AccessRule& rule);

// Why the client may not use the proxy at all, or not for this destination. Nothing if it may.
std::optional<NoAccess> check_access(const AccessAsker& asker, const Request& request);

}  // namespace proxy::policy
