#include "proxy/crowd/descriptors.hpp"

#include <fmt/format.h>

#include "config/counted.hpp"

namespace proxy::crowd {
namespace {

std::size_t wanted_connections(const config::Limits& limits) {
  // The default is nobody's wish. A warning at each start that few can heed would soon be read by
  // nobody.
  const bool is_default = limits.connections == config::Limits{}.connections;
  return is_default ? kEnoughConnections : limits.connections;
}

}  // namespace

std::optional<std::string> descriptor_shortage(const config::Limits& limits, std::size_t all,
                                               std::size_t files) {
  const auto connections = descriptor_limits(all, files).connections;
  const bool is_short_for_disk = files > all / 2;
  if (connections >= wanted_connections(limits) && !is_short_for_disk) return std::nullopt;
  auto text = fmt::format(
      "{} file descriptors are allowed here, which is enough for {} "
      "(limits.connections is {})",
      all, config::counted(connections, "client connection"), limits.connections);
  if (files > 0) text += fmt::format("; the cache on disk may take {}", files);
  return text + ": allow more (LimitNOFILE of the service, ulimit -n)";
}

}  // namespace proxy::crowd
