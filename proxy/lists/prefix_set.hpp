// A set of texts. Tells whether one of them is a prefix of a given text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::lists {

// Keeps the texts sorted, and keeps no text that has another one as a prefix. So only the last text
// that is not greater than a given text can be its prefix. One thread builds the set; then any
// number may read it.
class PrefixSet {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their line feeds

  // `text` contains no line feed, and fits(text) must hold.
  void insert(std::string_view text) { (texts_ += text) += '\n'; }
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }

  // Sorts the texts and drops those that have another as a prefix. Must be called after the last
  // insert() and before begins().
  void finish();

  bool begins(std::string_view text) const;

  std::size_t size() const { return starts_.size(); }
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }

  // In sorted order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Start start : starts_) visit(text_at(start));
  }

 private:
  using Start = std::uint32_t;

  std::string_view text_at(std::size_t start) const {
    return std::string_view(texts_).substr(start, texts_.find('\n', start) - start);
  }

  std::string texts_;
  std::vector<Start> starts_;
};

}  // namespace proxy::lists
