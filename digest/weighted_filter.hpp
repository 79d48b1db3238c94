// A Bloom filter that claims wrongly least often what is asked for most often.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "digest/bloomier_filter.hpp"
#include "digest/file_format.hpp"
#include "digest/key.hpp"
#include "digest/positions.hpp"
#include "digest/sizing.hpp"

namespace digest {

// How often a key was asked for.
struct Asked {
  Key key;
  std::uint64_t count = 0;
};

// The weighted Bloom filter of Bruck, Gao and Jiang 2006: a key that is asked for often has more
// hashes, whether it is a member or not. Their best number of hashes grows by one for each doubling
// of the frequency. Here a key that was asked for at least `threshold` times has one more than the
// others, at least twice that two more, and so on up to kMostExtra. A Bloomier filter holds these
// extra hashes; it takes 14.8 bits for each such key, which the bits for the members have to spare.
// So the filter wins only if few keys get many of the requests: digest/README.md has figures.
//
// Never forgets a member. Immutable: any number of threads may read.
//
// Positions: those of a plain shape with double hashing; a key has the first hashes_of(key).
// Saved (FilterKind::weighted): a shape, whose hashes are those of a rare key; 8 bytes of members;
// 8 bytes of the length of the next; the saved BloomierFilter of extra hashes, 4 value bits and 8
// check bits, or nothing; the bits as in BloomFilter.
class WeightedFilter {
 public:
  static constexpr std::uint32_t kMostExtra = 15;
  static constexpr std::uint32_t kMostBase = kMaxHashes - kMostExtra;

  // Makes a filter of at most `bits` bits, with the extra hashes counted. Chooses the threshold and
  // the hashes of rare keys for the fewest wrong claims, if the questions of `asked` come
  // again. Keys outside `asked` are expected as often as the keys that were asked for once (Good
  // 1953). Repeated keys of `members` count once, and the numbers of repeated keys of `asked` are
  // summed.
  static Sized<WeightedFilter> create(std::uint64_t bits, std::vector<Key> members,
                                      std::vector<Asked> asked);

  // Reads what save() wrote. The bytes may come from anywhere. Allocates about as much as `file`
  // holds.
  static Loaded<WeightedFilter> load(std::span<const std::uint8_t> file);
  std::vector<std::uint8_t> save() const;

  bool contains(const Key& key) const;
  // The hashes of a key. Of keys that are not heavy, one in 256 has more than base_hashes().
  std::uint32_t hashes_of(const Key& key) const;

  std::uint64_t members() const { return members_; }
  std::uint32_t base_hashes() const { return base_; }
  std::uint64_t heavy_keys() const { return extra_ ? extra_->keys() : 0; }
  std::uint64_t bits() const;  // with those of the extra hashes
  std::uint64_t bits_set() const { return bits_set_; }
  // How often a key with so many hashes is claimed, if it is no member.
  double rate_with(std::uint32_t hashes) const;

  bool operator==(const WeightedFilter& other) const {
    return base_ == other.base_ && extra_ == other.extra_ && bytes_ == other.bytes_;
  }

 private:
  WeightedFilter(std::uint64_t bits, std::uint32_t base, std::optional<BloomierFilter> extra);

  // Calls visit(position) for the positions of the key until it returns false. Returns true if it
  // never did.
  template <class Visit>
  bool every(const Key& key, Visit visit) const {
    std::uint32_t left = hashes_of(key);
    bool all = true;
    positions_.every(key, [&](std::uint64_t position) {
      all = visit(position);
      return all && --left > 0;
    });
    return all;
  }
  void insert(const Key& key);

  Positions positions_;  // of a shape with kMaxHashes
  std::uint32_t base_;
  std::optional<BloomierFilter> extra_;
  std::uint64_t members_ = 0;
  std::uint64_t bits_set_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace digest
