// One stored response in words, whether on disk or in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/stored.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::inspect {

// What there is of the blocks of a large object.
struct HeldBlocks {
  std::vector<std::uint32_t> numbers;  // in no order
  std::uint64_t bytes = 0;
  std::uint64_t disk_bytes = 0;
};

// What other records say of one.
class Relations {
 public:
  // Of an object with this header, of so many bytes.
  virtual HeldBlocks held(const cache::disk::Stored& object, std::uint64_t length) const = 0;
  // Whether the variant is found by the selector of that number, 0 being none.
  virtual bool leads_to(const cache::disk::Stored& variant, std::uint64_t selector) const = 0;

 protected:
  ~Relations() = default;
};

// Times in seconds. Nobody knows what is nothing.
struct EntryFacts {
  // "whole"; in blocks: "large", or "part" where some are missing; "part" also of a response that
  // is a part, in memory.
  std::string_view kind = "whole";
  std::uint64_t bytes = 0;  // of the complete body
  std::uint64_t held_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::optional<std::uint64_t> age = {};        // since it was stored
  std::optional<std::uint64_t> fresh = {};      // for so long; 0: stale
  std::optional<std::uint64_t> claimable = {};  // to neighbours; 0: no longer, or never
  std::optional<unsigned> status = {};
  std::optional<std::uint64_t> hits = {};
  std::string_view where = "disk";  // "memory", or "memory and disk"
};

// Of a record; nothing for what is no entry by itself, or is one that nothing leads to.
std::optional<EntryFacts> facts_of(const cache::disk::Stored& stored, const Relations& relations,
                                   cache::Time now);
// Of what memory holds; of an object `held` is what there is of its blocks.
EntryFacts facts_of(const cache::Entry& entry, const HeldBlocks& held, cache::Time now);

// As `hearsay cache list --json` and /admin/cache/list tell them.
Report report_of(const EntryFacts& facts, std::string_view stored_as);

}  // namespace proxy::inspect
