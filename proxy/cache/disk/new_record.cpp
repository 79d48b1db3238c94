#include "proxy/cache/disk/new_record.hpp"

namespace proxy::cache::disk {

std::uint64_t size_of(const std::vector<RecordPiece>& pieces) {
  std::uint64_t bytes = 0;
  for (const RecordPiece& piece : pieces) bytes += piece.bytes.size();
  return bytes;
}

std::uint64_t NewRecord::footprint() const {
  std::uint64_t bytes = sizeof(NewRecord) + url.capacity() + head.capacity();
  for (const RecordPiece& piece : body) bytes += sizeof(RecordPiece) + piece.bytes.size();
  return bytes;
}

std::uint64_t NewRecord::most_bytes() const {
  const auto content = size_of(body_if_moved ? *body_if_moved : body);
  return kRecordHeaderBytes + url.size() + head.size() + content;
}

}  // namespace proxy::cache::disk
