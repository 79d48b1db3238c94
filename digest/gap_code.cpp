#include "digest/gap_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/core/noncopyable.hpp>
#include <cmath>
#include <limits>

#include "digest/little_endian.hpp"

namespace digest {
namespace {

template <class Visit>
void each_gap(std::span<const std::uint32_t> rising, Visit visit) {
  std::uint64_t floor = 0;
  for (const std::uint32_t number : rising) {
    // Numbers rise by at least 1, so the code spends nothing on a gap of 0.
    visit(static_cast<std::uint32_t>(number - floor));
    floor = std::uint64_t{number} + 1;
  }
}

// The format begins with the lowest bit of a byte: then both sides get on by shifts of one word.
// Appends bits above those in a word, and writes full bytes out from its lower end.
class BitWriter : boost::noncopyable {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out) {}
  ~BitWriter() {
    if (held_ > 0) out_.push_back(static_cast<std::uint8_t>(word_));
  }

  // Writes `count` bits, at most 32. The rest of `bits` is zero.
  void put(std::uint64_t bits, unsigned count) {
    word_ |= bits << held_;
    held_ += count;
    for (; held_ >= 8; held_ -= 8, word_ >>= 8) out_.push_back(static_cast<std::uint8_t>(word_));
  }

 private:
  std::vector<std::uint8_t>& out_;
  std::uint64_t word_ = 0;
  unsigned held_ = 0;
};

}  // namespace

std::size_t gap_bytes(std::span<const std::uint32_t> rising, unsigned rice) {
  std::uint64_t bits = 0;
  each_gap(rising, [&](std::uint32_t gap) { bits += (gap >> rice) + 1 + rice; });
  return static_cast<std::size_t>((bits + 7) / 8);
}

// If each number is left out with probability q, a gap is g with probability (1 - q) q^g, and the
// mean of g >> r is q^(2^r) / (1 - q^(2^r)).
std::size_t expected_gap_bytes(std::uint64_t numbers, std::uint64_t limit) {
  if (numbers == 0) return 0;
  const auto count = static_cast<double>(numbers);
  const double log_left_out = std::log1p(-count / (static_cast<double>(limit) + 1));
  double fewest = std::numeric_limits<double>::infinity();
  for (unsigned rice = 0; rice <= kMaxRice; ++rice) {
    const double ones = -1 - 1 / std::expm1(log_left_out * std::exp2(rice));
    fewest = std::min(fewest, count * (ones + 1 + rice));
  }
  return static_cast<std::size_t>(std::ceil(fewest / 8));
}

unsigned rice_for(std::span<const std::uint32_t> rising) {
  if (rising.empty()) return 0;
  const std::uint64_t mean = rising.back() / rising.size();
  // Random gaps need about log2(mean ln 2); these may not be random.
  const auto guess = static_cast<unsigned>(std::bit_width(mean));
  unsigned best = 0;
  std::size_t fewest = ~std::size_t{0};
  // Each is priced by a pass over the numbers, which costs less than the coding.
  for (unsigned rice = guess - std::min(guess, 2U); rice <= std::min(guess + 1, kMaxRice); ++rice) {
    const std::size_t bytes = gap_bytes(rising, rice);
    if (bytes < fewest) {
      best = rice;
      fewest = bytes;
    }
  }
  return best;
}

void append_gaps(std::vector<std::uint8_t>& out, std::span<const std::uint32_t> rising,
                 unsigned rice) {
  BitWriter writer(out);
  const std::uint64_t low_bits = (std::uint64_t{1} << rice) - 1;
  each_gap(rising, [&](std::uint32_t gap) {
    std::uint32_t ones = gap >> rice;
    for (; ones > 31; ones -= 31) writer.put(0x7fffffffU, 31);
    writer.put((std::uint64_t{1} << ones) - 1, ones + 1);
    writer.put(gap & low_bits, rice);
  });
}

std::uint64_t GapReader::ahead() const {
  // Zeros beyond the end keep the loop free of a test for each byte; next() looks once per number.
  const auto at = static_cast<std::size_t>(bit_ / 8);
  if (at + 8 <= bytes_.size()) return load64(bytes_.data() + at) >> (bit_ % 8);
  std::array<std::uint8_t, 8> last{};
  const auto left = bytes_.subspan(std::min(at, bytes_.size()));
  std::copy(left.begin(), left.end(), last.begin());
  return load64(last.data()) >> (bit_ % 8);
}

bool GapReader::next(std::uint32_t& number) {
  constexpr unsigned kAtOnce = 56;  // if ahead() begins with fewer ones, a zero follows them
  std::uint64_t value = floor_;
  unsigned ones = kAtOnce;
  while (ones == kAtOnce) {
    ones = std::min(static_cast<unsigned>(std::countr_one(ahead())), kAtOnce);
    bit_ += ones;
    value += std::uint64_t{ones} << rice_;
    if (value >= limit_) return false;
  }
  ++bit_;
  value += ahead() & ((std::uint64_t{1} << rice_) - 1);
  bit_ += rice_;
  if (value >= limit_ || bit_ > 8 * std::uint64_t{bytes_.size()}) return false;
  number = static_cast<std::uint32_t>(value);
  floor_ = value + 1;
  return true;
}

bool GapReader::at_end() const {
  if ((bit_ + 7) / 8 != bytes_.size()) return false;
  return bit_ % 8 == 0 || (bytes_.back() >> (bit_ % 8)) == 0;
}

}  // namespace digest
