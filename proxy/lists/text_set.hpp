// An exact set of millions of short texts: 5 bytes each in addition to the text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "digest/siphash.hpp"

namespace proxy::lists {

// All texts are in one string, each followed by a line feed. A hash table holds the positions where
// they begin. One thread builds the set; then any number may read it. The hash is salted, so an
// attacker cannot choose texts that collide in the table.
class TextSet {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their line feeds

  explicit TextSet(const digest::Salt& salt) : salt_(salt) {}

  // Returns false if the text is already in. `text` contains no line feed, and fits(text) must
  // hold.
  bool insert(std::string_view text);
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }

  bool contains(std::string_view text) const;

  // Releases the memory that insert() keeps in reserve. No insert() may follow.
  void pack();

  std::size_t size() const { return size_; }
  // Memory in bytes, including the reserve.
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }

  // In the order of insertion.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t at = 0; at < texts_.size();) {
      const std::string_view text = text_at(at);
      visit(text);
      at += text.size() + 1;
    }
  }

 private:
  using Start = std::uint32_t;
  static constexpr Start kNone = ~Start{0};

  std::string_view text_at(std::size_t start) const {
    return std::string_view(texts_).substr(start, texts_.find('\n', start) - start);
  }
  // The place of the text in the table; if it is not in the table, the free place for it. The table
  // is never full.
  std::size_t place_of(std::string_view text) const;
  std::size_t first_place(std::string_view text) const;
  void spread(std::size_t places);

  digest::Salt salt_;
  std::string texts_;
  std::vector<Start> starts_;
  std::size_t size_ = 0;
};

}  // namespace proxy::lists
