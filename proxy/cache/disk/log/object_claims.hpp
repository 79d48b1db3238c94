// Whether neighbours may be told that a large object is here: only while all its blocks are.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/appender.hpp"

namespace proxy::cache::disk {

// Keeps the claim of each object in step with its blocks. The record of an object or selector has a
// flag (kAllHeld) that says whether all blocks were found when it was written. When blocks are lost
// or added, the claim is doubted, and a review writes the record again with the other flag where
// that is wrong. For the writer's thread; waits for the disk.
class ObjectClaims {
 public:
  using Doubts = std::set<std::pair<Key, std::uint64_t>>;

  // Both outlive this object.
  ObjectClaims(Catalog& catalog, Appender& appender) : catalog_(catalog), appender_(appender) {}

  // Has the claim of an object reviewed. `object`: the key of its URL; `version`: of the object, or
  // 0 for any.
  void doubt(const Key& object, std::uint64_t version) { doubted_.emplace(object, version); }
  // Blocks of unknown objects were lost: unclaims every object at once, and has each reviewed.
  void doubt_objects();

  // Reviews some of the doubted claims. `begin_segment` is called where the segment lacks room for
  // a record. False when none is left.
  Result<bool> settle(const std::function<Result<void>()>& begin_segment);
  // Reviews every doubted claim, as far as the segment has room for records.
  Result<void> settle_all();

  // Takes all doubts away, and adds them again: so that settle_all() reviews only later ones.
  Doubts take() { return std::exchange(doubted_, {}); }
  void add(Doubts doubts) { doubted_.merge(doubts); }
  void clear() { doubted_.clear(); }

  // Whether every block of the object that this record tells of is found.
  bool holds_all(const RecordHeader& header, std::string_view url) const;
  // Whether one of the object's first 1024 blocks is found.
  bool holds_any(const Key& key, const Location& object) const;
  // Whether no object with the block's version is found under its URL's key. False where the URL
  // has variants: nothing leads from the URL to all of them.
  bool is_orphan(const RecordHeader& block) const;

 private:
  // False where the segment lacks room for the record.
  Result<bool> review(const Key& key, std::uint64_t version);

  Catalog& catalog_;
  Appender& appender_;
  Doubts doubted_;
};

}  // namespace proxy::cache::disk
