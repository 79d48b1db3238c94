#include "config/restart.hpp"

namespace config {
namespace {

struct Fixed {
  std::string_view name;
  void (*copy)(const Settings& from, Settings& to);
};

// Whether there is a disk.
void keep_presence(const Settings& from, Settings& to) {
  if (from.cache.disk.has_value() != to.cache.disk.has_value()) to.cache.disk = from.cache.disk;
}

void keep_path(const Settings& from, Settings& to) {
  if (from.cache.disk && to.cache.disk) to.cache.disk->path = from.cache.disk->path;
}

constexpr Fixed kFixed[] = {
    {"name", [](const Settings& from, Settings& to) { to.name = from.name; }},
    {"listen", [](const Settings& from, Settings& to) { to.listen = from.listen; }},
    {"threads", [](const Settings& from, Settings& to) { to.threads = from.threads; }},
    {"user", [](const Settings& from, Settings& to) { to.user = from.user; }},
    {"sandbox", [](const Settings& from, Settings& to) { to.sandbox = from.sandbox; }},
    {"control", [](const Settings& from, Settings& to) { to.control = from.control; }},
    {"cache.disk", keep_presence},
    {"cache.disk.path", keep_path},
};

}  // namespace

std::vector<std::string_view> needing_restart(const Settings& running, const Settings& told) {
  std::vector<std::string_view> names;
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
