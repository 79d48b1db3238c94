// The head of a `searched` record: a list of entries that purges by prefix cover. Each entry takes
// 24 bytes: its key, and its position (segment << 32 | offset) in little-endian order.
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
// Nothing if the length is no multiple of 24.
std::optional<std::vector<Searched>> decode_searched(std::string_view head);

}  // namespace proxy::cache::disk
