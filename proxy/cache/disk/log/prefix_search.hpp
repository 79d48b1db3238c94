// Finds the entries that purges by prefix cover, some at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/catalog/walk.hpp"
#include "proxy/cache/disk/log/new_record.hpp"
#include "proxy/cache/disk/log/object_claims.hpp"

namespace proxy::cache::disk {

// A purge rule hides entries at once, but while there are rules, each look-up has to ask them. A
// rule may cover a block of an object that stays: the claim of that object is doubted then. The
// search reads every older entry and writes records (`searched`) that list those that a rule
// covers. Then the rule is dropped. For the writer's thread; waits for the disk.
class PrefixSearch {
 public:
  // Appends a record and returns once it is written.
  using Write = std::function<Result<void>(NewRecord)>;

  // The size of a segment bounds a record. All outlive this object.
  PrefixSearch(const LogLimits& limits, Catalog& catalog, ObjectClaims& claims)
      : limits_(limits), catalog_(catalog), claims_(claims) {}

  // Looks at some more entries in the order of the log, and records those that a rule covers. At
  // the end of the log, records that the search is complete, so that no start searches again. False
  // when no rule is left.
  Result<bool> step(const Write& write);
  // Forgets the progress of the search.
  void abandon();

 private:
  Result<bool> search_some(const Write& write);
  Result<void> finish(Position until, const Write& write);

  const LogLimits& limits_;
  Catalog& catalog_;
  ObjectClaims& claims_;
  std::optional<Position> until_;  // of the newest rule that this search is for
  std::optional<Walk> walk_;       // none: the search has not begun
};

}  // namespace proxy::cache::disk
