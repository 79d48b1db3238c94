#include "proxy/blocks/block_reading.hpp"

#include <utility>

namespace proxy {

using net::Task;

void BlockReading::begin(std::uint64_t size) {
  size_ = size;
  given_ = 0;
  stored_.reset();
  run_.reset();
  begun_ = clock_.steady();
  waited_ = {};
}

void BlockReading::read_from(std::unique_ptr<FillReader> run) {
  run_ = std::move(run);
  position_ = 0;
}

Pieces BlockReading::rest_of_stored() {
  Pieces pieces;
  std::uint64_t at = 0;
  for (const auto& slice : stored_->body.slices) {
    const auto before = at;
    at += slice.size;
    if (at <= given_) continue;
    const auto skipped = static_cast<std::uint32_t>(given_ - before);
    pieces.push_back({slice.block, skipped, slice.size - skipped});
    given_ = at;
  }
  return pieces;
}

Task<Outcome<Pieces>> BlockReading::next_of_run() {
  Pieces fresh;
  while (fresh.empty()) {
    const auto begun = clock_.steady();
    auto pieces = co_await run_->next();
    waited_ += clock_.steady() - begun;
    if (!pieces || pieces->empty()) co_return pieces;
    for (auto& piece : *pieces) {
      const auto before = position_;
      position_ += piece.size;
      if (position_ <= given_) continue;  // the source before has supplied these bytes
      const auto skipped = static_cast<std::uint32_t>(given_ - before);
      fresh.push_back({std::move(piece.block), piece.offset + skipped, piece.size - skipped});
      given_ = position_;
    }
  }
  co_return fresh;
}

Task<Outcome<Pieces>> BlockReading::next() {
  if (stored_) co_return rest_of_stored();
  co_return co_await next_of_run();
}

}  // namespace proxy
