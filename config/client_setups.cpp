#include "config/client_setups.hpp"

namespace config {

std::string setup_text(const ClientSetup& setup, const HostPort& proxy) {
  constexpr std::string_view kHost = "cache.example";
  constexpr std::string_view kPort = ":3128";
  std::string text;
  std::string_view rest = setup.text;
  for (auto at = rest.find(kHost); at != rest.npos; at = rest.find(kHost)) {
    text += rest.substr(0, at);
    rest.remove_prefix(at + kHost.size());
    const bool has_port = rest.starts_with(kPort);
    if (has_port) rest.remove_prefix(kPort.size());
    text += has_port ? to_text(proxy) : proxy.host;
  }
  return text += rest;
}

std::string setup_file(const ClientSetup& setup, const HostPort& proxy) {
  return "# " + std::string(setup.title) + "\n# " + std::string(setup.place) + '\n' +
         setup_text(setup, proxy);
}

}  // namespace config
