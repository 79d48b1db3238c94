// The settings access.block and access.allow: requests that are refused to every client.
#pragma once

#include <utility>

#include "proxy/lists/list.hpp"

namespace proxy::lists {

// The allow list takes precedence. If an entry of the allow list names a request, every block of
// that request is lifted, whatever kinds the two entries have. So are the blocks of the addresses
// to which its host resolves. An address on the allow list lifts blocks of that address only: a
// host blocked by name stays blocked, since it is refused before its name is resolved. Neither list
// affects access.deny_to.
//
// An origin may treat a URL with dot segments like the one without them (RFC 3986 5.2.4). "%2e"
// counts as a dot. Such a URL is blocked if either form is listed, and allowed only if both forms
// are. Immutable: any number of threads may call this.
class AccessLists {
 public:
  AccessLists() = default;  // blocks nothing
  AccessLists(List block, List allow) : block_(std::move(block)), allow_(std::move(allow)) {}

  // Whether a list blocks the request. Called before the look-up in cache and peers.
  bool blocks(const http::Target& target) const;
  // Whether a list blocks the address. Called before a connection to it: a list may contain the
  // address of a host but not its name.
  bool blocks(const config::Address& address) const {
    return block_.names(address) && !allow_.names(address);
  }
  // Whether the request is exempt from blocks of the addresses to which its host resolves.
  bool lifts_addresses(const http::Target& target) const;

  const List& block() const { return block_; }
  const List& allow() const { return allow_; }

 private:
  List block_;
  List allow_;
};

}  // namespace proxy::lists
