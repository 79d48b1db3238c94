// How the Hearsays of one site agree which of them to ask about a key that none of them claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "digest/key.hpp"

namespace peers {

// The field of a question to a Hearsay that does not claim the key. Its value is the epoch of the
// asker, which is about to fetch the response. The Hearsay answers from its store, or from its own
// fetch; otherwise it remembers the asker, and names it to those that ask next.
inline constexpr std::string_view kFetchField = "Hearsay-Fetch";

// The epoch of a Hearsay's digest is its name within the site: all its neighbours know it. It
// changes with a restart, and when the digest grows.
using Epoch = std::uint64_t;

// The field of an answer to a neighbour that names the epoch of our digest (epochs_text() in
// identity.hpp), and so proves that the answer is ours. A neighbour asks for it by the same field
// with kWanted. It is for the next hop alone: a proxy neither forwards nor stores it.
inline constexpr std::string_view kEpochField = "Hearsay-Epoch";
inline constexpr std::string_view kWanted = "?1";  // true, RFC 8941 3.3.6

std::string to_text(Epoch epoch);  // 16 hex digits
// From foreign text; nothing if it is not exactly 16 hex digits.
std::optional<Epoch> parse_epoch(std::string_view text);

// Rendezvous hashing (Thaler and Ravishankar 1998): the key's owner is the member of the site with
// the greatest bid. Each member computes the same owner, as far as each knows the others.
std::uint64_t bid_for(const digest::Key& key, Epoch member);

}  // namespace peers
