#include "proxy/server/start_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <sstream>

#include "config/counted.hpp"
#include "config/text.hpp"
#include "proxy/server/worker_threads.hpp"
#include "proxy/version.hpp"

namespace proxy {
namespace {

using config::short_size;

std::string who(const Process& process, const Policy& policy, const std::string& settings) {
  return fmt::format("{} named {}, process {}, {}, settings of {}", kProduct, process.name,
                     ::getpid(), config::counted(thread_count(policy.settings), "thread"),
                     settings);
}

std::string where(const Process& process, const std::string& control_socket) {
  std::ostringstream all;
  for (const auto& address : process.listening) {
    all << (&address == process.listening.data() ? "" : ", ") << address;
  }
  if (!control_socket.empty()) all << "; control socket " << control_socket;
  return "listens on " + all.str();
}

std::string what(const Process& process, const Policy& policy) {
  auto text = fmt::format(
      "holds {} in memory, {} of {}", config::counted(process.cache.store.responses(), "response"),
      short_size(process.cache.store.bytes()), short_size(policy.settings.cache.memory.value));
  const auto& disk = policy.settings.cache.disk;
  if (!process.cache.disk || !disk) return text + "; no disk";
  const auto& catalog = process.cache.disk->disk().catalog();
  return text + fmt::format("; {} on disk, {} of {} at {}{}", catalog.index.entries(),
                            short_size(catalog.used_bytes), short_size(disk->size.value),
                            disk->path, process.cache.disk->state().working ? "" : ", which rests");
}

std::string whom(const Policy& policy) {
  std::vector<std::string> siblings;
  std::vector<std::string> parents;
  for (const auto& peer : policy.directory->peers()) {
    if (peer->is_ourselves()) continue;
    (peer->role == config::Role::parent ? parents : siblings).push_back(peer->name);
  }
  if (siblings.empty() && parents.empty()) return "knows no neighbours (setting peers)";
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view role, const std::vector<std::string>& names) {
    if (names.empty()) return;
    parts.push_back(
        fmt::format("{}: {}", config::counted(names.size(), role), fmt::join(names, ", ")));
  };
  add("sibling", siblings);
  add("parent", parents);
  return fmt::format("knows {}", fmt::join(parts, "; "));
}

std::string limits(const Process& process, const Policy& policy, const std::string& others) {
  const auto connections =
      std::min<std::size_t>(policy.settings.limits.connections, process.descriptors.connections);
  return fmt::format("limits: {}; {}", config::counted(connections, "connection"), others);
}

}  // namespace

std::vector<std::string> start_report(const Process& process, const Policy& policy,
                                      const StartFacts& facts) {
  return {who(process, policy, facts.settings_file), where(process, facts.control_socket),
          what(process, policy), whom(policy), limits(process, policy, facts.limits)};
}

}  // namespace proxy
