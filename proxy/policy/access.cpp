#include "proxy/policy/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "proxy/policy/policy.hpp"

namespace proxy::policy {
namespace {

using Why = NoAccess::Why;

struct Words {
  Why why;
  unsigned status;
  std::string_view text;  // {}: the name of the rule
};
constexpr Words kWords[] = {
    {Why::not_a_client, 403, "this proxy does not serve your address (setting access.clients)"},
    {Why::rule, 403, "the rule {} denies this here (setting access.rules)"},
    {Why::unknown_user, 407,
     "this proxy asks for a user and a password here (setting access.users)"},
    {Why::no_cleartext, 403,
     "this proxy asks for a user and a password here, but only over loopback: others could read "
     "them on the way (setting access.users.cleartext)"},
    {Why::no_forward, 403, "this server is no proxy for other hosts (setting forward)"},
    {Why::no_destination, 403, "this proxy does not connect there (setting access.deny_to)"},
    {Why::unknown_name, 403, kUnknownNameText},
    {Why::list, 403, "a list blocks this for everybody here (setting access.block)"},
    {Why::no_tunnel_port, 403, "no tunnels to that port (setting access.connect_ports)"},
    {Why::unknown_url, 404, "there is no such page here"},
    {Why::bad_mirror, 400,
     "this path stands for no URL: expected /https/HOST/PATH or /http/HOST/PATH, without dot "
     "segments, backslashes, NULs and encoded slashes"},
    {Why::no_mirror, 403, "this proxy mirrors no such host (setting mirrors.hosts)"},
    {Why::mirror_method, 405, "only GET and HEAD, without a body or an upgrade"},
};

const Words& words_of(Why why) {
  return *std::find_if(std::begin(kWords), std::end(kWords),
                       [why](const Words& words) { return words.why == why; });
}

// A client of HTTP/1.0 may name no host. In reverse mode the settings then name the origin's host,
// which the lists can block like any other.
bool is_blocked(const lists::AccessLists& lists, const Request& request) {
  if (lists.blocks(request.target)) return true;
  if (request.terms().chooses_origin || !request.target.host().empty()) return false;
  const auto told = http::parse_target("GET", request.target.path(), request.origin_host());
  return told && lists.blocks(*told);
}

// Whether the client may choose this origin. A neighbour may ask for what is stored of a mirrored
// host, also where nobody may use this server as a proxy.
bool may_choose(const Request& request) {
  const auto& policy = request.policy();
  const bool is_mirrored = request.terms().mirrored != mirrors::Mirrored::no;
  return policy.serves_forward || is_mirrored ||
         (request.asks_as_sibling() && policy.mirrored_hosts.have(request.target));
}

std::optional<NoAccess> check_mirror(const Request& request) {
  using mirrors::Mirrored;
  switch (request.terms().mirrored) {
    case Mirrored::bad_path:
      return NoAccess{Why::bad_mirror};
    case Mirrored::not_listed:
      return NoAccess{Why::no_mirror};
    case Mirrored::absent:
      return NoAccess{Why::unknown_url};
    case Mirrored::bad_method: {
      const bool may_post = request.rule() && request.rule()->allows_post();
      return NoAccess{.why = Why::mirror_method,
                      .allow = may_post ? "GET, HEAD, POST" : "GET, HEAD"};
    }
    case Mirrored::no:
    case Mirrored::yes:
      break;
  }
  return std::nullopt;
}

// By the first rule that the request meets, else by the list of clients. A rule with users allows
// nothing to a user who is not known.
std::optional<NoAccess> check_rules(const AccessAsker& asker, const Request& request) {
  const auto& access = request.policy().settings.access;
  const auto* const rule = deciding_rule(asker, request);
  if (!rule) {
    if (config::contains(access.clients, asker.address)) return std::nullopt;
    return NoAccess{Why::not_a_client};
  }
  const bool is_known = !rule->has_users() || !asker.user.empty();
  if (rule->allows() && is_known) return std::nullopt;
  // A challenge is of use only to a client that knows this proxy as one.
  if (!is_known && access.users && request.terms().may_sign_in)
    return NoAccess{Why::unknown_user, rule->name(), access.users->realm};
  return NoAccess{Why::rule, rule->name()};
}

}  // namespace

unsigned status_of(Why why) {
  return words_of(why).status;
}

std::string text_of(const NoAccess& no_access) {
  return fmt::format(fmt::runtime(words_of(no_access.why).text), no_access.rule);
}

bool may_mean_us(const Request& request, const upstream::Guard& guard) {
  const auto& target = request.target;
  return target.form() == http::Target::Form::absolute && !target.https() &&
         guard.has_own_socket(target.port()) &&
         request.policy().rules.recipe_map().mirror_path(target);
}

const AccessRule* deciding_rule(const AccessAsker& asker, const Request& request) {
  const auto& rules = request.policy().access_rules;
  // Few have such rules, and the time of this place costs a look at the clock of each request.
  const auto now = rules.have_times() ? local_time(asker.clock.shown()) : LocalTime{};
  return rules.find({asker.address, request.target, request.head.method, now, asker.user});
}

std::optional<NoAccess> check_sign_in(const AccessAsker& asker, const Request& request,
                                      const AccessRule& rule) {
  if (!request.terms().may_sign_in) return NoAccess{Why::rule, rule.name()};
  const bool cleartext = request.policy().settings.access.users->cleartext;
  if (cleartext || config::is_loopback(asker.address)) return std::nullopt;
  return NoAccess{Why::no_cleartext, rule.name()};
}

std::optional<NoAccess> check_access(const AccessAsker& asker, const Request& request) {
  if (auto no_access = check_rules(asker, request)) return no_access;
  if (auto no_access = check_mirror(request)) return no_access;
  const auto& policy = request.policy();
  const auto& target = request.target;
  // What the settings chose is not for the rules against clients: an origin of `reverse` mostly is
  // on loopback.
  if (request.terms().chooses_origin) {
    if (!may_choose(request)) return NoAccess{Why::no_forward};
    if (asker.guard.names_denied_literal(target.host(), target.port()))
      return NoAccess{may_mean_us(request, asker.guard) ? Why::unknown_name : Why::no_destination};
  }
  if (is_blocked(policy.lists, request)) return NoAccess{Why::list};
  const bool is_open_port = !request.is_connect() ||
                            config::contains(policy.settings.access.connect_ports, target.port());
  if (!is_open_port) return NoAccess{Why::no_tunnel_port};
  // Not 403: that would tell a stranger that the settings have such a list.
  if (!request.may_exist()) return NoAccess{Why::unknown_url};
  return std::nullopt;
}

}  // namespace proxy::policy
