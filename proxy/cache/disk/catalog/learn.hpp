// Builds the index and the purge rules from the records of the log.
#pragma once

#include <span>
#include <vector>

#include "proxy/cache/disk/catalog/index.hpp"
#include "proxy/cache/disk/catalog/purge_rules.hpp"
#include "proxy/cache/disk/catalog/segments.hpp"
#include "proxy/cache/disk/format/footer.hpp"

namespace proxy::cache::disk {

// For one thread. The constructor's arguments must outlive the learner.
class Learner {
 public:
  Learner(Index& index, const Segments& segments, PurgeRules& rules)
      : index_(index), segments_(segments), rules_(rules) {}

  // Call it for all records of each segment, in the order of the log. `segments` must have the
  // segment already, because some records are read again.
  void learn(std::span<const Listed> records, std::uint32_t segment);
  // Some purges are lost, so no earlier record counts.
  void forget_all();
  // Call it at the end: purges by prefix whose search is not complete become rules.
  void finish();

 private:
  // At this number the waiting purges are read at once, though a later record may show that their
  // search is complete. This bounds the memory.
  static constexpr std::size_t kMostWaiting = 65'536;

  // A record that is not of one key.
  void learn(const Location& place);
  void learn_searched(const Location& place);

  Index& index_;
  const Segments& segments_;
  PurgeRules& rules_;
  std::vector<Position> waiting_;  // purges by prefix, not read yet
};

}  // namespace proxy::cache::disk
