// Decides whether our digest may claim a large object: as a whole only while all its blocks are
// here, and in part while some are.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "proxy/cache/disk/appender.hpp"
#include "proxy/cache/disk/catalog.hpp"

namespace proxy::cache::disk {

// Keeps the claim of each object in step with its blocks. The record of an object or selector says
// which blocks were found when the record was written (RecordHeader::blocks()). When blocks are
// lost or added, the claim is doubted: marked for review. If the record is wrong, the review writes
// it again with the right number. For the writer's thread; waits for the disk.
class ObjectClaims {
 public:
  using Doubts = std::set<std::pair<Key, std::uint64_t>>;

  // Both outlive this object.
  ObjectClaims(Catalog& catalog, Appender& appender) : catalog_(catalog), appender_(appender) {}

  // Marks the claim of an object for review. `object`: the key of its URL; `version`: of the
  // object, or 0 for any.
  void doubt(const Key& object, std::uint64_t version) { doubted_.emplace(object, version); }
  // Blocks of unknown objects were lost: unclaims every object at once, and marks each for review.
  void doubt_objects();

  // Reviews some of the doubted claims. Calls `begin_segment` if the segment lacks room for a
  // record. False when no doubted claim is left.
  Result<bool> settle(const std::function<Result<void>()>& begin_segment);
  // Reviews every doubted claim, as far as the segment has room for records.
  Result<void> settle_all();

  // take() removes all doubts and add() puts them back: settle_all() between them reviews only
  // newer doubts.
  Doubts take() { return std::exchange(doubted_, {}); }
  void add(Doubts doubts) { doubted_.merge(doubts); }
  void clear() { doubted_.clear(); }

  // Whether the index has all, some or none of the blocks of an object. `header`: of the object's
  // record, or of its selector's. Also `none` if it has only blocks after the first 1024.
  Blocks blocks_held(const RecordHeader& header, std::string_view url) const;
  // Whether one of the object's first 1024 blocks is found.
  bool holds_any(const Key& key, const Location& object) const;
  // Whether the block's object is gone: no object with its version is found under its URL's key.
  // False if the URL has variants, because nothing leads from the URL to all of them.
  bool is_orphan(const RecordHeader& block) const;

 private:
  std::optional<std::uint32_t> first_held(const RecordHeader& header, const Key& key) const;
  enum class Reviewed : std::uint8_t { done, no_room };  // in the segment, for the record
  Result<Reviewed> review(const Key& key, std::uint64_t version);

  Catalog& catalog_;
  Appender& appender_;
  Doubts doubted_;
};

}  // namespace proxy::cache::disk
