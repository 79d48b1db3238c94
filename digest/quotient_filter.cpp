#include "digest/quotient_filter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "digest/shape.hpp"

namespace digest {
namespace {

// A slot holds a remainder above three bits. The first bit describes the slot's own quotient, the
// other two the remainder stored in the slot.
constexpr std::uint64_t kOccupied = 1;      // some slot has entries of this quotient
constexpr std::uint64_t kContinuation = 2;  // not the first of its run (entries of one quotient)
constexpr std::uint64_t kShifted = 4;       // not in the slot of its quotient
constexpr unsigned kFlags = 3;

bool is_empty(std::uint64_t slot) {
  return (slot & 7) == 0;
}
bool starts_cluster(std::uint64_t slot) {
  return (slot & 7) == kOccupied;
}
bool starts_run(std::uint64_t slot) {
  return (slot & kContinuation) == 0 && (slot & (kOccupied | kShifted)) != 0;
}

// Numbers of a few bits each are packed one after the other into 64-bit words.

// Reads the `width` bits from position `at` on, the lowest first. `width` is from 1 to 64, and all
// the bits lie within the words.
std::uint64_t read_bits(std::span<const std::uint64_t> words, std::uint64_t at,
                        std::uint32_t width) {
  const auto shift = static_cast<unsigned>(at & 63);
  std::uint64_t value = words[at >> 6] >> shift;
  if (shift + width > 64) value |= words[(at >> 6) + 1] << (64 - shift);
  return value & ~std::uint64_t{0} >> (64 - width);
}

// Writes `value`, which must have no more than `width` bits.
void write_bits(std::span<std::uint64_t> words, std::uint64_t at, std::uint32_t width,
                std::uint64_t value) {
  const auto shift = static_cast<unsigned>(at & 63);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  std::uint64_t& low = words[at >> 6];
  low = (low & ~(mask << shift)) | value << shift;
  if (shift + width <= 64) return;
  std::uint64_t& high = words[(at >> 6) + 1];
  high = (high & ~(mask >> (64 - shift))) | value >> (64 - shift);
}

// The sizes in bits of the saved form: the entries in runs, then their remainders.
struct Row {
  std::uint64_t unary;  // one bit per quotient and one per entry
  std::uint64_t bits;

  Row(const QuotientShape& shape, std::uint64_t entries)
      : unary(shape.slots() + entries), bits(unary + entries * shape.remainder_bits) {}

  std::size_t words() const { return static_cast<std::size_t>((bits + 63) / 64); }
  std::size_t bytes() const { return static_cast<std::size_t>((bits + 7) / 8); }
};

std::vector<std::uint64_t> words_of(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    words[i / 8] |= std::uint64_t{bytes[i]} << (8 * (i % 8));
  }
  return words;
}

// The quotients of all entries. Returns fewer than there are entries if the bits do not have the
// right numbers of 1s and 0s, or end with a 1.
std::vector<std::uint64_t> read_quotients(std::span<const std::uint64_t> words, const Row& row,
                                          std::uint64_t slots) {
  std::vector<std::uint64_t> quotients;
  quotients.reserve(static_cast<std::size_t>(row.unary - slots));
  std::uint64_t quotient = 0;
  for (std::uint64_t at = 0; at < row.unary && quotient < slots; ++at) {
    if (read_bits(words, at, 1) == 0) {
      ++quotient;
    } else if (quotients.size() < row.unary - slots) {
      quotients.push_back(quotient);
    }
  }
  return quotients;
}

}  // namespace

bool is_possible(const QuotientShape& shape) {
  if (shape.quotient_bits < 1 || shape.quotient_bits > 32) return false;
  if (shape.remainder_bits < 1 || shape.remainder_bits > 61) return false;
  return shape.fingerprint_bits() <= 64 &&
         shape.slots() <= kMaxBits / (shape.remainder_bits + kFlags);
}

QuotientFilter::QuotientFilter(const QuotientShape& shape)
    : shape_(shape),
      words_(
          static_cast<std::size_t>((shape.slots() * (shape.remainder_bits + kFlags) + 63) / 64)) {}

QuotientResult<QuotientFilter> QuotientFilter::create(const QuotientShape& shape) {
  if (!is_possible(shape)) return QuotientError::bad_shape;
  return QuotientFilter(shape);
}

