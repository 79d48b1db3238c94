#include "config/restart.hpp"

namespace config {
namespace {

struct Fixed {
  std::string_view name;
  bool (*same)(const Settings&, const Settings&);
};

constexpr Fixed kFixed[] = {
    {"name", [](const Settings& a, const Settings& b) { return a.name == b.name; }},
    {"listen", [](const Settings& a, const Settings& b) { return a.listen == b.listen; }},
    {"threads", [](const Settings& a, const Settings& b) { return a.threads == b.threads; }},
    {"sandbox", [](const Settings& a, const Settings& b) { return a.sandbox == b.sandbox; }},
    {"cache.memory",
     [](const Settings& a, const Settings& b) { return a.cache.memory == b.cache.memory; }},
    {"cache.max_object",
     [](const Settings& a, const Settings& b) { return a.cache.max_object == b.cache.max_object; }},
    {"cache.disk",
     [](const Settings& a, const Settings& b) { return a.cache.disk == b.cache.disk; }},
    {"digest.bits_per_entry",
     [](const Settings& a, const Settings& b) {
       return a.digest.bits_per_entry == b.digest.bits_per_entry;
     }},
    {"digest.period",
     [](const Settings& a, const Settings& b) { return a.digest.period == b.digest.period; }},
    {"digest.poll",
     [](const Settings& a, const Settings& b) { return a.digest.poll == b.digest.poll; }},
    {"digest.squid_bits_per_entry",
     [](const Settings& a, const Settings& b) {
       return a.digest.squid_bits_per_entry == b.digest.squid_bits_per_entry;
     }},
    {"digest.squid_period",
     [](const Settings& a, const Settings& b) {
       return a.digest.squid_period == b.digest.squid_period;
     }},
    {"digest.peer_memory",
     [](const Settings& a, const Settings& b) {
       return a.digest.peer_memory == b.digest.peer_memory;
     }},
    {"log", [](const Settings& a, const Settings& b) { return a.log == b.log; }},
};

}  // namespace

std::vector<std::string_view> needing_restart(const Settings& running, const Settings& told) {
  std::vector<std::string_view> names;
  for (const Fixed& setting : kFixed) {
    if (!setting.same(running, told)) names.push_back(setting.name);
  }
  return names;
}

void keep_until_restart(const Settings& running, Settings& told) {
  told.name = running.name;
  told.listen = running.listen;
  told.threads = running.threads;
  told.sandbox = running.sandbox;
  told.cache.memory = running.cache.memory;
  told.cache.max_object = running.cache.max_object;
  told.cache.disk = running.cache.disk;
  auto& digest = told.digest;
  digest.bits_per_entry = running.digest.bits_per_entry;
  digest.period = running.digest.period;
  digest.poll = running.digest.poll;
  digest.squid_bits_per_entry = running.digest.squid_bits_per_entry;
  digest.squid_period = running.digest.squid_period;
  digest.peer_memory = running.digest.peer_memory;
  told.log = running.log;
}

}  // namespace config
