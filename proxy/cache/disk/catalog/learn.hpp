// What a record in the log means for what counts.
#pragma once

#include <vector>

#include "proxy/cache/disk/catalog/index.hpp"
#include "proxy/cache/disk/catalog/purge_rules.hpp"
#include "proxy/cache/disk/catalog/segments.hpp"
#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

// For one thread; what it refers to outlives it.
class Learner {
 public:
  Learner(Index& index, const Segments& segments, PurgeRules& rules)
      : index_(index), segments_(segments), rules_(rules) {}

  // For all records of all segments in the order of the log. The segment is among the segments by
  // then: of some records more is read.
  void learn(const Listed& listed, std::uint32_t segment);
  // What was purged is not known: nothing of before counts.
  void forget_all();
  // At the end: purges by prefix whose search was not complete count as rules from then on.
  void finish();

 private:
  // More are read at once, though a later record may say that they are done: this bounds memory.
  static constexpr std::size_t kMostWaiting = 65'536;

  void learn_searched(const Location& place);

  Index& index_;
  const Segments& segments_;
  PurgeRules& rules_;
  std::vector<Position> waiting_;  // purges by prefix, not read yet
};

}  // namespace proxy::cache::disk
