#include "digest/weighted_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace digest {
namespace {

constexpr BloomierForm kExtraForm{4, 8};
constexpr double kBitsOfHeavy = 1.23 * 12;
constexpr unsigned kClasses =
    64;  // class n: keys asked for 2^n times, and less than twice as often

// The keys asked for, by class.
struct Crowd {
  std::uint64_t keys = 0;
  std::uint64_t members = 0;
  double wrong_asks = 0;  // requests for keys that are no members
};
using Crowds = std::array<Crowd, kClasses>;

struct Plan {
  unsigned threshold = kClasses;  // the lowest class with extra hashes
  std::uint64_t bits = 0;         // for the members
  std::uint32_t base = 1;
  double wrong = std::numeric_limits<double>::infinity();  // claims
};

// The count is at least 1.
unsigned class_of(std::uint64_t count) {
  return static_cast<unsigned>(std::bit_width(count)) - 1;
}

std::uint32_t extra_at(unsigned of_class, unsigned threshold) {
  return of_class < threshold ? 0 : std::min(of_class - threshold + 1, WeightedFilter::kMostExtra);
}

void merge(std::vector<Key>& members, std::vector<Asked>& asked) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  std::ranges::sort(asked, {}, &Asked::key);
  std::vector<Asked> merged;
  for (const Asked& one : asked) {
    if (one.count == 0) continue;
    // Equal keys are neighbours, so that only the last one can be the same.
    if (merged.empty() || merged.back().key != one.key) {
      merged.push_back(one);
    } else {
      merged.back().count += one.count;
    }
  }
  asked = std::move(merged);
}

// Both sorted and merged.
Crowds crowds_of(const std::vector<Key>& members, const std::vector<Asked>& asked) {
  Crowds crowds;
  for (const Asked& one : asked) {
    Crowd& crowd = crowds[class_of(one.count)];
    ++crowd.keys;
    if (std::binary_search(members.begin(), members.end(), one.key)) {
      ++crowd.members;
    } else {
      crowd.wrong_asks += static_cast<double>(one.count);
    }
  }
  return crowds;
}

// What the members' bits claim wrongly, with extra hashes from class `threshold` on.
double wrong_claims(const Crowds& crowds, std::uint64_t members, const Plan& plan) {
  double load = static_cast<double>(members) * plan.base;
  for (unsigned n = 0; n < kClasses; ++n) {
    load += static_cast<double>(crowds[n].members) * extra_at(n, plan.threshold);
  }
  const double fill = -std::expm1(-load / static_cast<double>(plan.bits));
  // Keys never asked for before.
  double wrong = static_cast<double>(crowds[0].keys + 1) * std::pow(fill, plan.base);
  for (unsigned n = 0; n < kClasses; ++n) {
    wrong += crowds[n].wrong_asks * std::pow(fill, plan.base + extra_at(n, plan.threshold));
  }
  return wrong;
}

Plan best_plan(const Crowds& crowds, std::uint64_t members, std::uint64_t bits) {
  // Tries each threshold, from none at all down to one request, with each number of hashes. That is
  // little work, as it needs the classes alone and not the keys.
  Plan best;
  std::uint64_t heavy = 0;
  for (unsigned threshold = kClasses; threshold <= kClasses; --threshold) {
    if (threshold < kClasses) heavy += crowds[threshold].keys;
    const double cost = heavy == 0 ? 0 : kBitsOfHeavy * static_cast<double>(heavy) + 12 * 33 + 8;
    if (cost >= static_cast<double>(bits)) break;
    Plan plan{threshold, bits - static_cast<std::uint64_t>(std::ceil(cost))};
    for (plan.base = 1; plan.base <= WeightedFilter::kMostBase; ++plan.base) {
      plan.wrong = wrong_claims(crowds, members, plan);
      if (plan.wrong < best.wrong) best = plan;
    }
  }
  return best;
}

}  // namespace

