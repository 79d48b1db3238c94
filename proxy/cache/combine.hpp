// Parts of one representation that come one after the other (RFC 9111 3.3, 3.4; RFC 9110 15.3.7.3):
// what is asked for to complete one, what may be joined, and what is kept of two. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/policy.hpp"

namespace proxy::cache {

// Whether the answer is of the very representation that is held, by a strong validator.
bool same_representation(const Entry& held, const http::Fields& answer);

// What a request wants beyond what is held: one range, right after it.
struct Rest {
  std::uint64_t from = 0;             // the first byte that the client wants; it is held
  std::uint64_t first = 0;            // the first one that is not
  std::optional<std::uint64_t> last;  // none: all that follow

  bool operator==(const Rest&) const = default;
};

// Nothing where that is not one range after a part whose first bytes are held: then what is asked
// for is fetched as it was asked for. A plain GET wants the whole.
std::optional<Rest> rest_wanted(const RequestFacts& request, const Entry& held);
// The value of Range that asks for it.
std::string range_of(const Rest& rest);

// Which bytes the client gets when the answer is joined to what is held; nothing where it may not
// be: it is no 206 of the same representation, has other bytes than were asked for, or does not
// promise all of them.
std::optional<http::ContentRange> joined(const Rest& rest, const Entry& held,
                                         const http::ResponseHead& answer);

// A body without its first `skipped` bytes, which it has. Copies one block at most.
Body without_first(Budget& budget, const Body& body, std::uint64_t skipped);

// What to store now that a part has come whole: `newer` alone, or with what was held (null:
// nothing) where both are of one representation and touch; what is complete is no part any more.
// Null: what is held is better kept as it is, or `newer` has more bytes than it says. `response` is
// the message that brought `newer`; no more than `most` bytes are joined.
std::shared_ptr<const Entry> combine(Budget& budget, const Entry* held,
                                     const std::shared_ptr<const Entry>& newer,
                                     const RequestFacts& request, const Received& response,
                                     std::uint64_t most);

}  // namespace proxy::cache
