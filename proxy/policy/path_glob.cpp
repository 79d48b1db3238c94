#include "proxy/policy/path_glob.hpp"

#include "config/sections.hpp"

namespace proxy {

PathGlob::PathGlob(std::string_view glob) {
  for (const char c : glob) {
    if (c == '*') {
      stays_ |= end_;
    } else {
      add_place(c);
    }
  }
  const auto wildcard = glob.find_last_of("*?");
  tail_ = wildcard == glob.npos ? glob : glob.substr(wildcard + 1);
}

void PathGlob::add_place(char wanted) {
  if (end_ >> config::kMostPlaces != 0) return;
  if (wanted == '?') {
    for (auto& states : next_) states |= end_;
  } else {
    next_[static_cast<unsigned char>(wanted)] |= end_;
  }
  end_ <<= 1;
}

bool PathGlob::matches(std::string_view path) const {
  if (!path.ends_with(tail_)) return false;
  States states = 1;
  for (const char c : path) {
    states = (states & next_[static_cast<unsigned char>(c)]) << 1 | (states & stays_);
    if (states == 0) return false;
  }
  return (states & end_) != 0;
}

}  // namespace proxy
