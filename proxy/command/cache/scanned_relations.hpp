// Relations between the records of a stopped cache, found by a scan of its index.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::command {

// Knows which variants a selector still leads to, and how much of each large object is stored.
// Takes memory for each URL that varies, and for each block of each large object.
class ScannedRelations final : public inspect::Relations {
 public:
  // Reads the selectors and blocks of the cache; `contents` is not used afterwards.
  explicit ScannedRelations(const cache::disk::Contents& contents);

  inspect::StoredBlocks stored_blocks(const cache::disk::StoredRecord& object,
                                      std::uint64_t length) const override;
  bool leads_to(const cache::disk::StoredRecord& variant, std::uint64_t selector) const override;

 private:
  std::unordered_set<std::uint64_t> selectors_;
  std::unordered_map<std::uint64_t, inspect::StoredBlocks> objects_;  // by version
};

}  // namespace proxy::command
