// A list of hosts, URL prefixes and address ranges, with an exact test of membership.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/networks.hpp"
#include "digest/blocked_filter.hpp"
#include "proxy/http/target.hpp"
#include "proxy/lists/sets.hpp"

namespace proxy::lists {

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

  TextSet hosts_;
  PrefixSet prefixes_;
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