QuotientResult<QuotientFilter> QuotientFilter::for_capacity(std::uint64_t capacity, double rate) {
  if (!(rate > 0 && rate < 1)) return QuotientError::bad_shape;
  QuotientShape shape{.quotient_bits = 1, .remainder_bits = 1};
  while (shape.quotient_bits < 32 && shape.capacity() < capacity) ++shape.quotient_bits;
  if (shape.capacity() < capacity) return QuotientError::bad_shape;
  const double keys = static_cast<double>(std::max<std::uint64_t>(capacity, 1));
  // 1 - e^(-n / 2^f) = rate, solved for f: each entry claims one of 2^f fingerprints.
  const double bits = std::ceil(std::log2(keys / -std::log1p(-rate)));
  const double remainder = std::max(bits - shape.quotient_bits, 1.0);
  if (remainder > 61) return QuotientError::bad_shape;
  shape.remainder_bits = static_cast<std::uint32_t>(remainder);
  return create(shape);
}

// A slot may lie in two words, so that no bit between slots is lost.
std::uint64_t QuotientFilter::get(std::uint64_t slot) const {
  const std::uint32_t width = shape_.remainder_bits + kFlags;
  return read_bits(words_, slot * width, width);
}

void QuotientFilter::put(std::uint64_t slot, std::uint64_t content) {
  const std::uint32_t width = shape_.remainder_bits + kFlags;
  write_bits(words_, slot * width, width, content);
}

// The first slot of the run of an occupied quotient: goes back to the start of the cluster, then
// forward over one run for each occupied quotient in between.
std::uint64_t QuotientFilter::run_of(std::uint64_t quotient) const {
  std::uint64_t home = quotient;
  while ((get(home) & kShifted) != 0) home = previous(home);
  std::uint64_t run = home;
  while (home != quotient) {
    do run = next(run);
    while ((get(run) & kContinuation) != 0);
    do home = next(home);
    while ((get(home) & kOccupied) == 0);
  }
  return run;
}

bool QuotientFilter::contains(const Key& key) const {
  const std::uint64_t fingerprint = fingerprint_of(key);
  const std::uint64_t quotient = fingerprint >> shape_.remainder_bits;
  const std::uint64_t remainder = fingerprint & remainder_mask();
  if ((get(quotient) & kOccupied) == 0) return false;
  std::uint64_t slot = run_of(quotient);
  do {
    const std::uint64_t held = get(slot) >> kFlags;
    if (held >= remainder) return held == remainder;
    slot = next(slot);
  } while ((get(slot) & kContinuation) != 0);
  return false;
}

QuotientResult<bool> QuotientFilter::insert(const Key& key) {
  if (entries_ >= shape_.capacity()) return QuotientError::full;
  // A fingerprint that is there already gets another entry: its key may be another, and one of the
  // two may be removed.
  const bool fresh = !contains(key);
  const std::uint64_t fingerprint = fingerprint_of(key);
  const std::uint64_t quotient = fingerprint >> shape_.remainder_bits;
  const std::uint64_t entry = (fingerprint & remainder_mask()) << kFlags;
  if (is_empty(get(quotient))) {
    put(quotient, entry | kOccupied);
  } else {
    insert_among(quotient, entry);
  }
  ++entries_;
  return fresh;
}

// Finds the entry's slot in its run, or where its run must begin.
void QuotientFilter::insert_among(std::uint64_t quotient, std::uint64_t entry) {
  const std::uint64_t own = get(quotient);
  const bool has_run = (own & kOccupied) != 0;
  put(quotient, own | kOccupied);
  const std::uint64_t run = run_of(quotient);
  std::uint64_t slot = run;
  if (has_run) {
    do {
      if (get(slot) >> kFlags >= entry >> kFlags) break;
      slot = next(slot);
    } while ((get(slot) & kContinuation) != 0);
    if (slot == run) put(run, get(run) | kContinuation);
    if (slot != run) entry |= kContinuation;
  }
  shift_in(slot, slot == quotient ? entry : entry | kShifted);
}

// Stores an entry in a slot and moves the following contents up by one, as far as the next free
// slot. Occupied bits stay where they are: they belong to the slot.
void QuotientFilter::shift_in(std::uint64_t slot, std::uint64_t content) {
  for (;; slot = next(slot)) {
    const std::uint64_t before = get(slot);
    put(slot, (content & ~kOccupied) | (before & kOccupied));
    if (is_empty(before)) return;
    content = before | kShifted;
  }
}

