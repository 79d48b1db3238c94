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

bool has_whole_block(const http::AskedRange& asked) {
  return asked.first <= *asked.last &&
         cache::whole_blocks({{asked.first, *asked.last}, cache::kLargestObject});
}

}  // namespace

std::optional<http::AskedRange> aligned_to_blocks(const cache::RequestFacts& request,
                                                  const KnownObject& known) {
  if (!request.range || request.signs_range) return {};
  const auto all = http::asked_ranges(request.ranges);
  if (all.empty() || !std::all_of(all.begin(), all.end(), is_worth_a_block)) return {};
  const auto& asked = all.front();
  if (asked.first >= known.length.value_or(cache::kLargestObject)) return {};
  const auto stored = known.stored;
  const bool goes_on = asked.first < stored && asked.last.value_or(stored) >= stored;
  const auto first = goes_on ? stored : asked.first / cache::kBlockBytes * cache::kBlockBytes;
  // Nobody can tell whether the second range is within the object.
  if (!known.length && all.size() > 1) return {};
  // An open end lets the origin say where the object ends.
  if (goes_to_the_end(asked)) return http::AskedRange{first, {}};
  if (!known.length) {
    const http::AskedRange own{goes_on ? stored : asked.first, asked.last};
    return has_whole_block(own) ? std::optional(own) : std::nullopt;
  }
  const auto last_block = *asked.last / cache::kBlockBytes;
  const auto end = std::min((last_block + 1) * cache::kBlockBytes, *known.length);
  return http::AskedRange{first, end - 1};
}

}  // namespace proxy
