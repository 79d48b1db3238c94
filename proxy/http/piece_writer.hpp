// Writes text of many small pieces, such as a head.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace proxy::http {

// Collects pieces for a string, because each append() to the string itself costs a call and its
// checks, and a miss writes some hundred pieces. Call flush() last.
class PieceWriter {
 public:
  explicit PieceWriter(std::string& out) : out_(out) {}
  ~PieceWriter() { assert(used_ == 0); }
  PieceWriter(const PieceWriter&) = delete;
  PieceWriter& operator=(const PieceWriter&) = delete;

  // The piece must not be a part of the string. A literal costs a few stores if this is inlined.
  [[gnu::always_inline]] PieceWriter& operator<<(std::string_view piece) {
    if (piece.size() > pieces_.size() - used_) return write_past(piece);
    std::copy_n(piece.data(), piece.size(), pieces_.data() + used_);
    used_ += piece.size();
    return *this;
  }
  PieceWriter& operator<<(std::uint64_t number) {
    std::array<char, 20> digits{};
    char* const end = digits.data() + digits.size();
    char* first = end;
    do {
      *--first = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << std::string_view(first, static_cast<std::size_t>(end - first));
  }

  // The size that the string will have.
  [[nodiscard]] std::size_t size() const { return out_.size() + used_; }
  // Appends to the string what has been collected.
  void flush() { out_.append(pieces_.data(), std::exchange(used_, 0)); }

 private:
  PieceWriter& write_past(std::string_view piece);  // what has no room

  std::string& out_;
  std::array<char, 1024> pieces_;  // not initialized
  std::size_t used_ = 0;
};

// A line of a head.
inline void write_field(PieceWriter& out, std::string_view name, std::string_view value) {
  out << name << ": " << value << "\r\n";
}

}  // namespace proxy::http
