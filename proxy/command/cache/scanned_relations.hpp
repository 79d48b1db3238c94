// What the records of a stopped cache say of each other.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "proxy/cache/disk/contents.hpp"
#include "proxy/inspect/entry_facts.hpp"

namespace proxy::command {

// Of variants whether anything still leads to them, of large objects how much of them is held.
// Small: for each URL that varies, and each large object.
class ScannedRelations final : public inspect::Relations {
 public:
  explicit ScannedRelations(const cache::disk::Contents& contents);

  inspect::HeldBlocks held(const cache::disk::Stored& object, std::uint64_t length) const override;
  bool leads_to(const cache::disk::Stored& variant, std::uint64_t selector) const override;

 private:
  std::unordered_set<std::uint64_t> selectors_;
  std::unordered_map<std::uint64_t, inspect::HeldBlocks> objects_;  // by version
};

}  // namespace proxy::command
