#include "proxy/cache/disk/replay.hpp"

#include <algorithm>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {
namespace {

// The record at the front of `rest`, if it is whole.
std::optional<RecordHeader> whole_record(Bytes rest, Position at) {
  if (rest.size() < kRecordHeaderBytes) return std::nullopt;
  const auto header = read_header(rest.first<kRecordHeaderBytes>(), at);
  if (!header || header->bytes() > rest.size()) return std::nullopt;
  const auto checked = static_cast<std::size_t>(header->checked_bytes());
  if (!head_intact(rest.first(checked))) return std::nullopt;
  const auto body = rest.subspan(checked, header->body_bytes);
  return digest::crc32c(body) == header->body_checksum ? header : std::nullopt;
}

}  // namespace

Replayed replay(Bytes file, std::uint32_t segment) {
  Replayed found;
  while (found.end < file.size() && file.size() <= kMaxSegmentBytes) {
    const auto rest = file.subspan(static_cast<std::size_t>(found.end));
    const auto header = whole_record(rest, {segment, static_cast<std::uint32_t>(found.end)});
    if (!header) break;
    found.records.push_back(listed(*header));
    found.end += aligned(header->bytes());
  }
  if (found.end >= file.size()) return found;
  const auto rest = file.subspan(static_cast<std::size_t>(found.end));
  found.cut = std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; });
  return found;
}

}  // namespace proxy::cache::disk
