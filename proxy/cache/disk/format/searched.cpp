#include "proxy/cache/disk/format/searched.hpp"

#include <algorithm>

#include "digest/little_endian.hpp"

namespace proxy::cache::disk {

using digest::load;
using digest::store;

std::string encode(std::span<const Searched> found) {
  std::string head(found.size() * kSearchedBytes, '\0');
  auto* at = reinterpret_cast<std::uint8_t*>(head.data());
  for (const Searched& entry : found) {
    std::copy(entry.key.bytes.begin(), entry.key.bytes.end(), at);
    store(at + 16, to_number(entry.at));
    at += kSearchedBytes;
  }
  return head;
}

std::optional<std::vector<Searched>> decode_searched(std::string_view head) {
  if (head.size() % kSearchedBytes != 0) return std::nullopt;
  std::vector<Searched> found(head.size() / kSearchedBytes);
  const auto* at = reinterpret_cast<const std::uint8_t*>(head.data());
  for (Searched& entry : found) {
    std::copy_n(at, 16, entry.key.bytes.begin());
    entry.at = to_position(load<std::uint64_t>(at + 16));
    at += kSearchedBytes;
  }
  return found;
}

}  // namespace proxy::cache::disk
