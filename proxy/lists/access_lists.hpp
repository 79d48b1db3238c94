// The settings access.block and access.allow: requests that are refused to every client.
#pragma once

#include <utility>

#include "proxy/lists/list.hpp"

namespace proxy::lists {

// The allow list takes precedence. An entry of it that names a request lifts every block of that
// request, whatever kinds the two entries have, and the blocks of the addresses that its host
// resolves to. An address on the allow list lifts blocks of that address only: a host blocked by
// name stays blocked, since it is refused before its name is resolved. Neither list affects
// access.deny_to.
//
// An origin may treat a URL with dot segments like the one without them (RFC 3986 5.2.4; "%2e"
// likewise). Such a URL is blocked if either of the two is, and allowed if both are. Immutable: any
// number of threads may ask.
class AccessLists {
 public:
  AccessLists() = default;  // blocks nothing
  AccessLists(List block, List allow) : block_(std::move(block)), allow_(std::move(allow)) {}

  // Asked before cache and peers.
  bool blocks(const http::Target& target) const;
  // Asked when connecting, since an address may be listed under another name than the request's.
  bool blocks(const config::Address& address) const {
    return block_.names(address) && !allow_.names(address);
  }
  // Whether blocks() need not be asked about the addresses of this request.
  bool lifts_addresses(const http::Target& target) const;

  const List& block() const { return block_; }
  const List& allow() const { return allow_; }

 private:
  List block_;
  List allow_;
};

}  // namespace proxy::lists
