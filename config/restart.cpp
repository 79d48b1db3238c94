#include "config/restart.hpp"

namespace config {
namespace {

struct Fixed {
  std::string_view name;
  void (*copy)(const Settings& from, Settings& to);
};

constexpr Fixed kFixed[] = {
    {"name", [](const Settings& from, Settings& to) { to.name = from.name; }},
    {"listen", [](const Settings& from, Settings& to) { to.listen = from.listen; }},
    {"threads", [](const Settings& from, Settings& to) { to.threads = from.threads; }},
    {"user", [](const Settings& from, Settings& to) { to.user = from.user; }},
    {"sandbox", [](const Settings& from, Settings& to) { to.sandbox = from.sandbox; }},
    {"control", [](const Settings& from, Settings& to) { to.control = from.control; }},
    {"cache.memory",
     [](const Settings& from, Settings& to) { to.cache.memory = from.cache.memory; }},
    {"cache.max_object",
     [](const Settings& from, Settings& to) { to.cache.max_object = from.cache.max_object; }},
    {"cache.disk", [](const Settings& from, Settings& to) { to.cache.disk = from.cache.disk; }},
    {"digest.bits_per_entry",
     [](const Settings& from, Settings& to) {
       to.digest.bits_per_entry = from.digest.bits_per_entry;
     }},
    {"digest.period",
     [](const Settings& from, Settings& to) { to.digest.period = from.digest.period; }},
    {"digest.poll", [](const Settings& from, Settings& to) { to.digest.poll = from.digest.poll; }},
    {"digest.squid_bits_per_entry",
     [](const Settings& from, Settings& to) {
       to.digest.squid_bits_per_entry = from.digest.squid_bits_per_entry;
     }},
    {"digest.squid_period",
     [](const Settings& from, Settings& to) { to.digest.squid_period = from.digest.squid_period; }},
    {"digest.peer_memory",
     [](const Settings& from, Settings& to) { to.digest.peer_memory = from.digest.peer_memory; }},
    {"log", [](const Settings& from, Settings& to) { to.log = from.log; }},
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
