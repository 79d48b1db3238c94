// A bounded number of distinct lines, in order, each with a mark.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace proxy::command {

// Lines that may be common to files, for as many as there is room. Marks go up one round at a time,
// so that a line of mark n was confirmed in each of the rounds 1 to n. Hashes are the caller's, and
// keyed, so that nobody can write lines that share one; lines are compared as well.
class Candidates {
 public:
  // So many bytes, all told; at least 128 KiB, so that any line fits into an empty one.
  explicit Candidates(std::size_t budget);

  // False: no room. A line that is in already stays as it is.
  bool add(std::string_view line, std::uint64_t hash);
  // The line was found in this round, from 1.
  void confirm(std::string_view line, std::uint64_t hash, std::uint32_t round);
  // The line is out for good.
  void strike(std::string_view line, std::uint64_t hash);

  std::uint64_t size() const { return size_; }

  // visit(line) for each of mark `rounds`, in the order in which they were added, until it is
  // false.
  template <class Visit>
  void each_confirmed(std::uint32_t rounds, Visit visit) const {
    for (std::size_t at = 0; at < used_; at += bytes_of(*record_at(at))) {
      const Record& record = *record_at(at);
      if (record.mark == rounds && !visit(line_of(record))) return;
    }
  }

 private:
  // The line's bytes follow.
  struct Record {
    std::uint64_t hash;
    std::uint32_t length;
    std::uint32_t mark;
  };
  static constexpr std::uint32_t kStruck = ~std::uint32_t{0};

  static std::size_t bytes_for(std::size_t length) {
    return sizeof(Record) + (length + alignof(Record) - 1) / alignof(Record) * alignof(Record);
  }
  static std::size_t bytes_of(const Record& record) { return bytes_for(record.length); }
  static std::string_view line_of(const Record& record) {
    return {reinterpret_cast<const char*>(&record + 1), record.length};
  }
  const Record* record_at(std::size_t at) const {
    return reinterpret_cast<const Record*>(arena_.get() + at);
  }
  Record* record_at(std::size_t at) { return reinterpret_cast<Record*>(arena_.get() + at); }

  std::size_t slot_of(std::string_view line, std::uint64_t hash) const;
  bool grow(std::size_t need);

  std::size_t budget_;
  std::unique_ptr<std::byte[]>
      arena_;  // records, one after the other; untouched pages cost nothing
  std::size_t used_ = 0;
  std::uint64_t size_ = 0;
  // Open addressing, a power of two: 0, or one more than a record's place, below the upper 16 bits
  // of its hash.
  std::vector<std::uint64_t> slots_;
};

}  // namespace proxy::command
