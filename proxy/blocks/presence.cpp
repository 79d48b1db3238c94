#include "proxy/blocks/presence.hpp"

#include "peers/native_target.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

http::Selection parts_wanted(const Request& request, const cache::Entry& object) {
  return request.facts.range ? cache::parts_wanted(request.facts, object) : http::Selection{};
}

http::ByteRanges ranges_of(const Request& request, const cache::Entry& object,
                           const http::Selection& wanted, bool unmodified) {
  if (unmodified || request.is_head() || wanted.kind == http::Selection::Kind::none) return {};
  if (wanted.kind == http::Selection::Kind::parts) return wanted.parts;
  return {{0, object.body.size - 1}};
}

void cut_to_stored(const FetchAccess& access, const Request& request, const digest::Key& key,
                   const cache::Entry& object, const http::Selection& wanted,
                   http::ByteRanges& ranges) {
  const bool asks =
      request.facts.control.only_if_cached && wanted.kind == http::Selection::Kind::parts;
  if (!asks || ranges.size() != 1) return;
  if (request.head.fields.only_value(peers::kPartField) != peers::kFirstWillDo) return;
  auto& range = ranges.front();
  const auto blocks = cache::blocks_of(range);
  auto stored = blocks.first;  // all blocks before this one
  while (stored <= blocks.last && has_block(access.cache(), key, object, stored)) ++stored;
  if (stored == blocks.first || stored > blocks.last) return;
  range.last = cache::bytes_of_block(stored - 1, object.body.size).last;
}

Presence presence(const FetchAccess& access, const Request& request, const digest::Key& key,
                  const cache::Entry& object) {
  const bool unmodified =
      cache::is_unmodified_for(request.head.fields, object, access.clock().now());
  const auto wanted = parts_wanted(request, object);
  auto found = Presence::stored;
  auto ranges = ranges_of(request, object, wanted, unmodified);
  cut_to_stored(access, request, key, object, wanted, ranges);
  for (const auto& range : ranges) {
    const auto blocks = cache::blocks_of(range);
    for (auto block = blocks.first; block <= blocks.last; ++block) {
      if (has_block(access.cache(), key, object, block)) continue;
      const auto last = access.runs.under_way(object, block);
      if (!last) return Presence::missing;
      found = Presence::under_way;
      block = *last;  // an origin may promise any number of blocks: do not look at each one
    }
  }
  return found;
}

}  // namespace proxy
