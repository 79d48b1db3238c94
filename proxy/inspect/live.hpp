// What a proxy that runs holds, told a slice at a time: lines of JSON, an object on each.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/cache/disk/verify.hpp"
#include "proxy/cache/disk_tier.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::inspect {

// Both outlive what looks into them.
struct Live {
  const cache::Store& memory;
  cache::DiskTier* disk = nullptr;  // null: memory is all there is
};

// Work that is done in slices, so that it holds up nobody. Its memory is bounded, whatever is held.
class Slices {
 public:
  virtual ~Slices() = default;
  // Appends the lines that it came to, perhaps none, and takes some milliseconds, and however long
  // the disk lets it wait; false: that was all. On any thread that may wait, one at a time.
  virtual bool next(cache::Time now, std::string& out) = 0;
};

// A line for each response whose URL, of forward or reverse mode, begins so
// (report_of(EntryFacts)): first what memory alone holds, then what is on disk, in the order in
// which it was written. What comes meanwhile may be missing, or be told of twice; `hits` is how
// often it was found since the proxy started, whatever for, 65,535 for more. In the end, if there
// is reason, how much could not be read: {"unreadable": n}; it is dropped as by any reader.
std::unique_ptr<Slices> list_live(const Live& live, std::string prefix);

// A line for each record of this URL, of both modes and all variants (record_of()), and for what
// memory alone holds. Of a URL that varies, all that is on disk is looked through.
std::unique_ptr<Slices> show_live(const Live& live, std::string url);

// Reads all that is on disk and counts now, and checks it: what is damaged is dropped and counted
// as by any reader; `tell` hears of it, and a line says it (report_of(Damage)). First comes
// {"expected_bytes": n}, at least each second {"checked_bytes": n}, in the end the summary.
std::unique_ptr<Slices> verify_live(cache::DiskTier& disk,
                                    std::function<void(const cache::disk::Damage&)> tell);

}  // namespace proxy::inspect
