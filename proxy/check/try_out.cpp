#include "proxy/check/try_out.hpp"

#include <fmt/format.h>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/machine/memory_need.hpp"

namespace proxy {
namespace {

void try_descriptors(const config::Settings& settings, std::uint64_t most, Trial& into) {
  const auto files = settings.cache.disk ? cache::segments_of(settings.cache.disk->size.value) : 0;
  const auto allowed = descriptor_limits(most, files).connections;
  if (allowed >= settings.limits.connections) return;
  into.warnings.push_back(
      fmt::format("descriptors: {} allow {} connections of clients, and limits.connections is {}; "
                  "raise the limit (LimitNOFILE of the service, ulimit -n)",
                  most, allowed, settings.limits.connections));
}

std::string count(std::size_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

}  // namespace

void try_limits(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory,
                const machine::DescriptorLimit& descriptors, Trial& into) {
  if (auto shortage = machine::memory_shortage(settings, memory)) {
    into.warnings.push_back(std::move(*shortage));
  }
  if (descriptors.most > 0) try_descriptors(settings, descriptors.most, into);
}

Trial try_out(const config::Settings& settings, const std::optional<machine::MemoryLimit>& memory) {
  Trial trial;
  try_places(settings, trial);
  try_ports(settings, trial);
  try_limits(settings, memory, machine::descriptor_limit(), trial);
  try_names(settings, trial);
  return trial;
}

std::string summary(const config::Settings& settings) {
  std::string text = "listens on ";
  for (const auto& listen : settings.listen) {
    if (&listen != &settings.listen.front()) text += ", ";
    text += config::to_text(listen);
  }
  text += fmt::format("; {} MiB of memory, ", settings.cache.memory.value >> 20);
  const auto& disk = settings.cache.disk;
  text += disk ? fmt::format("{} MiB in {}", disk->size.value >> 20, disk->path) : "no disk";
  text += "; " + count(settings.peers.size(), "neighbour", "neighbours");
  if (!settings.reverse.empty()) text += ", " + count(settings.reverse.size(), "site", "sites");
  if (!settings.rules.empty()) text += ", " + count(settings.rules.size(), "rule", "rules");
  return text;
}

}  // namespace proxy
