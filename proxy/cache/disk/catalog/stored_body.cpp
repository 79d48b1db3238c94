#include "proxy/cache/disk/catalog/stored_body.hpp"

#include <algorithm>
#include <vector>

#include "digest/crc32c.hpp"

namespace proxy::cache::disk {

Result<void> StoredBody::read(std::span<const std::span<std::uint8_t>> into, Wait wait,
                              Bytes begin) const {
  std::size_t done = 0;
  std::uint32_t sum = 0;
  for (auto piece : into) {
    piece = piece.first(std::min<std::size_t>(piece.size(), size - done));
    const auto here = begin.first(std::min(piece.size(), begin.size()));
    begin = begin.subspan(here.size());
    std::copy(here.begin(), here.end(), piece.begin());
    const auto rest = piece.subspan(here.size());
    const auto read = segment->file.read(rest, offset + done + here.size(), wait);
    if (!read) return read.error();
    sum = digest::crc32c(piece, sum);
    done += piece.size();
  }
  if (done != size || sum != checksum) return Error::corrupt;
  return {};
}

// All pieces are read into the same buffer, because only the checksum matters.
Result<void> StoredBody::check(Wait wait) const {
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  const auto bytes = std::min<std::size_t>(size, kPiece);
  const auto piece = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
  std::vector<std::span<std::uint8_t>> into;
  for (std::size_t left = size; left > 0; left -= into.back().size()) {
    into.emplace_back(piece.get(), std::min(left, kPiece));
  }
  return read(into, wait);
}

}  // namespace proxy::cache::disk
