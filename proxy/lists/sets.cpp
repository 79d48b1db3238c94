#include "proxy/lists/sets.hpp"

#include <algorithm>
#include <tuple>

#include "digest/keyed_hash.hpp"

namespace proxy::lists {
namespace {

constexpr unsigned kV4Start = 96;

using config::Network;

// Sorted so, a range stands before those that it contains.
void keep_outermost(config::Networks& networks) {
  std::sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
    return std::tie(a.address, a.prefix) < std::tie(b.address, b.prefix);
  });
  config::Networks kept;
  for (const Network& network : networks) {
    if (kept.empty() || !kept.back().contains(network.address)) kept.push_back(network);
  }
  kept.shrink_to_fit();
  networks = std::move(kept);
}

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
  // Four fifths full: look-ups get a little longer, but only the few that the filter lets through.
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
  // The upper half of the product is even over any number of places, without a division (Lemire
  // 2019).
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>((Wide{digest::TextHash{}(text)} * starts_.size()) >> 64);
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

void NetworkSet::insert(const Network& network) {
  const bool v4 = network.prefix >= kV4Start && config::is_v4(network.address);
  (v4 ? v4_ : v6_).push_back(network);
}

void NetworkSet::finish() {
  keep_outermost(v4_);
  keep_outermost(v6_);
}

bool NetworkSet::contains(const config::Address& address) const {
  const config::Networks& networks = config::is_v4(address) ? v4_ : v6_;
  const auto beyond = std::upper_bound(
      networks.begin(), networks.end(), address,
      [](const config::Address& wanted, const Network& each) { return wanted < each.address; });
  return beyond != networks.begin() && (beyond - 1)->contains(address);
}

}  // namespace proxy::lists
