// What a search for purges by prefix found, as a record tells it: 24 bytes for each entry, its key
// and where it lay (segment << 32 | offset), little-endian.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

struct Searched {
  Key key;
  Position at;

  bool operator==(const Searched&) const = default;
};

inline constexpr std::size_t kSearchedBytes = 24;

std::string encode(std::span<const Searched> found);
// Nothing where the length does not fit; an empty list where there is none.
std::optional<std::vector<Searched>> decode_searched(std::string_view head);

}  // namespace proxy::cache::disk
