// A Bloom filter that grows with what it holds, while the rate of wrong answers stays bounded.
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
  fourfold = 4,  // fewer stages to ask, more room unused
};

struct ScalablePlan {
  std::uint64_t capacity = 1024;  // of the first stage, at least 1
  double rate = 0.01;             // bound on the compound rate, however many keys come
  Growth growth = Growth::twofold;
  double tightening = 0.9;  // each stage's rate by that of the one before, above 0 and below 1

  bool operator==(const ScalablePlan&) const = default;
};

// Never forgets: after insert(key), contains(key) holds. A row of Bloom filters, stage i made for
// capacity * growth^i keys at rate * (1 - tightening) * tightening^i: all stages together are wrong
// at most as often as the sum of these, which stays under the plan's rate (Almeida, Baquero,
// Preguica, Hutchison 2007). A question asks one stage after the other. Any number of threads may
// read one filter; a writer must be alone.
//
// Saved (FilterKind::scalable), 8 bytes each: capacity; rate and tightening as IEEE 754 doubles;
// growth; number of stages. Then of each stage: 8 bytes of keys held, the shape, the bits.
class ScalableFilter {
 public:
  static Sized<ScalableFilter> create(const ScalablePlan& plan = {});

  // What save() made, from anywhere. Allocates about what it is given.
  static Loaded<ScalableFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  // True if the key certainly was not in before. too_large, and nothing changes, when the next
  // stage would be larger than a filter can be.
  Sized<bool> insert(const Key& key);

  bool contains(const Key& key) const;

  // Keys taken as new: all distinct ones but for false positives.
  std::uint64_t entries() const;
  std::size_t stages() const { return stages_.size(); }
  std::size_t byte_count() const;

  // The compound rate from the bits actually set: 1 - (1 - p0) (1 - p1) ...
  double false_positive_rate() const;

  const ScalablePlan& plan() const { return plan_; }

 private:
  struct Stage {
    BloomFilter filter;
    std::uint64_t capacity;
    std::uint64_t held;
  };

  explicit ScalableFilter(const ScalablePlan& plan) : plan_(plan) {}

  static bool read_stage(FileReader& reader, ScalableFilter& into);
  Sized<std::uint64_t> next_capacity() const;
  Sized<void> grow();

  ScalablePlan plan_;
  std::vector<Stage> stages_;  // never empty, all but the last full
};

}  // namespace digest
