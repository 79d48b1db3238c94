#include "proxy/blocks/presence.hpp"

#include <algorithm>

#include "peers/native_target.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/cache/object.hpp"

namespace proxy::blocks {

namespace {

// The range up to its first missing block; all of it if that is its first one.
http::ByteRange cut_to_stored(const FetchAccess& access, const AskedObject& asked,
                              const http::ByteRange& range) {
  const auto& [request, key, object] = asked;
  const auto blocks = cache::blocks_of(range);
  auto stored = blocks.first;  // all blocks before this one
  while (stored <= blocks.last && access.cache().has_block(key, object, stored)) ++stored;
  if (stored == blocks.first || stored > blocks.last) return range;
  return {range.first, cache::bytes_of_block(stored - 1, object.body.size).last};
}

}  // namespace

http::Selection parts_wanted(const policy::Request& request, const cache::Entry& object) {
  return request.facts.range ? cache::parts_wanted(request.facts, object) : http::Selection{};
}

http::ByteRanges ranges_of(const FetchAccess& access, const AskedObject& asked,
                           const http::Selection& wanted) {
  const auto& [request, key, object] = asked;
  if (request.is_head() || wanted.kind == http::Selection::Kind::none) return {};
  if (wanted.kind != http::Selection::Kind::parts) return {{0, object.body.size - 1}};
  const bool first_will_do =
      policy::is_of_neighbour(request) &&
      request.head.fields.only_value(peers::kPartField) == peers::kFirstWillDo;
  if (!first_will_do || wanted.parts.size() != 1) return wanted.parts;
  return {cut_to_stored(access, asked, wanted.parts.front())};
}

Presence presence(const FetchAccess& access, const policy::Request& request, const digest::Key& key,
                  const cache::Entry& object) {
  // A 304 needs no block.
  if (cache::is_unmodified_for(request.head.fields, object, access.clock().now()))
    return Presence::stored;
  auto found = Presence::stored;
  for (const auto& range :
       ranges_of(access, {request, key, object}, parts_wanted(request, object))) {
    const auto blocks = cache::blocks_of(range);
    for (auto block = blocks.first; block <= blocks.last; ++block) {
      if (access.cache().has_block(key, object, block)) continue;
      // What another request fetches is nearly here, and need not be asked for again.
      const auto last = access.runs.under_way(object, block);
      if (!last) return Presence::missing;
      found = Presence::under_way;
      block = *last;  // an origin may promise any number of blocks: do not look at each one
    }
  }
  return found;
}

namespace {

bool goes_to_the_end(const http::AskedRange& asked) {
  return !asked.last || *asked.last >= cache::kLargestObject;
}

std::uint64_t bytes_in(const http::AskedRange& asked) {
  return goes_to_the_end(asked) ? cache::kLargestObject : *asked.last - asked.first + 1;
}

// Ranges that do not ascend could all be the same one, so each of them counts by itself.
bool are_worth_blocks(const http::AskedRanges& all, bool is_mirrored) {
  const auto is_worth = [](const http::AskedRange& one) { return bytes_in(one) >= kWorthABlock; };
  if (!http::ascend(all)) return std::ranges::all_of(all, is_worth);
  // The storage of a registry may refuse several, and image tools give up then.
  if (is_mirrored && all.size() > 1) return true;
  std::uint64_t bytes = 0;
  for (const auto& one : all) bytes += bytes_in(one);
  return bytes >= kWorthABlock;
}

// If the ranges ascend and the first one is behind the end, so are the others. An origin may refuse
// to give several, so that such a request is better put as one for a block, at the risk that the
// object ends before the block.
std::optional<std::uint64_t> length_for(const http::AskedRanges& all, const KnownObject& known) {
  const bool several = all.size() > 1 && http::ascend(all);
  return known.length || !several ? known.length : std::optional(cache::kLargestObject);
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
  if (all.empty() || !are_worth_blocks(all, request.freshness.by_class)) return {};
  const auto& asked = all.front();
  const auto length = length_for(all, known);
  if (asked.first >= length.value_or(cache::kLargestObject)) return {};
  const auto stored = known.stored;
  const bool goes_on = asked.first < stored && asked.last.value_or(stored) >= stored;
  const auto first = goes_on ? stored : asked.first / cache::kBlockBytes * cache::kBlockBytes;
  // Nobody can tell whether the second range is within the object.
  if (!length && all.size() > 1) return {};
  // An open end lets the origin say where the object ends.
  if (goes_to_the_end(asked)) return http::AskedRange{first, {}};
  if (!length) {
    const http::AskedRange own{goes_on ? stored : asked.first, asked.last};
    return has_whole_block(own) ? std::optional(own) : std::nullopt;
  }
  const auto last_block = *asked.last / cache::kBlockBytes;
  const auto end = std::min((last_block + 1) * cache::kBlockBytes, *length);
  return http::AskedRange{first, end - 1};
}

}  // namespace proxy::blocks
