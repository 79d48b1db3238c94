#include "proxy/policy/policy.hpp"

namespace proxy {
namespace {

std::shared_ptr<peers::PeerDirectory> directory_for(const config::Settings& settings,
                                                    const Policy* before) {
  if (before && before->settings.peers == settings.peers) return before->directory;
  return std::make_shared<peers::PeerDirectory>(settings.peers);
}

}  // namespace

Policy::Policy(config::Settings told, lists::AccessLists listed, const Policy* before)
    : settings(std::move(told)),
      lists(std::move(listed)),
      rules(settings.rules),
      gateway(settings.reverse, before ? &before->gateway : nullptr),
      directory(directory_for(settings, before)) {}

std::chrono::seconds Policy::leave_after(const Failure& failure) const {
  if (!out_of_reach(failure)) return std::chrono::seconds(0);
  return std::chrono::floor<std::chrono::seconds>(settings.cache.stale_if_error);
}

}  // namespace proxy
