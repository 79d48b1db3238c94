// One entry of a cache on disk, in words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/command/report.hpp"

namespace proxy::command {

// What other records say of entries: of variants whether anything still leads to them, of large
// objects how much of them is held. Small: for each URL that varies, and each large object.
class Relations {
 public:
  explicit Relations(const cache::disk::Contents& contents);

  struct Held {
    std::vector<std::uint32_t> blocks;  // their numbers, in no order
    std::uint64_t bytes = 0;
    std::uint64_t disk_bytes = 0;
  };
  // Of the object with this header.
  const Held& held(const cache::disk::RecordHeader& object) const;
  bool leads_to(std::uint64_t selector) const {
    return selector == 0 || selectors_.contains(selector);
  }

 private:
  std::unordered_set<std::uint64_t> selectors_;
  std::unordered_map<std::uint64_t, Held> objects_;  // by version
};

// What is known of an entry that is no block and no selector; times in seconds.
struct EntryFacts {
  std::string_view kind;    // "whole", or of those in blocks "large", "part" where some are missing
  std::uint64_t bytes = 0;  // of the complete body
  std::uint64_t held_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::optional<std::uint64_t> age = {};        // since it was stored
  std::optional<std::uint64_t> fresh = {};      // for so long; 0: stale
  std::optional<std::uint64_t> claimable = {};  // to neighbours; 0: no longer, or never
  std::optional<unsigned> status = {};
};

// Nothing for what is no entry by itself, or is one that nothing leads to.
std::optional<EntryFacts> facts_of(const cache::disk::Stored& stored, const Relations& relations,
                                   cache::Time now);

}  // namespace proxy::command
