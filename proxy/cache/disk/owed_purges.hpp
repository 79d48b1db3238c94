// Purges that could not be written, and must be before anything else is.
#pragma once

#include <utility>
#include <vector>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/new_record.hpp"

namespace proxy::cache::disk {

// The next start goes by the log alone: an entry that was purged in memory only would be back. For
// the writer's thread.
class OwedPurges {
 public:
  // The catalog outlives this object.
  explicit OwedPurges(Catalog& catalog) : catalog_(catalog) {}

  // Adds a purge, which counts in memory from now on. Very many become a purge of everything.
  void add(NewRecord record);
  void add_everything();
  bool empty() const { return records_.empty(); }
  // All of them; those that still cannot be written are added again.
  std::vector<NewRecord> take() { return std::exchange(records_, {}); }

  // A purge was written.
  void note_written() { written_elsewhere_ = directory_left_; }
  // The directory is gone; another one may be in its place next.
  void note_directory_left() { directory_left_ = true; }
  bool directory_left() const { return directory_left_; }
  // Whether a purge was written after the directory had gone, and so perhaps to another one: the
  // directory that comes back may lack it.
  bool written_elsewhere() const { return written_elsewhere_; }

 private:
  Catalog& catalog_;
  std::vector<NewRecord> records_;
  bool directory_left_ = false;
  bool written_elsewhere_ = false;
};

}  // namespace proxy::cache::disk
