// Finds a response by the digest of its body, whichever URL it was asked for by. Under the digest
// there is a record, stored like a response, which names the URL that the body is stored under.
// Nobody can ask for the record itself: its name is no URL (cache::Space::content).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/mirrors/content_name.hpp"

namespace proxy::blocks {

// Call this once the response to the request is stored, whole and verified. Makes the record if
// others may have the response by its digest (policy::shared_content_of()). Our digest claims the
// record if neighbours may have the response. A response that is purged meanwhile leaves a record
// that leads to nothing.
void record_content(FetchAccess& access, const cache::Entry& stored,
                    const policy::Request& request);

// Call this once an answer without a body has freshened the stored response. What led to that leads
// to the freshened one, as far as memory has the record.
void renew_record(FetchAccess& access, const cache::Entry& stored, const cache::Entry& freshened,
                  const policy::Request& request);

// The head of a response that has the digest, as far as the digest proves it: no server's.
std::string own_head_of(const mirrors::ContentName& name);

struct OfContent {
  digest::Key key{};                     // of the URL under which the body is stored
  cache::Ref<const cache::Entry> entry;  // null: nothing was found
};
// Finds what is stored under another URL and has the body that the request is for. The entry has a
// head that tells of the digest alone, and nothing of the other URL's server. An object may lack
// blocks. `may_ask`: whether the client may ask for the other URL, of which it is given a request;
// else nothing is found. Drops a record that leads to nothing.
net::Task<OfContent> find_by_content(FetchAccess& access, const policy::Request& request,
                                     std::function<bool(const policy::Request&)> may_ask,
                                     tiers::AskedAt asked);
// Call this if what find_by_content() has found lacks blocks, so that our digest does not claim the
// record. Once the object has all its blocks, record_content() makes the record again.
void remove_record(FetchAccess& access, const policy::Request& request);

}  // namespace proxy::blocks
