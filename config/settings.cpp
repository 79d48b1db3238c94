#include "config/settings.hpp"

#include <algorithm>

#include "config/text.hpp"

namespace config {

namespace {

void append(Networks& to, std::string_view item) {
  const Networks more = parse_networks(item).value_or(Networks{});
  to.insert(to.end(), more.begin(), more.end());
}

struct Fixed {
  std::string_view name;
  void (*copy)(const Settings& from, Settings& to);
};

template <auto kMember>
void keep(const Settings& from, Settings& to) {
  to.process.*kMember = from.process.*kMember;
}

// Whether there is a disk.
void keep_presence(const Settings& from, Settings& to) {
  if (from.cache.disk.has_value() != to.cache.disk.has_value()) to.cache.disk = from.cache.disk;
}

// Its size may change while the proxy runs.
void keep_path(const Settings& from, Settings& to) {
  if (from.cache.disk && to.cache.disk) to.cache.disk->path = from.cache.disk->path;
}

constexpr Fixed kFixed[] = {
    {"name", keep<&ProcessSettings::name>},
    {"listen", keep<&ProcessSettings::listen>},
    {"threads", keep<&ProcessSettings::threads>},
    {"user", keep<&ProcessSettings::user>},
    {"sandbox", keep<&ProcessSettings::sandbox>},
    {"control", keep<&ProcessSettings::control>},
    {"cache.disk", keep_presence},
    {"cache.disk.path", keep_path},
};

}  // namespace

AccessSettings::AccessSettings() {
  for (Networks* list : {&clients, &monitor, &admin, &deny_to}) append(*list, "loopback");
  for (Networks* list : {&clients, &monitor}) append(*list, "private");
  append(deny_to, "link-local");
  // Not all of these are link-local.
  append(deny_to, "metadata");
}

// Two proxies on one machine differ in their ports alone.
std::string default_name(const std::string& hostname, std::uint16_t port) {
  std::string name = hostname.empty() ? "hearsay" : hostname;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_token_char(c); }, '-');
  return name + '-' + std::to_string(port);
}

std::vector<std::string_view> needing_restart(const Settings& running, const Settings& told) {
  std::vector<std::string_view> names;
  // Whole settings are compared, so that a setting which gets one more part needs nothing here.
  for (const Fixed& setting : kFixed) {
    Settings with_it = running;
    setting.copy(told, with_it);
    if (with_it != running) names.push_back(setting.name);
  }
  return names;
}

void keep_until_restart(const Settings& running, Settings& told) {
  for (const Fixed& setting : kFixed) setting.copy(running, told);
}

}  // namespace config
