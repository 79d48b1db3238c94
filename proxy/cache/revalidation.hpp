// Asking whether a stored response still holds, and taking the answer in (RFC 9111 4.3).
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <string>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

using Conditions = boost::container::small_vector<http::Field, 2>;

// If-None-Match and If-Modified-Since for the validators it has; the first names `tags`, which are
// the entry's tag, perhaps among others. Views into the entry, and `tags`.
Conditions conditional_fields(const Entry& entry, std::string_view tags);

// Whether a 304 speaks of this entry (4.3.4): a strong tag names exactly that tag, a weak one also
// its strong form. One without any validator does if the condition that it answers named this entry
// `alone`.
bool identifies(const Entry& entry, const http::ResponseHead& not_modified, bool alone = true);

struct Freshened {
  std::shared_ptr<Entry> entry;
  std::string asker_fields;  // of the new response: see entry.hpp
  // Not `yes` if its fields forbid to keep it (it says no-store now, or private): then it
  // answers the request that asked, and the store must drop what it holds.
  Storability storability;
};

// The entry as a 304 that identifies it leaves it (3.2): the same body, the 304's times, and each
// of its end-to-end fields in place of the stored ones, except those that describe the stored bytes
// (Content-Length, -Type, -Encoding, -Range). Fields that the 304 omits stay. `request` is the one
// whose fields `not_modified` has.
Freshened freshen(Budget& budget, const Entry& entry, const RequestFacts& request,
                  const Received& not_modified);

// Likewise after a response that has more of the same representation (3.4): the entry as one that
// has this part of it, or all of it (none), without a body.
Freshened with_part(Budget& budget, const Entry& entry, const RequestFacts& request,
                    const Received& newer, const std::optional<http::ContentRange>& part);

}  // namespace proxy::cache
