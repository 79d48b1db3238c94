// Sets of lines in bounded memory: those that may be common to several files, and the last ones
// seen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;

// Whether a line is among the candidates now.
enum class Added : std::uint8_t { yes, no_room };

// Lines that may be common to several files, as many as fit. A line's mark is n if it was confirmed
// in each of the rounds 1 to n. The caller computes the hashes, with a secret key, so that no file
// can contain lines chosen to collide. Equal hashes are not enough: the lines are compared too.
class CandidateLines {
 public:
  // `budget`: bytes for lines and index together. With at least 128 KiB any single line fits.
  explicit CandidateLines(std::size_t budget);

  // Adds the line with mark 0. A line that is in already keeps its mark.
  Added add(std::string_view line, std::uint64_t hash);
  // Raises the mark of the line to `round`, counted from 1, if all earlier rounds confirmed it.
  void confirm(std::string_view line, std::uint64_t hash, std::uint32_t round);
  // Excludes the line for good.
  void strike(std::string_view line, std::uint64_t hash);

  std::uint64_t size() const { return size_; }

  // Calls visit(line) for each line of mark `rounds`, in the order of add(), until it returns
  // false.
  template <class Visit>
  void each_confirmed(std::uint32_t rounds, Visit visit) const {
    for (std::size_t at = 0; at < used_; at += bytes_of(*header_at(at))) {
      const LineHeader& header = *header_at(at);
      if (header.mark == rounds && !visit(line_of(header))) return;
    }
  }

 private:
  // Precedes the bytes of each line in the arena.
  struct LineHeader {
    std::uint64_t hash;
    std::uint32_t length;
    std::uint32_t mark;
  };
  static constexpr std::uint32_t kStruck = ~std::uint32_t{0};

  static std::size_t bytes_for(std::size_t length) {
    return sizeof(LineHeader) +
           (length + alignof(LineHeader) - 1) / alignof(LineHeader) * alignof(LineHeader);
  }
  static std::size_t bytes_of(const LineHeader& header) { return bytes_for(header.length); }
  static std::string_view line_of(const LineHeader& header) {
    return {reinterpret_cast<const char*>(&header + 1), header.length};
  }
  const LineHeader* header_at(std::size_t at) const {
    return reinterpret_cast<const LineHeader*>(arena_.get() + at);
  }
  LineHeader* header_at(std::size_t at) { return reinterpret_cast<LineHeader*>(arena_.get() + at); }

  std::size_t slot_of(std::string_view line, std::uint64_t hash) const;
  Added grow(std::size_t need);

  std::size_t budget_;
  // Headers, each followed by its line. The system provides no memory for pages not yet written to.
  std::unique_ptr<std::byte[]> arena_;
  std::size_t used_ = 0;
  std::uint64_t size_ = 0;
  // A hash table with open addressing; its size is a power of two. A slot is 0, or holds the upper
  // 16 bits of the line's hash and, in the lower 48, one more than the offset of its header.
  std::vector<std::uint64_t> slots_;
};

// Remembers at least the last `window` distinct keys and at most twice as many, in constant memory.
// The recent filter receives keys until it has `window` of them; then it becomes the older filter,
// and the former older filter is emptied and becomes the recent one. A key that only the older
// filter contains is not new, but enters the recent one, so that a recurring key is not forgotten.
class WindowSeenSet {
 public:
  static Result<WindowSeenSet> create(std::uint64_t window, double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;
  std::string remembers() const;
  std::size_t byte_count() const { return recent_.bytes().size() + older_.bytes().size(); }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  WindowSeenSet(std::uint64_t window, digest::BloomFilter empty)
      : window_(window), recent_(empty), older_(std::move(empty)) {}
  void turn();

  std::uint64_t window_;
  digest::BloomFilter recent_;
  digest::BloomFilter older_;
  std::uint64_t recent_keys_ = 0;
  std::uint64_t older_keys_ = 0;
  std::uint64_t renewed_ = 0;    // keys of older_ that are in recent_ too
  std::uint64_t forgotten_ = 0;  // distinct keys, but for the few mistaken for renewed ones
};

}  // namespace proxy::command
