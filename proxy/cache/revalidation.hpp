// Validating a stored response, and updating it from the response (RFC 9111 4.3).
#pragma once

#include <boost/container/small_vector.hpp>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

using Conditions = boost::container::small_vector<http::Field, 2>;

// If-None-Match and If-Modified-Since for the validators of the entry. `tags` are the entry's tag,
// perhaps with others. A guest's Last-Modified is not used: see Entry::has_validator(). The result
// has views into the entry and `tags`.
Conditions conditional_fields(const Entry& entry, std::string_view tags);

// Whether a 304 is about this entry (4.3.4): a strong tag must be the entry's tag, a weak one may
// also be its strong form. A 304 without validators is about the entry if the entry was the only
// one that the condition named. A 304 that names other content codings than the entry's is about
// another representation. `tags`: those of the condition; empty: the entry's alone.
bool identifies(const Entry& entry, const http::ResponseHead& not_modified,
                std::string_view tags = {});

struct Freshened {
  Ref<Entry> entry;
  std::string asker_fields;  // of the new response: see entry.hpp
  // Not `yes` if the fields now forbid storing (such as no-store or private). The entry then
  // answers only the request that asked, and the store must drop its copy.
  Storability storability;
};

// The entry updated by a 304 that identifies it (3.2): the same body, the times of the 304, and its
// end-to-end fields in place of the stored ones, except fields that describe the stored bytes
// (Content-Length, -Type, -Encoding, -Range). Fields that the 304 omits stay. A Set-Cookie that may
// not be stored (may_store_cookie()) is in asker_fields. The giver is that of the 304: an origin
// that sends one has confirmed the body. What a guest said about freshness does not stay. `request`
// is the request whose fields `not_modified` holds.
Freshened freshen(Budget& budget, const Entry& entry, const RequestFacts& request,
                  const Received& not_modified);

// The entry updated likewise by a response with more of the same representation (3.4). The result
// has no body. Its head states the part `part` of the representation, or all of the representation
// if `part` is empty. The giver of the result is giver_of_both().
Freshened with_part(Budget& budget, const Entry& entry, const RequestFacts& request,
                    const Received& newer, const std::optional<http::ContentRange>& part);

}  // namespace proxy::cache
