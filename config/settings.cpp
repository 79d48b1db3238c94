#include "config/settings.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace config {

namespace {

void append(Networks& to, std::string_view item) {
  const Networks more = parse_networks(item).value_or(Networks{});
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

AccessSettings::AccessSettings() {
  for (Networks* list : {&clients, &monitor, &admin, &deny_to}) append(*list, "loopback");
  for (Networks* list : {&clients, &monitor}) append(*list, "private");
  append(deny_to, "link-local");
  append(deny_to, "metadata");
}

std::string default_name(const std::string& hostname, std::uint16_t port) {
  std::string name = hostname.empty() ? "hearsay" : hostname;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_token_char(c); }, '-');
  return name + '-' + std::to_string(port);
}

}  // namespace config
