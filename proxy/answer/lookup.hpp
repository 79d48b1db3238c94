// What the cache has for a request, and what the rules of caching say to do about it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "digest/key.hpp"
#include "proxy/blocks/presence.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/request/request.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

struct Lookup {
  digest::Key key;     // of the GET, also for HEAD
  cache::Found found;  // found.entry is null if the cache has nothing
  // Before the cache was searched: what is purged later must not be stored from an older answer.
  std::chrono::steady_clock::time_point asked;
  cache::Verdict verdict{cache::Action::fetch, http::Forward::uri_miss};
  Presence presence = Presence::stored;  // of the bytes wanted; for an entry that is an object's
  bool anew = false;                     // set by begin_anew()

  [[nodiscard]] const std::shared_ptr<const cache::Entry>& stored() const { return found.entry; }
};

// Searches memory.
Lookup look_in_memory(Process& process, const Request& request);
// Whether the disk may have an answer that memory lacks; if so, look_on_disk().
bool may_be_on_disk(const Process& process, const Request& request, const Lookup& lookup);
// Searches the disk. `from_disk` of the result: the entry was read from there for this request.
struct LookupOnDisk {
  Lookup lookup;
  bool from_disk = false;
};
net::Task<LookupOnDisk> look_on_disk(Worker& worker, const Request& request, Lookup lookup);

// Sets verdict and presence. The only place that decides what happens to a request.
void judge(const Process& process, const Request& request, Lookup& lookup);

// Whether the verdict is to answer from the cache at once.
bool answers_from_cache(const Lookup& lookup);
// Whether the entry answers, after missing blocks of it have been fetched at most.
bool is_hit(const Lookup& lookup);

// Searches memory again: a hit that another fill has stored since the first search.
std::optional<Lookup> look_again(Process& process, const Request& request, const Lookup& first);

// What to do when the entry found turned out to be outdated or unusable: as if there were none.
Lookup begin_anew(Lookup lookup, const Request& request);

}  // namespace proxy
