// Whose check comes next: addresses take turns. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "config/networks.hpp"

namespace proxy::users {

// Work that waits, in one line for each address. However much work one address has, a piece of
// another address waits for no more than one piece of each.
template <class Work>
class Turns {
 public:
  // How much may wait, in all and of one address.
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostOfOne = 16;
  // How much of one address may be under way at the same time.
  static constexpr int kMostUnderWay = 2;

  // Whether the work may wait; if so, it does.
  bool add(const config::Address& address, Work work) {
    if (waiting_ == kMost) return false;
    const auto found = find(address);
    auto& line = found == lines_.end() ? lines_.emplace_back(Line{address, {}, 0}) : *found;
    if (line.waiting.size() == kMostOfOne) return false;
    line.waiting.push_back(std::move(work));
    ++waiting_;
    return true;
  }
  [[nodiscard]] bool anyone_may_go() const {
    return std::any_of(lines_.begin(), lines_.end(), may_go);
  }
  // Takes the work whose turn it is. Call done() once it is done.
  std::optional<Work> next() {
    const auto first = std::find_if(lines_.begin(), lines_.end(), may_go);
    if (first == lines_.end()) return std::nullopt;
    auto line = std::move(*first);
    lines_.erase(first);
    std::optional work(std::move(line.waiting.front()));
    line.waiting.pop_front();
    --waiting_;
    ++line.under_way;
    lines_.push_back(std::move(line));
    return work;
  }
  void done(const config::Address& address) {
    const auto line = find(address);
    if (--line->under_way == 0 && line->waiting.empty()) lines_.erase(line);
  }

 private:
  struct Line {
    config::Address address;
    std::deque<Work> waiting;
    int under_way;
  };

  static bool may_go(const Line& line) {
    return !line.waiting.empty() && line.under_way < kMostUnderWay;
  }
  auto find(const config::Address& address) {
    return std::find_if(lines_.begin(), lines_.end(),
                        [&](const Line& line) { return line.address == address; });
  }

  std::deque<Line> lines_;  // the one that has waited longest first
  std::size_t waiting_ = 0;
};

}  // namespace proxy::users
