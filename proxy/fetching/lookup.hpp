// The entry that the cache has for a request, the verdict of the rules of caching, and what a miss
// asks for. answer/ searches, explain/ peeks; both decide here.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/presence.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/allowed.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy::fetching {

// What the cache has: found.entry is null if it has nothing.
struct Lookup : tiers::Stored {
  digest::Key key;  // of the GET, also for HEAD
  // A time before the cache was searched. If the URL is purged later, an answer to this request
  // must not be stored.
  std::chrono::steady_clock::time_point asked;
  cache::Verdict verdict{cache::Action::fetch, http::Forward::uri_miss};
  blocks::Presence presence = blocks::Presence::stored;  // of the wanted bytes of an object
  bool anew = false;                                     // set by begin_anew()

  [[nodiscard]] const cache::Ref<const cache::Entry>& stored() const { return found.entry; }
};

// The lookup to continue with when the entry turned out to be outdated or unusable: as if nothing
// had been found.
Lookup begin_anew(Lookup lookup, const policy::Request& request);

// Sets verdict and presence. Only this function decides what happens to a request.
void decide(const blocks::FetchAccess& access, const policy::Request& request, Lookup& lookup);

// Whether the verdict says to answer from the cache at once.
bool answers_from_cache(const Lookup& lookup);
// Whether the entry answers, perhaps after its missing blocks have been fetched.
bool is_hit(const Lookup& lookup);

// Whom the request may ask by the verdict `how`, and with whom it may share the answer. Takes locks
// of all threads, so it is worth keeping.
sources::Allowed allowed_for(const blocks::FetchAccess& access, const policy::Request& request,
                             const Lookup& lookup, const cache::Verdict& how);
inline sources::Allowed allowed_for(const blocks::FetchAccess& access,
                                    const policy::Request& request, const Lookup& lookup) {
  return allowed_for(access, request, lookup, lookup.verdict);
}

// Whether no other range than the client's is asked for: the request signs its range, its answer is
// probably not stored because of its credentials, its origin refuses other ranges, or another range
// was of no use to it.
bool asks_as_it_came(const blocks::FetchAccess& access, const policy::Request& request,
                     const Lookup& lookup);

// The range to ask for in place of the client's: that of the blocks around it, or the same range.
// It is sent without If-Range, because the answer to If-Range may lack most of its head (RFC 9110
// 15.3.7). Nothing: ask for what the client asks for.
std::optional<http::AskedRange> range_override(const blocks::FetchAccess& access,
                                               const policy::Request& request,
                                               const Lookup& lookup);

// As range_override(), for siblings. They end a range where the object ends, so they may be asked
// for whole blocks even if its length is unknown.
std::optional<http::AskedRange> sibling_range(const blocks::FetchAccess& access,
                                              const policy::Request& request, const Lookup& lookup);

}  // namespace proxy::fetching
