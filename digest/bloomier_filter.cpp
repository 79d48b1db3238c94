#include "digest/bloomier_filter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "digest/little_endian.hpp"
#include "digest/positions.hpp"

namespace digest {
namespace {

constexpr std::uint32_t kMostSeeds = 64;
constexpr std::size_t kReserve = 8;  // bytes behind the slots

std::uint64_t segment_for(std::uint64_t keys) {
  return keys * 41 / 100 + 11;
}

std::uint64_t byte_count_for(std::uint64_t keys, BloomierForm form) {
  return (3 * segment_for(keys) * form.bits() + 7) / 8;
}

bool is_possible(BloomierForm form) {
  return form.value_bits <= 32 && form.check_bits <= 32 && form.bits() >= 1 && form.bits() <= 32;
}

// Where a key's slots are, and its check bits.
struct KeyPlaces {
  std::array<std::uint64_t, 3> slots;
  std::uint64_t check;

  KeyPlaces(std::uint64_t hash, std::uint64_t segment, BloomierForm form) {
    const std::uint64_t other = mix(hash + 0x9e3779b97f4a7c15);
    slots = {scaled(hash, segment), segment + scaled(std::rotl(hash, 32), segment),
             2 * segment + scaled(other, segment)};
    check = other & ((std::uint64_t{1} << form.check_bits) - 1);
  }
};

// The copy of the keys takes 16 bytes for each. So the caller asks only after peeling has failed.
bool has_equal_keys(std::span<const Valued> entries) {
  std::vector<Key> keys;
  for (const Valued& entry : entries) keys.push_back(entry.key);
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

}  // namespace

// Fills the slots of an empty filter, for its seed.
class BloomierPeeling {
 public:
  BloomierPeeling(BloomierFilter& filter, std::span<const Valued> entries)
      : filter_(filter), entries_(entries), segment_(segment_for(entries.size())) {}

  // Each key gets its content from the slot where it was alone, in the reverse order: whoever is
  // peeled later does not use that slot. False: the keys cannot be peeled with this seed.
  bool run() {
    if (!peel()) return false;
    for (auto peeled = order_.rbegin(); peeled != order_.rend(); ++peeled) {
      const Valued& entry = entries_[peeled->entry];
      const KeyPlaces places = places_of(peeled->entry);
      std::uint64_t content = std::uint64_t{entry.value} << filter_.form_.check_bits | places.check;
      for (const std::uint64_t slot : places.slots) content ^= filter_.slot(slot);
      // Its own slot is still 0, as nobody has filled it yet.
      filter_.set_slot(peeled->slot, content);
    }
    return true;
  }

 private:
  // The keys that are left in a slot: how many, and the exclusive or of their numbers.
  struct Crowd {
    std::uint32_t keys = 0;
    std::uint32_t numbers = 0;
  };
  struct Peeled {
    std::uint32_t entry;
    std::uint32_t slot;  // where the key was alone
  };

  KeyPlaces places_of(std::uint32_t entry) const {
    return {hashes_[entry], segment_, filter_.form_};
  }

  bool peel() {
    std::vector<Crowd> crowds(static_cast<std::size_t>(3 * segment_));
    hashes_.reserve(entries_.size());
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      hashes_.push_back(seeded_hash(entries_[i].key, filter_.seed_));
      for (const std::uint64_t slot : places_of(i).slots) {
        crowds[slot].keys += 1;
        crowds[slot].numbers ^= i;
      }
    }
    order_.reserve(entries_.size());
    for (std::uint32_t slot = 0; slot < crowds.size(); ++slot) {
      if (crowds[slot].keys == 1) alone_.push_back(slot);
    }
    // A slot may lose its only key to another slot before its turn.
    while (!alone_.empty()) {
      const std::uint32_t slot = alone_.back();
      alone_.pop_back();
      if (crowds[slot].keys == 1) take(crowds[slot].numbers, slot, crowds);
    }
    return order_.size() == entries_.size();
  }

  void take(std::uint32_t entry, std::uint32_t from, std::vector<Crowd>& crowds) {
    order_.push_back({entry, from});
    for (const std::uint64_t slot : places_of(entry).slots) {
      crowds[slot].numbers ^= entry;
      if (--crowds[slot].keys == 1) alone_.push_back(static_cast<std::uint32_t>(slot));
    }
  }

