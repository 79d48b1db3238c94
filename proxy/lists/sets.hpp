// The sets of which a list is made. One thread builds a set; then any number may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"

namespace proxy::lists {

// Millions of texts, all in one string, each followed by a line feed, and the positions where they
// begin. A set takes the texts by insert() alone.
class Texts {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their line feeds

  // Whether there is room for the text, which contains no line feed.
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }
  // Memory in bytes, including the reserve.
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }

 protected:
  using Start = std::uint32_t;

  std::string_view text_at(std::size_t start) const {
    return std::string_view(texts_).substr(start, texts_.find('\n', start) - start);
  }

  std::string texts_;
  std::vector<Start> starts_;
};

// An exact set of short texts: 5 bytes each in addition to the text. `starts_` is a hash table. Its
// hash has the secret of the process, so an attacker cannot choose texts that collide in the table.
class TextSet : public Texts {
 public:
  // Returns false if the text is already in. fits(text) must hold.
  bool insert(std::string_view text);

  bool contains(std::string_view text) const;

  // Releases the memory that insert() keeps in reserve. No insert() may follow.
  void pack();

  std::size_t size() const { return size_; }

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
  static constexpr Start kNone = ~Start{0};

  // The place of the text in the table; if it is not in the table, the free place for it. The table
  // is never full.
  std::size_t place_of(std::string_view text) const;
  std::size_t first_place(std::string_view text) const;
  void spread(std::size_t places);

  std::size_t size_ = 0;
};

// A set that tells whether one of its texts is a prefix of a given text. Keeps the texts sorted,
// and keeps no text that has another one as a prefix. So only the last text that is not greater
// than a given text can be its prefix.
class PrefixSet : public Texts {
 public:
  // fits(text) must hold.
  void insert(std::string_view text) { (texts_ += text) += '\n'; }

  // Sorts the texts and drops those that have another as a prefix. Must be called after the last
  // insert() and before begins().
  void finish();

  bool begins(std::string_view text) const;

  std::size_t size() const { return starts_.size(); }

  // In sorted order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Start start : starts_) visit(text_at(start));
  }
};

// Address ranges; finds in logarithmic time whether one contains an address. Two networks are
// nested or disjoint. Without nested ones, only the last network that does not begin beyond an
// address can contain it.
class NetworkSet {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  // The set holds at most kMost networks.
  void insert(const config::Network& network);
  // Sorts the networks and drops nested ones. Must be called after the last insert() and before
  // contains().
  void finish();

  bool contains(const config::Address& address) const;

  std::size_t size() const { return v4_.size() + v6_.size(); }
  std::size_t bytes() const { return (v4_.capacity() + v6_.capacity()) * sizeof(config::Network); }

 private:
  // IPv4 is separate, because a range of IPv6 never contains mapped IPv4 addresses, however wide it
  // is.
  config::Networks v4_;
  config::Networks v6_;
};

}  // namespace proxy::lists
