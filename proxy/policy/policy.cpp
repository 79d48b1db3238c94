#include "proxy/policy/policy.hpp"

#include <algorithm>

namespace proxy {
namespace {

bool has_peers_of(const Policy* before, const config::Settings& settings) {
  return before && before->settings.peers == settings.peers;
}

std::shared_ptr<peers::PeerDirectory> directory_for(const config::Settings& settings,
                                                    const Policy* before) {
  if (has_peers_of(before, settings)) return before->directory;
  return std::make_shared<peers::PeerDirectory>(settings.peers,
                                                before ? before->directory.get() : nullptr);
}

// A gateway that everybody may use is no open proxy.
bool serves_forward(const config::Settings& settings) {
  const auto any = config::parse_networks("any").value();
  const auto& clients = settings.access.clients;
  const bool everybody = std::all_of(any.begin(), any.end(), [&](const auto& network) {
    return std::find(clients.begin(), clients.end(), network) != clients.end();
  });
  return settings.forward.value_or(settings.reverse.empty() || !everybody);
}

}  // namespace

Policy::Policy(config::Settings told, lists::AccessLists listed, const Policy* before)
    : settings(std::move(told)),
      serves_forward(proxy::serves_forward(settings)),
      lists(std::move(listed)),
      rules(settings.rules),
      gateway(settings.reverse, before ? &before->gateway : nullptr),
      directory(directory_for(settings, before)),
      routes(settings, has_peers_of(before, settings) ? &before->routes : nullptr) {}

std::chrono::seconds Policy::leave_after(const Failure& failure) const {
  if (!out_of_reach(failure)) return std::chrono::seconds(0);
  return std::chrono::floor<std::chrono::seconds>(settings.cache.stale_if_error);
}

}  // namespace proxy
