#include <utility>

#include "digest/packed_bits.hpp"
#include "digest/quotient_filter.hpp"

namespace digest {
namespace {

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
    if (fingerprint < before) return FileError::bad_content;
    before = fingerprint;
    at += remainder_bits;
  }
  const bool stray = (row.bits & 7) != 0 && bytes.back() >> (row.bits & 7) != 0;
  return stray ? Loaded<QuotientFilter>(FileError::bad_content) : build(shape, rising);
}

}  // namespace digest
