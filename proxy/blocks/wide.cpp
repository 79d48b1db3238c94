#include "proxy/blocks/wide.hpp"

#include "proxy/cache/object.hpp"

namespace proxy {

std::optional<http::AskedRange> widened(const cache::RequestFacts& request, std::uint64_t held) {
  if (!request.range) return {};
  const auto asked = http::only_range(request.ranges);
  if (!asked || asked->first >= cache::kLargestObject) return {};
  const bool goes_on = asked->first < held && asked->last.value_or(held) >= held;
  const auto first = goes_on ? held : asked->first / cache::kBlockBytes * cache::kBlockBytes;
  if (!asked->last || *asked->last >= cache::kLargestObject) return http::AskedRange{first, {}};
  if (*asked->last - asked->first + 1 < kWorthABlock) return {};
  const auto last_block = *asked->last / cache::kBlockBytes;
  return http::AskedRange{first, (last_block + 1) * cache::kBlockBytes - 1};
}

}  // namespace proxy
