// The entry that the cache has for a request, and the verdict of the rules of caching.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/blocks/presence.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy {

struct Lookup {
  digest::Key key;     // of the GET, also for HEAD
  cache::Found found;  // found.entry is null if the cache has nothing
  // A time before the cache was searched. If the URL is purged later, an answer to this request
  // must not be stored.
  std::chrono::steady_clock::time_point asked;
  cache::Verdict verdict{cache::Action::fetch, http::Forward::uri_miss};
  Presence presence = Presence::stored;  // of the wanted bytes, if the entry is an object
  bool anew = false;                     // set by begin_anew()
  std::shared_ptr<FileBody> body = {};   // if the entry's body was left in its file

  [[nodiscard]] const cache::Ref<const cache::Entry>& stored() const { return found.entry; }
};

// Searches memory. `asked`: see Lookup.
Lookup look_in_memory(FetchAccess& access, const Request& request,
                      std::chrono::steady_clock::time_point asked);
// Whether the disk may have an answer that memory lacks. If so, call look_on_disk().
bool may_be_on_disk(const FetchAccess& access, const Request& request, const Lookup& lookup);
// Searches the disk. If a body was left in its file, the entry can only be served: for any other
// verdict, search again with Bodies::in_memory. LookupOnDisk::from_disk: the entry was read from
// the disk for this request.
struct LookupOnDisk {
  Lookup lookup;
  bool from_disk = false;
};
net::Task<LookupOnDisk> look_on_disk(FetchAccess& access, const Request& request, Lookup lookup,
                                     cache::Bodies bodies);

// Whether the origin must see the request's Range as it came: the request signs it, or the origin
// is known to refuse ranges of our own.
bool keeps_its_range(const FetchAccess& access, const Request& request);

// Sets verdict and presence. Only this function decides what happens to a request.
void decide(const FetchAccess& access, const Request& request, Lookup& lookup);

// Whether the verdict says to answer from the cache at once.
bool answers_from_cache(const Lookup& lookup);
// Whether an entry in memory answers, as a whole.
bool answers_from_memory(const Lookup& lookup);
// Whether the entry answers, perhaps after its missing blocks have been fetched.
bool is_hit(const Lookup& lookup);

// Searches memory again for an entry that another fill may have stored since the first search.
std::optional<Lookup> look_again(FetchAccess& access, const Request& request, const Lookup& first);

// The lookup to continue with when the entry turned out to be outdated or unusable: as if nothing
// had been found.
Lookup begin_anew(Lookup lookup, const Request& request);

}  // namespace proxy
