// A set of texts, and whether one of them begins a given text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::lists {

// The texts in order, none of which begins another: then only the last one that is not beyond a
// text can begin it. Built by one thread; any number may read it then.
class PrefixSet {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their ends

  // `text` has no line feed, and fits(text).
  void insert(std::string_view text) { (texts_ += text) += '\n'; }
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }

  // Sorts, and drops each text that another one begins. No insert() after it, no question before.
  void finish();

  bool begins(std::string_view text) const;

  std::size_t size() const { return starts_.size(); }
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }

  // In order.
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
