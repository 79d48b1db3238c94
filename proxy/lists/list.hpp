// A list of hosts, URL prefixes and address ranges, with an exact test of membership.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/networks.hpp"
#include "digest/blocked_filter.hpp"
#include "proxy/http/target.hpp"

namespace proxy::lists {

// Millions of texts, all in one string, each followed by a line feed, and the positions where they
// begin: 5 bytes each in addition to the text. Looks a text up in logarithmic time.
class SortedTexts {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of texts and their line feeds

  // Whether there is room for the text, which contains no line feed.
  bool fits(std::string_view text) const { return texts_.size() + text.size() < kMostBytes; }
  // fits(text) must hold.
  void insert(std::string_view text) { (texts_ += text) += '\n'; }
  // Sorts the texts, and drops each one that another text covers. Must be called after the last
  // insert() and before the look-ups. `Drop` says which look-ups follow.
  enum class Drop : std::uint8_t {
    equals,         // for contains()
    continuations,  // for begins(): texts that have another one as a prefix
  };
  void finish(Drop drop);

  bool contains(std::string_view text) const { return last_up_to(text) == text; }
  // Whether one of the texts is a prefix of this one. Only the last text that is not greater can
  // be.
  bool begins(std::string_view text) const {
    const auto last = last_up_to(text);
    return last && text.starts_with(*last);
  }

  std::size_t size() const { return starts_.size(); }
  // Memory in bytes, including the reserve.
  std::size_t bytes() const { return texts_.capacity() + starts_.capacity() * sizeof(Start); }
  // Visits the texts in sorted order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Start start : starts_) visit(text_at(start));
  }

 private:
  using Start = std::uint32_t;

  std::string_view text_at(std::size_t start) const {
    return std::string_view(texts_).substr(start, texts_.find('\n', start) - start);
  }
  std::optional<std::string_view> last_up_to(std::string_view text) const;

  std::string texts_;
  std::vector<Start> starts_;
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

// Immutable: any number of threads may call this. A request that is not listed costs one cache line
// of a filter for each label of its host. If the filter says "perhaps", the texts are compared, so
// an error of the filter costs only time.
class List {
 public:
  List() = default;  // names nothing

  // Whether the list names the host of a request, its URL (byte for byte in the form of
  // http::Target), or the address that is its host. A tunnel counts as https://host:port/.
  bool names(const http::Target& target) const;

  // Whether a listed range contains the address. A NAT64 address is also tested by its IPv4
  // address.
  bool names(const config::Address& address) const;

  bool has_addresses() const { return networks_.size() > 0; }
  // The number of distinct entries. A range or prefix inside another one does not count.
  std::size_t entries() const { return hosts_.size() + prefixes_.size() + networks_.size(); }
  // Memory in bytes.
  std::size_t bytes() const;

 private:
  friend class ListBuilder;

  bool perhaps(std::string_view text) const;
  bool names_host(std::string_view host) const;
  bool names_url(std::string_view url) const;

  SortedTexts hosts_;
  SortedTexts prefixes_;
  NetworkSet networks_;
  std::optional<digest::BlockedFilter> filter_;  // hosts, and origins of prefixes; none: empty
};

// Collects entries in canonical form (http::Target) and makes a list of them. For one thread.
class ListBuilder {
 public:
  static constexpr double kRate = 0.005;  // 12 bits for each host

  // `no_room`: the list is full. Its bounds (see the sets) are far above the size of real lists.
  enum class Added : std::uint8_t { yes, no_room };
  Added add_host(std::string_view host);
  Added add_prefix(std::string_view url);
  Added add(const config::Network& network);

  // `rate`, between 0 and 1, is how often the filter may say "perhaps" wrongly.
  List finish(double rate = kRate) &&;

 private:
  List list_;
};

}  // namespace proxy::lists