bool QuotientFilter::remove(const Key& key) {
  const std::uint64_t fingerprint = fingerprint_of(key);
  const std::uint64_t quotient = fingerprint >> shape_.remainder_bits;
  const std::uint64_t remainder = fingerprint & remainder_mask();
  if ((get(quotient) & kOccupied) == 0) return false;
  const std::uint64_t run = run_of(quotient);
  std::uint64_t slot = run;
  while (get(slot) >> kFlags != remainder) {
    slot = next(slot);
    if ((get(slot) & kContinuation) == 0) return false;
  }
  const bool run_goes_on = (get(next(run)) & kContinuation) != 0;
  const bool whole_run = slot == run && !run_goes_on;
  if (whole_run) put(quotient, get(quotient) & ~kOccupied);
  shift_out(slot, quotient);
  if (slot == run && run_goes_on) put(run, get(run) & ~kContinuation);
  --entries_;
  return true;
}

// Removes the entry in a slot and moves the rest of its cluster back by one. An entry that returns
// to its own slot is no longer shifted. An entry that is in its own slot ends the cluster and
// stays.
void QuotientFilter::shift_out(std::uint64_t slot, std::uint64_t quotient) {
  for (std::uint64_t after = next(slot);; slot = after, after = next(after)) {
    std::uint64_t moved = get(after);
    const std::uint64_t occupied = get(slot) & kOccupied;
    if (is_empty(moved) || (moved & kShifted) == 0) {
      put(slot, occupied);
      return;
    }
    if (starts_run(moved)) {
      // The run that moves belongs to the next quotient with entries.
      do quotient = next(quotient);
      while ((get(quotient) & kOccupied) == 0);
      if (quotient == slot) moved &= ~kShifted;
    } else if (quotient == slot) {
      moved &= ~kShifted;
    }
    put(slot, (moved & ~kOccupied) | occupied);
  }
}

std::vector<std::uint64_t> QuotientFilter::fingerprints() const {
  std::vector<std::uint64_t> found;
  if (entries_ == 0) return found;
  found.reserve(static_cast<std::size_t>(entries_));
  std::uint64_t slot = 0;
  // Only where a cluster begins is an entry certain to lie in the slot of its quotient.
  while (!starts_cluster(get(slot))) slot = next(slot);
  std::uint64_t quotient = slot;
  for (std::uint64_t i = 0; i < shape_.slots(); ++i, slot = next(slot)) {
    const std::uint64_t content = get(slot);
    if (is_empty(content)) continue;
    if (starts_cluster(content)) {
      quotient = slot;
    } else if (starts_run(content)) {
      do quotient = next(quotient);
      while ((get(quotient) & kOccupied) == 0);
    }
    found.push_back(quotient << shape_.remainder_bits | content >> kFlags);
  }
  // The walk began in the middle and wrapped around once.
  std::rotate(found.begin(), std::is_sorted_until(found.begin(), found.end()), found.end());
  return found;
}

QuotientFilter QuotientFilter::build(const QuotientShape& shape,
                                     std::span<const std::uint64_t> rising) {
  QuotientFilter filter(shape);
  const std::uint64_t slots = shape.slots();
  const auto quotient_of = [&shape](std::uint64_t f) { return f >> shape.remainder_bits; };
  std::uint64_t free = 0;
  for (const std::uint64_t f : rising) free = std::max(free, quotient_of(f)) + 1;
  // Entries beyond the end go to the first slots; there is enough room to end at the same slot.
  free = free > slots ? free - slots : 0;
  std::uint64_t before = slots;
  for (const std::uint64_t f : rising) {
    const std::uint64_t quotient = quotient_of(f);
    const std::uint64_t at = std::max(free, quotient);
    const std::uint64_t slot = at & (slots - 1);
    const std::uint64_t flags =
        (quotient == before ? kContinuation : 0) | (at != quotient ? kShifted : 0);
    const std::uint64_t remainder = f & filter.remainder_mask();
    filter.put(slot, remainder << kFlags | flags | (filter.get(slot) & kOccupied));
    filter.put(quotient, filter.get(quotient) | kOccupied);
    free = at + 1;
    before = quotient;
  }
  filter.entries_ = rising.size();
  return filter;
}

