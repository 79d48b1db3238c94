#include "proxy/cache/disk/learn.hpp"

#include "proxy/cache/disk/stored.hpp"

namespace proxy::cache::disk {

void learn(const Listed& listed, std::uint32_t segment, const Learned& learned) {
  const Place place{.at = {segment, listed.offset},
                    .bytes = listed.bytes,
                    .claimable_until = listed.claimable_until,
                    .kind = listed.kind};
  switch (listed.kind) {
    case Kind::purge:
      learned.index.erase(listed.key);
      return;
    case Kind::purge_prefix:
      // Of one that cannot be read nobody knows what it covers: it counts for all.
      if (const auto rule = Stored::open(learned.segments, listed.key, place, Wait::yes)) {
        learned.rules.settle(rule->url(), place.at);
      } else {
        learned.rules.settle("", place.at);
      }
      return;
    case Kind::head:
      // Its body may have been reclaimed.
      if (learned.index.find(listed.key)) learned.index.put(listed.key, place);
      return;
    default:
      learned.index.put(listed.key, place);
  }
}

}  // namespace proxy::cache::disk
