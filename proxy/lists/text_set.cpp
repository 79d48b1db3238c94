#include "proxy/lists/text_set.hpp"

#include <algorithm>
#include <span>

namespace proxy::lists {
namespace {

__extension__ using Wide = unsigned __int128;

}  // namespace

bool TextSet::insert(std::string_view text) {
  // At most half full, so a new text is compared with two others on average, each a cache line
  // away.
  if (2 * (size_ + 1) > starts_.size()) spread(std::max<std::size_t>(64, 2 * starts_.size()));
  Start& start = starts_[place_of(text)];
  if (start != kNone) return false;
  start = static_cast<Start>(texts_.size());
  (texts_ += text) += '\n';
  ++size_;
  return true;
}

bool TextSet::contains(std::string_view text) const {
  return !starts_.empty() && starts_[place_of(text)] != kNone;
}

void TextSet::pack() {
  texts_.shrink_to_fit();
  spread(size_ + size_ / 4 + 1);
}

std::size_t TextSet::place_of(std::string_view text) const {
  std::size_t place = first_place(text);
  for (; starts_[place] != kNone; place = place + 1 < starts_.size() ? place + 1 : 0) {
    const std::size_t start = starts_[place];
    const bool same = texts_.compare(start, text.size(), text) == 0;
    if (same && texts_[start + text.size()] == '\n') break;
  }
  return place;
}

std::size_t TextSet::first_place(std::string_view text) const {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const std::uint64_t hash = digest::SipHash128(salt_, {bytes, text.size()}).low();
  return static_cast<std::size_t>((Wide{hash} * starts_.size()) >> 64);
}

// Reads the texts in their order in memory. They all differ, so none has to be compared.
void TextSet::spread(std::size_t places) {
  starts_ = std::vector<Start>(places, kNone);
  std::size_t start = 0;
  for_each([&](std::string_view text) {
    std::size_t place = first_place(text);
    while (starts_[place] != kNone) place = place + 1 < places ? place + 1 : 0;
    starts_[place] = static_cast<Start>(start);
    start += text.size() + 1;
  });
}

}  // namespace proxy::lists
