// A Bloom filter that grows with its keys while its false-positive rate stays bounded.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/sizing.hpp"

namespace digest {

enum class Growth : std::uint8_t {
  twofold = 2,
  fourfold = 4,  // fewer stages to look up, more unused space
};

struct ScalablePlan {
  std::uint64_t capacity = 1024;  // of the first stage, at least 1
  double rate = 0.01;             // bound on the compound rate, however many keys are inserted
  Growth growth = Growth::twofold;
  double tightening = 0.9;  // a stage's rate divided by that of its predecessor, between 0 and 1

  bool operator==(const ScalablePlan&) const = default;
};

// Never forgets: after insert(key), contains(key) is true. It is a row of Bloom filters. Stage i is
// made for capacity * growth^i keys at rate * (1 - tightening) * tightening^i. The compound rate is
// at most the sum of the stages' rates, which stays below the plan's rate (Almeida, Baquero,
// Preguica, Hutchison 2007). A lookup asks one stage after the other. Any number of threads may
// read one filter; a writer must be alone.
//
// Saved (FilterKind::scalable), 8 bytes each: capacity; rate and tightening as IEEE 754 doubles;
// growth; number of stages. Then for each stage: 8 bytes of its number of keys, the shape, the
// bits.
class ScalableFilter {
 public:
  static Sized<ScalableFilter> create(const ScalablePlan& plan = {});

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<ScalableFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  // Returns true if the key was certainly absent before. Fails with too_large, and changes nothing,
  // if the next stage would be larger than a filter can be.
  Sized<bool> insert(const Key& key);

  bool contains(const Key& key) const;

  // Keys that were taken for new: all distinct ones except false positives.
  std::uint64_t entries() const;
  std::size_t stages() const { return stages_.size(); }
  std::size_t byte_count() const;

  // The compound rate computed from the bits set: 1 - (1 - p0) (1 - p1) ...
  double false_positive_rate() const;

  const ScalablePlan& plan() const { return plan_; }

 private:
  struct Stage {
    BloomFilter filter;
    std::uint64_t capacity;
    std::uint64_t inserted;
  };

  explicit ScalableFilter(const ScalablePlan& plan) : plan_(plan) {}

  static bool read_stage(FileReader& reader, ScalableFilter& into);
  Sized<std::uint64_t> next_capacity() const;
  Sized<void> grow();

  ScalablePlan plan_;
  std::vector<Stage> stages_;  // never empty; all but the last are full
};

}  // namespace digest
