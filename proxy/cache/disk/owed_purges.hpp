// Purges that could not be written. They must be written before any other record.
#pragma once

#include <utility>
#include <vector>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/new_record.hpp"

namespace proxy::cache::disk {

// The next start knows only the log: an entry that was purged in memory only would be back. For the
// writer's thread.
class OwedPurges {
 public:
  // The catalog outlives this object.
  explicit OwedPurges(Catalog& catalog) : catalog_(catalog) {}

  // Adds a purge. It counts in memory from now on. Too many purges become one of everything.
  void add(NewRecord record);
  void add_everything();
  bool empty() const { return records_.empty(); }
  // Removes and returns all purges. The caller adds those again that still cannot be written.
  std::vector<NewRecord> take() { return std::exchange(records_, {}); }

  // A purge was written.
  void note_written() { written_elsewhere_ = directory_left_; }
  // The directory is gone. Another directory may appear in its place.
  void note_directory_left() { directory_left_ = true; }
  bool directory_left() const { return directory_left_; }
  // Whether a purge was written after the directory had gone. It may have been written to another
  // directory, so the first one may lack it when it is back.
  bool written_elsewhere() const { return written_elsewhere_; }

 private:
  Catalog& catalog_;
  std::vector<NewRecord> records_;
  bool directory_left_ = false;
  bool written_elsewhere_ = false;
};

}  // namespace proxy::cache::disk
