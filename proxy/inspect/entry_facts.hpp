// The facts of one stored response, on disk or in memory; of one record on disk; of damage to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::inspect {

// The blocks of a large object that are stored.
struct StoredBlocks {
  std::vector<std::uint32_t> numbers;  // unordered
  std::uint64_t bytes = 0;
  std::uint64_t disk_bytes = 0;
};

// The facts of a record that depend on other records. A running proxy and a stopped cache find them
// in different ways.
class Relations {
 public:
  // The blocks stored for the object with this header, which has `length` bytes.
  virtual StoredBlocks stored_blocks(const cache::disk::StoredRecord& object,
                                     std::uint64_t length) const = 0;
  // Whether a look-up finds the variant: the selector of its URL has the number `selector`, or
  // `selector` is 0, so none is needed.
  virtual bool leads_to(const cache::disk::StoredRecord& variant, std::uint64_t selector) const = 0;

 protected:
  ~Relations() = default;
};

// Times are in seconds. A fact without a value is unknown.
struct EntryFacts {
  // "whole": a small response. "large": an object in blocks, all stored. "part": an object with
  // blocks missing, or a response that is itself a part (206).
  std::string_view kind = "whole";
  std::uint64_t bytes = 0;  // of the complete body
  std::uint64_t held_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::optional<std::uint64_t> age = {};        // since the response was received
  std::optional<std::uint64_t> fresh = {};      // remaining; 0: stale
  std::optional<std::uint64_t> claimable = {};  // remaining; 0: not claimable as a whole
  std::optional<unsigned> status = {};
  std::optional<std::uint64_t> hits = {};
  std::string_view where = "disk";  // or "memory", or "memory and disk"
};

// The facts of a record. Nothing for a block, a selector, or a variant that no look-up finds.
std::optional<EntryFacts> facts_of(const cache::disk::StoredRecord& stored,
                                   const Relations& relations, cache::Time now);
// The facts of an entry in memory. `held`: the stored blocks, if the entry is a large object.
EntryFacts facts_of(const cache::Entry& entry, const StoredBlocks& held, cache::Time now);

// The line that `hearsay cache list --json` and /admin/cache/list print.
Report report_of(const EntryFacts& facts, std::string_view stored_as);

// Every field of the record, whether its checksums fit, and last, as "head", the response's head.
// Foreign bytes are not escaped. Reads the body; waits for the disk.
Report record_of(const cache::disk::Key& key, const cache::disk::StoredRecord& stored,
                 const Relations& relations);
// The facts of an entry that only memory holds.
Report record_of(const cache::Entry& entry, const StoredBlocks& held);

Report report_of(const cache::disk::Damage& damage);

}  // namespace proxy::inspect
