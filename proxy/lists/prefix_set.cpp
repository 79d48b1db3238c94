#include "proxy/lists/prefix_set.hpp"

#include <algorithm>

namespace proxy::lists {

void PrefixSet::finish() {
  std::vector<std::string_view> sorted;
  for (std::size_t at = 0; at < texts_.size(); at += sorted.back().size() + 1) {
    sorted.push_back(text_at(at));
  }
  std::sort(sorted.begin(), sorted.end());
  std::string kept;
  std::string_view last;
  for (const std::string_view text : sorted) {
    if (!starts_.empty() && text.starts_with(last)) continue;
    starts_.push_back(static_cast<Start>(kept.size()));
    (kept += text) += '\n';
    last = text;
  }
  texts_ = std::move(kept);
  texts_.shrink_to_fit();
  starts_.shrink_to_fit();
}

bool PrefixSet::begins(std::string_view text) const {
  const auto beyond = std::upper_bound(
      starts_.begin(), starts_.end(), text,
      [this](std::string_view wanted, Start start) { return wanted < text_at(start); });
  return beyond != starts_.begin() && text.starts_with(text_at(*(beyond - 1)));
}

}  // namespace proxy::lists
