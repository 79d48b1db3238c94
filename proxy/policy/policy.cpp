#include "proxy/policy/policy.hpp"

namespace proxy::policy {
namespace {

bool has_peers_of(const Policy* before, const config::Settings& settings) {
  return before && before->settings.peers == settings.peers;
}

// The digests of neighbours are megabytes, and their records take minutes to gather: a reload keeps
// both.
std::shared_ptr<peers::PeerDirectory> directory_for(const config::Settings& settings,
                                                    const Policy* before) {
  if (has_peers_of(before, settings)) return before->directory;
  return std::make_shared<peers::PeerDirectory>(settings.peers,
                                                before ? before->directory.get() : nullptr);
}

// A gateway that everybody may use is no open proxy.
bool serves_forward(const config::Settings& settings, const AccessRules& access_rules) {
  // Only by an explicit setting: whoever opens a gateway to the Internet rarely thinks of the proxy
  // within.
  const bool everybody = is_everybody(settings.access.clients) || access_rules.allow_everybody();
  return settings.gateway.forward.value_or(settings.gateway.reverse.empty() || !everybody);
}

}  // namespace

Policy::Policy(config::Settings told, lists::AccessLists listed, const Policy* before,
               std::shared_ptr<const users::PasswordFile> known_users, ErrorPages pages)
    : settings(std::move(told)),
      access_rules(settings.access.rules),
      serves_forward(policy::serves_forward(settings, access_rules)),
      lists(std::move(listed)),
      users(std::move(known_users)),
      error_pages(std::move(pages)),
      rules(settings.rules, settings.gateway.mirrors),
      gateway(settings.gateway.reverse, before ? &before->gateway : nullptr),
      mirrored_hosts(mirrors::mirrored_hosts(settings.gateway.mirrors)),
      trust(std::make_shared<const upstream::HostTrust>(settings.gateway.mirrors.ca)),
      directory(directory_for(settings, before)),
      routes(settings, has_peers_of(before, settings) ? &before->routes : nullptr,
             directory->peers()) {}

std::chrono::seconds Policy::leave_after(const upstream::Failure& failure) const {
  // RFC 5861 section 4: an answer of the origin, such as a 404, is none that a stale response may
  // replace.
  if (!upstream::out_of_reach(failure)) return std::chrono::seconds(0);
  return std::chrono::floor<std::chrono::seconds>(settings.cache.stale_if_error);
}

std::chrono::seconds Policy::leave_after_error_of(const http::Target& url) const {
  if (!mirrored_hosts.have(url)) return std::chrono::seconds(0);
  return std::chrono::floor<std::chrono::seconds>(settings.cache.stale_if_error);
}

}  // namespace proxy::policy
