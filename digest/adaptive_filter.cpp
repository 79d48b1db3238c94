#include "digest/adaptive_filter.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "digest/little_endian.hpp"

namespace digest {
namespace {

constexpr std::uint32_t kCuckooTables = 4;
constexpr unsigned kSelectors = 8;
constexpr unsigned kSelectorAt = 12;
constexpr std::uint16_t kFull = 1U << 15;
constexpr std::size_t kMostMoves = 2000;

Shape shape_of(std::uint64_t cells) {
  return {.bits = cells, .hashes = kCuckooTables, .layout = Layout::partitioned};
}

unsigned selector_of(std::uint16_t cell) {
  return cell >> kSelectorAt & (kSelectors - 1);
}

// The key's cell in each table, in order. A partitioned shape has a slice for each hash, so the
// four cells are different ones.
std::array<std::uint64_t, kCuckooTables> places_in(const Positions& positions, const Key& key) {
  std::array<std::uint64_t, kCuckooTables> places{};
  positions.every(key, [&places, i = 0U](std::uint64_t position) mutable {
    places[i++] = position;
    return true;
  });
  return places;
}

}  // namespace

AdaptiveFilter::AdaptiveFilter(std::uint64_t cells, unsigned fingerprint_bits)
    : positions_(shape_of(cells)),
      fingerprint_bits_(fingerprint_bits),
      cells_(static_cast<std::size_t>(cells)),
      keys_(static_cast<std::size_t>(cells)) {}

Sized<AdaptiveFilter> AdaptiveFilter::create(std::uint64_t capacity, unsigned fingerprint_bits) {
  if (capacity == 0) return SizingError::no_entries;
  if (fingerprint_bits == 0 || fingerprint_bits > kMostFingerprintBits) {
    return SizingError::rate_out_of_range;
  }
  if (capacity > kMaxBits / 2) return SizingError::too_large;
  const auto cells =
      static_cast<std::uint64_t>(static_cast<double>(capacity) / kLoad) + 4 * kCuckooTables;
  return AdaptiveFilter(cells / kCuckooTables * kCuckooTables, fingerprint_bits);
}

AdaptiveFilter::Cell AdaptiveFilter::cell_for(const Key& key, unsigned selector) const {
  const std::uint64_t fingerprint =
      seeded_hash(key, selector + 1) & ((std::uint64_t{1} << fingerprint_bits_) - 1);
  return static_cast<Cell>(kFull | selector << kSelectorAt | fingerprint);
}

bool AdaptiveFilter::claims(Cell cell, const Key& key) const {
  return cell != 0 && cell_for(key, selector_of(cell)) == cell;
}

bool AdaptiveFilter::contains(const Key& key) const {
  return !positions_.every(
      key, [this, &key](std::uint64_t position) { return !claims(cells_[position], key); });
}

std::uint64_t AdaptiveFilter::place_of(const Key& key) const {
  for (const std::uint64_t place : places_in(positions_, key)) {
    if (cells_[place] != 0 && keys_[place] == key) return place;
  }
  return cells();
}

// Keys keep their selectors when they move: a fingerprint does not depend on the place.
bool AdaptiveFilter::put(const Key& key, unsigned selector) {
  for (const std::uint64_t place : places_in(positions_, key)) {
    if (cells_[place] != 0) continue;
    cells_[place] = cell_for(key, selector);
    keys_[place] = key;
    return true;
  }
  return false;
}

AdaptiveFilter::Added AdaptiveFilter::insert(const Key& key) {
  if (place_of(key) != cells()) return Added::known;
  // The key takes the place of another one, which takes that of a third, and so on, by chance. Keys
  // keep their selectors: what was corrected stays so.
  std::vector<std::uint64_t> path;
  Key homeless = key;
  unsigned selector = 0;
  bool has_room = put(homeless, selector);
  while (!has_room && path.size() < kMostMoves) {
    const auto places = places_in(positions_, homeless);
    const std::uint64_t taken = places[seeded_hash(homeless, path.size()) % kCuckooTables];
    const unsigned of_taken = selector_of(cells_[taken]);
    cells_[taken] = cell_for(homeless, selector);
    std::swap(keys_[taken], homeless);
    selector = of_taken;
    path.push_back(taken);
    has_room = put(homeless, selector);
  }
  if (has_room) {
    ++entries_;
    return Added::yes;
  }
  // Undoes the moves, the last one first. The key without a home is then the new one again.
  for (auto taken = path.rbegin(); taken != path.rend(); ++taken) {
    const unsigned of_taken = selector_of(cells_[*taken]);
    cells_[*taken] = cell_for(homeless, selector);
    std::swap(keys_[*taken], homeless);
    selector = of_taken;
  }
  return Added::full;
}

bool AdaptiveFilter::remove(const Key& key) {
  const std::uint64_t place = place_of(key);
  if (place == cells()) return false;
  cells_[place] = 0;
  keys_[place] = {};
  --entries_;
  return true;
}

bool AdaptiveFilter::correct(const Key& key) {
  if (!contains(key) || place_of(key) != cells()) return false;
  // Moves a selector on until the cell's fingerprint differs, once around at most: two keys may
  // agree in all eight.
  for (const std::uint64_t place : places_in(positions_, key)) {
    for (unsigned tries = 1; tries < kSelectors && claims(cells_[place], key); ++tries) {
      const unsigned next = (selector_of(cells_[place]) + 1) % kSelectors;
      cells_[place] = cell_for(keys_[place], next);
    }
  }
  return !contains(key);
}

double AdaptiveFilter::false_positive_rate() const {
  const double full = static_cast<double>(entries_) / static_cast<double>(cells());
  return 1 - std::pow(1 - std::ldexp(full, -static_cast<int>(fingerprint_bits_)), kCuckooTables);
}

bool AdaptiveFilter::is_possible(std::uint64_t at) const {
  // Otherwise contains() would not find the key, or remove() would take it from where it is not.
  const Cell cell = cells_[at];
  const bool in_its_place =
      !positions_.every(keys_[at], [at](std::uint64_t position) { return position != at; });
  return in_its_place && claims(cell, keys_[at]);
}

Loaded<AdaptiveFilter> AdaptiveFilter::load(std::span<const std::uint8_t> file) {
  auto reader = FileReader::open(file, FilterKind::adaptive);
  if (!reader) return reader.error();
  const std::uint64_t cells = reader->number();
  const std::uint64_t fingerprint_bits = reader->number();
  if (cells == 0 || cells % kCuckooTables != 0 || cells > kMaxBits || fingerprint_bits == 0 ||
      fingerprint_bits > kMostFingerprintBits) {
    return FileError::bad_shape;
  }
  // Before the cells are allocated: the number is foreign. The keys need at most eight times as
  // much.
  const auto saved = reader->bytes(cells * sizeof(Cell));
  if (saved.empty()) return FileError::wrong_length;
  AdaptiveFilter filter(cells, static_cast<unsigned>(fingerprint_bits));
  for (std::uint64_t at = 0; at < cells; ++at) {
    const Cell cell = digest::load<Cell>(&saved[at * sizeof(Cell)]);
    if (cell == 0) continue;
    const auto key = reader->bytes(sizeof(Key));
    if (key.empty()) return FileError::wrong_length;
    filter.cells_[at] = cell;
    std::copy(key.begin(), key.end(), filter.keys_[at].bytes.begin());
    ++filter.entries_;
    if (!filter.is_possible(at)) return FileError::bad_content;
  }
  if (!reader->complete()) return FileError::wrong_length;
  return filter;
}

std::vector<std::uint8_t> AdaptiveFilter::save() const {
  FileWriter file(FilterKind::adaptive, 16 + cells() * 2 + entries_ * sizeof(Key));
  file.number(cells()).number(fingerprint_bits_);
  std::array<std::uint8_t, sizeof(Cell)> bytes{};
  for (const Cell cell : cells_) {
    store(bytes.data(), cell);
    file.bytes(bytes);
  }
  for (std::uint64_t at = 0; at < cells(); ++at) {
    if (cells_[at] != 0) file.bytes(keys_[at].bytes);
  }
  return std::move(file).finish();
}

}  // namespace digest
