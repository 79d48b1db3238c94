// Describes what a running proxy has stored, a slice at a time: lines of JSON, one object each.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/cache/disk/format/verify.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::inspect {

// The cache of a running proxy. Both tiers must outlive all Slices made from this.
struct Live {
  const cache::Store& memory;
  cache::DiskTier* disk = nullptr;  // null: there is no disk
};

// A long walk through the cache, done in slices, so that no thread is busy with it for long. Its
// memory is bounded, however much is stored.
class Slices {
 public:
  virtual ~Slices() = default;
  // Does the next slice and appends its lines to `out`, perhaps none. Takes some milliseconds, plus
  // the time it waits for the disk. Returns whether there is more to do. Callable from any thread
  // that may wait, by one thread at a time.
  virtual bool next(cache::Time now, std::string& out) = 0;
};

// Gives a line (report_of(EntryFacts)) for each response whose URL, of forward or reverse mode,
// begins with `prefix`: first the responses that only memory holds, then those on disk in the order
// in which they were written. A response stored meanwhile may be missing or appear twice. `hits`
// counts all look-ups that found it since the proxy started, up to 65,535. The last line is
// {"unreadable": n} if n records could not be read; they are dropped, as by any reader.
std::unique_ptr<Slices> list_live(const Live& live, std::string prefix);

// Gives a line (record_of()) for each record of the URL, of both modes and all variants, and for
// each of its entries that only memory holds. If the URL has variants, searches all that is on
// disk.
std::unique_ptr<Slices> show_live(const Live& live, std::string url);

// Reads and checks every record that the disk's index knows. A damaged record is dropped and
// counted, as by any reader; `tell` is called with it, and a line reports it (report_of(Damage)).
// The first line is {"expected_bytes": n}; {"checked_bytes": n} follows at least each second; the
// last line is the summary.
std::unique_ptr<Slices> verify_live(cache::DiskTier& disk,
                                    std::function<void(const cache::disk::Damage&)> tell);

}  // namespace proxy::inspect