  BloomierFilter& filter_;
  std::span<const Valued> entries_;
  std::uint64_t segment_;
  std::vector<std::uint64_t> hashes_;
  std::vector<Peeled> order_;
  std::vector<std::uint32_t> alone_;  // slots that had one key when they were added
};

std::string_view to_string(BloomierError error) {
  static constexpr std::array<std::string_view, 4> kTexts{
      "a key must have 1 to 32 bits, of its value and to tell it apart",
      "a value needs more bits than a key has", "there are too many keys", "two keys are equal"};
  return text_in(kTexts, error);
}

BloomierFilter::BloomierFilter(std::uint64_t keys, BloomierForm form, std::uint32_t seed)
    : keys_(keys),
      form_(form),
      seed_(seed),
      bytes_(static_cast<std::size_t>(byte_count_for(keys, form)) + kReserve) {}

boost::system::result<BloomierFilter, BloomierError> BloomierFilter::create(
    std::span<const Valued> entries, BloomierForm form) {
  if (!is_possible(form)) return BloomierError::bad_form;
  if (entries.size() > kMost) return BloomierError::too_many_keys;
  const bool fits = std::all_of(entries.begin(), entries.end(), [form](const Valued& entry) {
    return std::uint64_t{entry.value} >> form.value_bits == 0;
  });
  if (!fits) return BloomierError::value_too_large;
  for (std::uint32_t seed = 0; seed < kMostSeeds; ++seed) {
    BloomierFilter filter(entries.size(), form, seed);
    if (BloomierPeeling(filter, entries).run()) return filter;
    // Equal keys can never be peeled. With others, one seed in thousands fails.
    if (seed == 0 && has_equal_keys(entries)) return BloomierError::equal_keys;
  }
  return BloomierError::equal_keys;  // their hashes are: the keys are not spread
}

std::uint64_t BloomierFilter::slots() const {
  return 3 * segment_for(keys_);
}

std::uint64_t BloomierFilter::byte_count() const {
  return bytes_.size() - kReserve;
}

double BloomierFilter::false_positive_rate() const {
  return std::ldexp(1.0, -static_cast<int>(form_.check_bits));
}

std::uint64_t BloomierFilter::slot(std::uint64_t number) const {
  const std::uint64_t bit = number * form_.bits();
  return load64(&bytes_[bit >> 3]) >> (bit & 7) & ((std::uint64_t{1} << form_.bits()) - 1);
}

void BloomierFilter::set_slot(std::uint64_t number, std::uint64_t content) {
  const std::uint64_t bit = number * form_.bits();
  std::uint8_t* const at = &bytes_[bit >> 3];
  store64(at, load64(at) | content << (bit & 7));
}

std::optional<std::uint32_t> BloomierFilter::find(const Key& key) const {
  const KeyPlaces places(seeded_hash(key, seed_), segment_for(keys_), form_);
  const auto [first, second, third] = places.slots;
  const std::uint64_t content = slot(first) ^ slot(second) ^ slot(third);
  const std::uint64_t value = content >> form_.check_bits;
  if ((value << form_.check_bits | places.check) != content) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

Loaded<BloomierFilter> BloomierFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::bloomier);
  if (!reader) return reader.error();
  const std::uint64_t keys = reader->number();
  const std::uint64_t rest = reader->number();
  const BloomierForm form{static_cast<unsigned>(rest >> 32 & 255),
                          static_cast<unsigned>(rest >> 40 & 255)};
  const auto seed = static_cast<std::uint32_t>(rest);
  if (keys > kMost || !is_possible(form) || seed >= kMostSeeds || rest >> 48 != 0) {
    return FileError::bad_shape;
  }
  // Before the slots are allocated: the number is foreign.
  const auto slots = reader->bytes(byte_count_for(keys, form));
  if (!reader->complete()) return FileError::wrong_length;
  BloomierFilter filter(keys, form, seed);
  const auto used = filter.slots() * form.bits() & 7;
  if (used != 0 && slots.back() >> used != 0) return FileError::bad_content;
  std::copy(slots.begin(), slots.end(), filter.bytes_.begin());
  return filter;
}

std::vector<std::uint8_t> BloomierFilter::save() const {
  const auto slots = std::span(bytes_).first(static_cast<std::size_t>(byte_count()));
  FileWriter file(FilterKind::bloomier, 16 + slots.size());
  file.number(keys_);
  file.number(seed_ | std::uint64_t{form_.value_bits} << 32 |
              std::uint64_t{form_.check_bits} << 40);
  file.bytes(slots);
  return std::move(file).finish();
}

}  // namespace digest
