// Globs over paths, as rules name them: "*.deb", "/debian/dists/*/by-hash/*".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

// `*` matches any bytes, also none, and also `/`. `?` matches exactly one byte, also `/`. Every
// other byte matches itself; there is no escape, so a literal `*` or `?` can be matched only by a
// wildcard. Compares whole paths: "*.deb" does not match "/a.deb/b". Immutable; any thread.
//
// All alternatives are followed at the same time, each as a bit of one word (Baeza-Yates and Gonnet
// 1992). So a path costs one step per byte, whatever the glob, and nothing is tried twice.
class PathGlob {
 public:
  // `glob` has at most config::kMostPlaces; further ones are ignored.
  explicit PathGlob(std::string_view glob);

  [[nodiscard]] bool matches(std::string_view path) const;

 private:
  // Bit i: i places have been matched.
  using States = std::uint64_t;

  void add_place(char wanted);

  std::array<States, 256> next_{};  // by byte: the states from which it leads to the next one
  States stays_ = 0;                // where a `*` takes any byte
  States end_ = 1;
  std::string tail_;  // what every match ends with: most paths are told apart by it
};

}  // namespace proxy
