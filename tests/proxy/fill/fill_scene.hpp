// A fill, its writer's side and readers of it, without a network.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/fill/fill.hpp"

namespace proxy::fill {

inline cache::Ref<const cache::Block> block_of(cache::Budget& budget, std::string_view text) {
  auto block = cache::Block::make(budget, static_cast<std::uint32_t>(text.size()));
  std::copy(text.begin(), text.end(), block->data());
  return block;
}

inline void append_block(Fill& fill, cache::Budget& budget, std::string_view text) {
  fill.append(block_of(budget, text), static_cast<std::uint32_t>(text.size()));
}

inline std::string text_of(const Pieces& pieces) {
  std::string text;
  for (const auto& piece : pieces) text.append(piece.block->data() + piece.offset, piece.size);
  return text;
}

// All bytes that the reader has yet to get, or the failure instead.
inline net::Task<upstream::Outcome<std::string>> rest_of(FillReader& reader) {
  std::string all;
  for (;;) {
    const auto pieces = co_await reader.next();
    if (!pieces) co_return pieces.error();
    if (pieces->empty()) co_return all;
    all += text_of(*pieces);
  }
}

}  // namespace proxy::fill
