#include "config/client_setups.hpp"

#include <boost/algorithm/string/replace.hpp>

namespace config {

std::string setup_text(const ClientSetup& setup, const HostPort& proxy) {
  auto text =
      boost::replace_all_copy(std::string(setup.text), "cache.example:3128", to_text(proxy));
  boost::replace_all(text, "cache.example", proxy.host);
  return text;
}

std::string setup_file(const ClientSetup& setup, const HostPort& proxy) {
  return "# " + std::string(setup.title) + "\n# " + std::string(setup.place) + '\n' +
         setup_text(setup, proxy);
}

}  // namespace config
