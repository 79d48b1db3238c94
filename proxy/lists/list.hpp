// One list of hosts, URL prefixes and address ranges, and whether it names something: exactly.
#pragma once

#include <optional>
#include <string_view>

#include "config/networks.hpp"
#include "digest/blocked_filter.hpp"
#include "digest/siphash.hpp"
#include "proxy/http/target.hpp"
#include "proxy/lists/network_set.hpp"
#include "proxy/lists/prefix_set.hpp"
#include "proxy/lists/text_set.hpp"

namespace proxy::lists {

// Immutable: any number of threads may ask. What is named nowhere, as nearly everything, costs one
// cache line of a filter for each label of its host; where the filter says "perhaps" the texts
// themselves decide, so that its errors cost time and nothing else.
class List {
 public:
  List() = default;  // names nothing

  // Whether the host of a request, its URL (byte for byte in the form of http::Target), or the
  // address that it has for a host is listed. A tunnel counts as https://host:port/.
  bool names(const http::Target& target) const;

  // Whether the address is in a listed range; one of NAT64 also by the IPv4 address inside it.
  bool names(const config::Address& address) const;

  bool has_addresses() const { return networks_.size() > 0; }
  // Distinct ones; a range or prefix within another is none.
  std::size_t entries() const { return hosts_.size() + prefixes_.size() + networks_.size(); }
  // Of memory.
  std::size_t bytes() const;

 private:
  friend class ListBuilder;

  bool perhaps(std::string_view text) const;
  bool names_host(std::string_view host) const;
  bool names_url(std::string_view url) const;

  digest::Salt salt_{};
  TextSet hosts_{salt_};
  PrefixSet prefixes_;
  NetworkSet networks_;
  std::optional<digest::BlockedFilter> filter_;  // hosts, and the origins of prefixes; none: empty
};

// Collects entries in their canonical form (http::Target) and makes a list of them. For one thread.
class ListBuilder {
 public:
  static constexpr double kRate = 0.005;  // 12 bits for each host

  ListBuilder();

  // False: there is no room for it; a list has bounds (see the sets) that no real one comes near.
  bool add_host(std::string_view host);
  bool add_prefix(std::string_view url);
  bool add(const config::Network& network);

  // `rate`: how often the filter may say "perhaps" in vain, between 0 and 1.
  List finish(double rate = kRate) &&;

 private:
  List list_;
};

}  // namespace proxy::lists
