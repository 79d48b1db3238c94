// Describes the stored responses of a running proxy: those of one name, or many, a slice at a time,
// as lines of JSON.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/store.hpp"
#include "proxy/inspect/entry_facts.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy::inspect {

// The cache of a running proxy. Both tiers must outlive each SlicedWalk made from this.
struct Live {
  const cache::Store& memory;
  cache::DiskTier* disk = nullptr;  // null: there is no disk
};

// A long walk through the cache in slices, so that no thread is busy for long. Takes bounded
// memory, whatever the size of the cache.
class SlicedWalk {
 public:
  virtual ~SlicedWalk() = default;
  // Makes the next slice and appends its lines, perhaps none, to `out`. Takes some milliseconds,
  // plus the wait for the disk. Returns whether there is more to do. Any thread that may wait for
  // the disk, one at a time.
  virtual bool next(machine::Clock& clock, std::string& out) = 0;
};

// Gives a line (report_of(EntryFacts)) for each response whose URL, of forward or reverse mode,
// begins with `prefix`: first the responses that only memory holds, then those on disk in the order
// in which they were written. A response stored meanwhile may be missing or appear twice. `hits`
// counts all look-ups that found it since the proxy started, up to 4,095. The last line is
// {"unreadable": n} if n records could not be read. Such records are dropped, as in every read.
std::unique_ptr<SlicedWalk> list_live(const Live& live, std::string prefix);

// Sums the responses that list_live() lists and whose URL contains `contains`, in any case of
// letters. While it searches, a line {"searched": n} shows the number of responses found so far, at
// least each second. At the end it gives a line {"host", "entries", "bytes", "hits"} for each of
// the 200 hosts that take most, by bytes stored; {"other_hosts", "entries", "bytes", "hits"} for
// the rest, if there is one. It tells 20,000 hosts apart; further ones count in neither "hosts" nor
// "other_hosts", but their responses do. Then it gives a line of list_live() for each of the 200
// largest responses; and last
// {"hosts", "entries", "bytes", "hits"}.
std::unique_ptr<SlicedWalk> sum_live(const Live& live, std::string contains);

// Gives a line (record_of()) for each record of the URL, of both modes and all variants, and for
// each of its entries that only memory holds. If the URL has variants, searches all records on
// disk.
std::unique_ptr<SlicedWalk> show_live(const Live& live, std::string url);

// Reads and checks every record that the disk's index knows. A damaged record is dropped and
// counted, as in every read. `tell` is called with it, and a line reports it (report_of(Damage)).
// The first line is {"expected_bytes": n}; {"checked_bytes": n} follows at least each second; the
// last line is the summary.
std::unique_ptr<SlicedWalk> verify_live(cache::DiskTier& disk,
                                        std::function<void(const cache::disk::Damage&)> tell);

// The result of peek(): what a look-up would find. Unlike a look-up, peek() counts
// and stores nothing. It drops a damaged record, as every read does.
struct Peeked {
  struct One {
    cache::Ref<const cache::Entry> entry;  // from disk: without its body
    EntryFacts facts;
  };
  std::vector<One> all;       // all in memory, and the one on disk that the request selects
  cache::Found found = {};    // what a look-up would find; its entry is one of `all`
  bool varies_there = false;  // the disk may have more variants, which are not in `all`
};

// Looks at the responses stored under `name`, for a request with these fields. Counts no use, moves
// nothing between memory and disk. `budget` is charged for entries of the disk while they exist.
// Waits for the disk.
Peeked peek(const Live& live, cache::Budget& budget, const std::string& name,
            const http::Fields& request, cache::Time now);

}  // namespace proxy::inspect
