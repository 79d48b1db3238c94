// An exact set of short texts, millions of them: 5 bytes each beside the text itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "digest/siphash.hpp"

namespace proxy::lists {

// All texts stand in one string, each ended by a line feed; a hash table holds where they begin.
// Built by one thread; any number may read it then. The hash is salted, so that nobody can choose
// texts that fall on one place of the table.
class TextSet {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their ends

  explicit TextSet(const digest::Salt& salt) : salt_(salt) {}

  // False if it was in already. `text` has no line feed, and fits(text).
  bool insert(std::string_view text);
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }

  bool contains(std::string_view text) const;

  // Gives back what insert() keeps in reserve; no insert() after it.
  void pack();

  std::size_t size() const { return size_; }
  // Of memory, the reserve included.
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }

  // In the order of their insertion.
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
  // Where in the table the text stands or, if nowhere, belongs. The table has a free place.
  std::size_t place_of(std::string_view text) const;
  std::size_t first_place(std::string_view text) const;
  void spread(std::size_t places);

  digest::Salt salt_;
  std::string texts_;
  std::vector<Start> starts_;
  std::size_t size_ = 0;
};

}  // namespace proxy::lists
