// The settings access.block and access.allow: which requests are refused whoever asks.
#pragma once

#include <utility>

#include "proxy/lists/list.hpp"

namespace proxy::lists {

// The allow list wins: whatever of it names a request lifts every block of that request, of
// whatever kind either is, and of the addresses that its host leads to as well. What is allowed by
// an address alone is lifted for that address: a host that is blocked by its name stays so, for it
// is refused before its name is looked up. Neither list touches access.deny_to. A URL with dot
// segments may be taken for the one without them by its origin (RFC 3986 5.2.4, "%2e" likewise): it
// is blocked if either is, and allowed if both are. Immutable: any number of threads may ask.
class AccessLists {
 public:
  AccessLists() = default;  // block nothing
  AccessLists(List block, List allow) : block_(std::move(block)), allow_(std::move(allow)) {}

  // Before cache and peers are asked.
  bool blocks(const http::Target& target) const;
  // At the moment of connecting; the same address may be listed under other names.
  bool blocks(const config::Address& address) const {
    return block_.names(address) && !allow_.names(address);
  }
  // Whether the second question need not be asked for this request.
  bool lifts_addresses(const http::Target& target) const;

  const List& block() const { return block_; }
  const List& allow() const { return allow_; }

 private:
  List block_;
  List allow_;
};

}  // namespace proxy::lists