QuotientResult<QuotientFilter> QuotientFilter::resized(std::uint32_t quotient_bits) const {
  const std::uint32_t all = shape_.fingerprint_bits();
  const QuotientShape shape{.quotient_bits = quotient_bits, .remainder_bits = all - quotient_bits};
  if (!is_possible(shape)) return QuotientError::bad_shape;
  // Where the fingerprint is divided says only where it is stored, so it keeps its value.
  if (entries_ > shape.capacity()) return QuotientError::full;
  return build(shape, fingerprints());
}

QuotientResult<QuotientFilter> QuotientFilter::merge(const QuotientFilter& a,
                                                     const QuotientFilter& b) {
  QuotientShape shape = a.shape_.quotient_bits > b.shape_.quotient_bits ? a.shape_ : b.shape_;
  // One key has fingerprints of both lengths then, and the shorter ones cannot be lengthened.
  if (a.shape_.fingerprint_bits() != b.shape_.fingerprint_bits()) {
    return QuotientError::unlike_fingerprints;
  }
  const std::uint64_t entries = a.entries_ + b.entries_;
  while (is_possible(shape) && shape.capacity() < entries) {
    ++shape.quotient_bits;
    --shape.remainder_bits;
  }
  if (!is_possible(shape)) return QuotientError::bad_shape;
  const auto left = a.fingerprints();
  const auto right = b.fingerprints();
  std::vector<std::uint64_t> both(left.size() + right.size());
  std::merge(left.begin(), left.end(), right.begin(), right.end(), both.begin());
  return build(shape, both);
}

double QuotientFilter::false_positive_rate() const {
  return -std::expm1(
      -std::ldexp(static_cast<double>(entries_), -static_cast<int>(shape_.fingerprint_bits())));
}

std::vector<std::uint8_t> QuotientFilter::save() const {
  const Row row(shape_, entries_);
  std::vector<std::uint64_t> words(row.words());
  std::uint64_t at = 0;
  std::uint64_t remainder_at = row.unary;
  std::uint64_t quotient = 0;
  for (const std::uint64_t fingerprint : fingerprints()) {
    for (; quotient < fingerprint >> shape_.remainder_bits; ++quotient) ++at;
    write_bits(words, at++, 1, 1);
    write_bits(words, remainder_at, shape_.remainder_bits, fingerprint & remainder_mask());
    remainder_at += shape_.remainder_bits;
  }
  FileWriter file(FilterKind::quotient, 24 + row.bytes());
  file.number(shape_.quotient_bits).number(shape_.remainder_bits).number(entries_);
  for (std::size_t i = 0; i < row.bytes(); ++i) {
    const auto byte = static_cast<std::uint8_t>(words[i / 8] >> (8 * (i % 8)));
    file.bytes({&byte, 1});
  }
  return std::move(file).finish();
}

Loaded<QuotientFilter> QuotientFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::quotient);
  if (!reader) return reader.error();
  const std::uint64_t quotient_bits = reader->number();
  const std::uint64_t remainder_bits = reader->number();
  const std::uint64_t entries = reader->number();
  if (quotient_bits > 32 || remainder_bits > 61) return FileError::bad_shape;
  const QuotientShape shape{.quotient_bits = static_cast<std::uint32_t>(quotient_bits),
                            .remainder_bits = static_cast<std::uint32_t>(remainder_bits)};
  if (!is_possible(shape) || entries > shape.capacity()) return FileError::bad_shape;
  const Row row(shape, entries);
  const auto bytes = reader->bytes(row.bytes());
  if (!reader->complete()) return FileError::wrong_length;

  const auto words = words_of(bytes);
  auto rising = read_quotients(words, row, shape.slots());
  if (rising.size() != entries) return FileError::bad_content;
  std::uint64_t at = row.unary;
  std::uint64_t before = 0;
  for (std::uint64_t& fingerprint : rising) {
    fingerprint = fingerprint << remainder_bits | read_bits(words, at, shape.remainder_bits);
    // build() relies on the order, and would put entries of a foreign file anywhere.
    if (fingerprint < before) return FileError::bad_content;
    before = fingerprint;
    at += remainder_bits;
  }
  const bool stray = (row.bits & 7) != 0 && bytes.back() >> (row.bits & 7) != 0;
  return stray ? Loaded<QuotientFilter>(FileError::bad_content) : build(shape, rising);
}

}  // namespace digest
