#include "proxy/explain/told_lifetime.hpp"

#include <limits>

#include "proxy/http/head.hpp"

namespace proxy {

std::optional<cache::Freshness> told_freshness(const cache::Entry& entry, http::Targets targets) {
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  std::string text = std::string(entry.head()) + "\r\n";
  const auto head = http::parse_response_head(text, {kNoLimit, kNoLimit});
  if (!head) return std::nullopt;
  const auto control = http::response_cache_control(head->fields, targets);
  return cache::freshness_of(*head, control, entry.times().response);
}

}  // namespace proxy
