#include "proxy/blocks/aligned_range.hpp"

#include <algorithm>

#include "proxy/cache/object.hpp"

namespace proxy {

namespace {

bool goes_to_the_end(const http::AskedRange& asked) {
  return !asked.last || *asked.last >= cache::kLargestObject;
}

bool is_worth_a_block(const http::AskedRange& asked) {
  return goes_to_the_end(asked) || *asked.last - asked.first + 1 >= kWorthABlock;
}

}  // namespace

std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  std::uint64_t stored) {
  if (!request.range) return {};
  const auto all = http::asked_ranges(request.ranges);
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_worth_a_block)) return {};
  const auto& asked = all.front();
  if (asked.first >= cache::kLargestObject) return {};
  const bool goes_on = asked.first < stored && asked.last.value_or(stored) >= stored;
  const auto first = goes_on ? stored : asked.first / cache::kBlockBytes * cache::kBlockBytes;
  if (goes_to_the_end(asked)) return http::AskedRange{first, {}};
  const auto last_block = *asked.last / cache::kBlockBytes;
  return http::AskedRange{first, (last_block + 1) * cache::kBlockBytes - 1};
}

}  // namespace proxy
