// The request heads that a fill sends: to a sibling, to the origin, and for the rest of a body.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/entry.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::sources {

// A part to ask a sibling for. `validator`: the strong validator of the wanted version; empty: any
// version.
struct PartAsked {
  http::AskedRange bytes;
  std::string_view validator = {};
  bool first_will_do = false;  // whole blocks at its beginning will do (peers::kPartField)
};
// What a sibling is asked for: the whole response, unless `part` is set. Refers to text that the
// caller keeps.
struct SiblingQuestion {
  std::optional<PartAsked> part = {};
  // The entity tag of the stale response that is stored here: a sibling with the same response
  // answers 304. Empty: none.
  std::string_view tag = {};
  // The ETag of the sibling's digest that claims the URL (peers::kDigestField). Empty: none.
  std::string_view digest = {};
  // The value of peers::kFetchField, if the sibling has not claimed the URL. Empty: it has.
  std::string_view fetcher = {};
  std::chrono::seconds least_freshness{0};  // as min-fresh, unless the client demands more
  bool stale_will_do = false;               // the origin is away (max-stale)
};
// The head of a request to a sibling: in absolute-form, with only-if-cached, and without
// credentials and cookies, since a sibling is asked only for responses that it may give to any
// client.
std::string sibling_request(const policy::Request& request, std::string_view our_name,
                            const SiblingQuestion& asked = {}, std::string_view method = "GET");

// The head of a GET to the origin for the whole response, to compare with a sibling's answer. It
// lacks the fields that a sibling does not get, such as conditions, credentials and cookies.
std::string check_request(const policy::Request& request, std::string_view our_name);

// Whether the answer's Vary names a field that the client sent and the sibling did not get. Such an
// answer is for another request (RFC 9111 4.1).
bool selected_by_withheld(const http::ResponseHead& answer, const policy::Request& request);

// What is stored here of what the origin is asked for. `tags`: to validate it by.
struct StoredToRenew {
  const cache::Entry* entry = nullptr;  // null: nothing
  std::string_view tags = {};
};
// The head of a request to the origin, in origin-form, without the client's own conditions, and
// without its Range unless a part is asked for.
// - `how` is revalidate: the request is conditional, and names `tags`.
// - `how` is complete: asks for the missing bytes if the representation is unchanged, as far as a
//   strong validator can tell, in the codings of the entry as range_request() does.
// - `range_override` replaces the client's range. The client's If-Range is left out.
// - The client is ahead of the cache (cache::judge), and its Cache-Control does not say so: adds
//   no-cache, for parents.
std::string origin_request(const policy::Request& request, std::string_view our_name,
                           const cache::Verdict& how, const StoredToRenew& known = {},
                           const std::optional<http::AskedRange>& range_override = std::nullopt);

// The head of a request to the origin for the bytes from `offset` on, if they are of the same
// representation as `entry`, which this request has begun to fetch. Nothing if the entry has no
// strong validator to prove that by (RFC 9110 13.1.5).
std::optional<std::string> rest_request(const policy::Request& request, std::string_view our_name,
                                        const cache::Entry& entry, std::uint64_t offset);

// As rest_request(), for the range `bytes` of an object that has a strong validator. Another
// request may have fetched the object, with another Accept-Encoding. So this one asks for the
// object's codings, unless Vary has selected the object by Accept-Encoding.
std::string range_request(const policy::Request& request, std::string_view our_name,
                          const cache::Entry& object, const http::ByteRange& bytes);

// An interim response's head as it is passed on, including the empty line.
std::string interim_text(const http::ResponseHead& head, std::string_view our_name);

// How many bytes of the answer's body to skip, so that the remaining ones continue at `offset`: 0
// for a 206 that fits, `offset` for a 200 that policy::may_continue() the entry. `length`: the
// complete length, if known. Nothing if the answer may not be joined.
std::optional<std::uint64_t> joins_after(const http::ResponseHead& answer,
                                         const cache::Entry& entry, std::uint64_t offset,
                                         std::optional<std::uint64_t> length,
                                         const policy::Request& request);

}  // namespace proxy::sources