WeightedFilter::WeightedFilter(std::uint64_t bits, std::uint32_t base,
                               std::optional<BloomierFilter> extra)
    : positions_(Shape{.bits = bits, .hashes = kMaxHashes}),
      base_(base),
      extra_(std::move(extra)),
      bytes_(positions_.shape().byte_count()) {}

Sized<WeightedFilter> WeightedFilter::create(std::uint64_t bits, std::vector<Key> members,
                                             std::vector<Asked> asked) {
  if (bits == 0) return SizingError::no_bits;
  if (bits > kMaxBits) return SizingError::too_large;
  merge(members, asked);
  const Plan plan = best_plan(crowds_of(members, asked), members.size(), bits);
  std::vector<Valued> heavy;
  for (const Asked& one : asked) {
    const std::uint32_t extra = extra_at(class_of(one.count), plan.threshold);
    if (extra > 0) heavy.push_back({one.key, extra});
  }
  std::optional<BloomierFilter> of_heavy;
  if (!heavy.empty()) {
    auto made = BloomierFilter::create(heavy, kExtraForm);
    if (!made) return SizingError::too_large;
    of_heavy = std::move(*made);
  }
  // The members come last: their hashes depend on the extra ones.
  WeightedFilter filter(plan.bits, plan.base, std::move(of_heavy));
  for (const Key& key : members) filter.insert(key);
  filter.members_ = members.size();
  return filter;
}

void WeightedFilter::insert(const Key& key) {
  every(key, [this](std::uint64_t position) {
    const auto bit = static_cast<std::uint8_t>(1U << (position & 7));
    std::uint8_t& byte = bytes_[position >> 3];
    bits_set_ += (byte & bit) == 0 ? 1 : 0;
    byte = static_cast<std::uint8_t>(byte | bit);
    return true;
  });
}

bool WeightedFilter::contains(const Key& key) const {
  return every(key, [this](std::uint64_t position) {
    return (bytes_[position >> 3] >> (position & 7) & 1) != 0;
  });
}

std::uint32_t WeightedFilter::hashes_of(const Key& key) const {
  return base_ + (extra_ ? extra_->find(key).value_or(0) : 0);
}

std::uint64_t WeightedFilter::bits() const {
  return positions_.shape().bits + (extra_ ? 8 * extra_->byte_count() : 0);
}

double WeightedFilter::rate_with(std::uint32_t hashes) const {
  Shape shape = positions_.shape();
  shape.hashes = hashes;
  return observed_false_positive_rate(shape, bits_set_);
}

Loaded<WeightedFilter> WeightedFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::weighted);
  if (!reader) return reader.error();
  const auto shape = reader->shape();
  if (!shape || *shape != Shape{.bits = shape->bits, .hashes = shape->hashes} ||
      shape->hashes > kMostBase) {
    return FileError::bad_shape;
  }
  const std::uint64_t members = reader->number();
  const auto saved_extra = reader->bytes(reader->number());
  const auto bits = reader->bytes(shape->byte_count());
  if (!reader->complete()) return FileError::wrong_length;
  std::optional<BloomierFilter> extra;
  if (!saved_extra.empty()) {
    auto read = BloomierFilter::load(saved_extra);
    if (!read) return read.error();
    // With more value bits a key could have more hashes than there are.
    if (read->form() != kExtraForm) return FileError::bad_shape;
    extra = std::move(*read);
  }
  if (has_stray_bits(*shape, bits)) return FileError::bad_content;
  WeightedFilter filter(shape->bits, shape->hashes, std::move(extra));
  filter.members_ = members;
  filter.bits_set_ = count_bits(bits);
  std::copy(bits.begin(), bits.end(), filter.bytes_.begin());
  return filter;
}

std::vector<std::uint8_t> WeightedFilter::save() const {
  const auto extra = extra_ ? extra_->save() : std::vector<std::uint8_t>();
  FileWriter file(FilterKind::weighted, kShapeBytes + 16 + extra.size() + bytes_.size());
  file.shape({.bits = positions_.shape().bits, .hashes = base_});
  file.number(members_).number(extra.size()).bytes(extra).bytes(bytes_);
  return std::move(file).finish();
}

}  // namespace digest
