// What a record in the log means for what counts.
#pragma once

#include "proxy/cache/disk/footer.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/cache/disk/segments.hpp"

namespace proxy::cache::disk {

struct Learned {
  Index& index;
  const Segments& segments;
  PurgeRules& rules;
};

// To be called for all records of all segments in the order of the log. The segment is among
// `segments` by then: a purge by prefix has its prefix read.
void learn(const Listed& listed, std::uint32_t segment, const Learned& learned);

}  // namespace proxy::cache::disk
