// Sets of lines in bounded memory: those that may be common to several files, and the last ones
// seen.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

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
  explicit CandidateLines(std::size_t budget) : budget_(budget), texts_(new char[budget]) {}

  // Adds the line with mark 0. A line that is in already keeps its mark.
  Added add(std::string_view line, std::uint64_t hash);
  // Raises the mark of the line to `round`, counted from 1, if all earlier rounds confirmed it.
  void confirm(std::string_view line, std::uint64_t hash, std::uint32_t round);
  // Excludes the line for good.
  void strike(std::string_view line, std::uint64_t hash);

  std::uint64_t size() const { return lines_.size(); }

  // Calls visit(line) for each line of mark `rounds`, in the order of add(), until it returns
  // false.
  template <class Visit>
  void each_confirmed(std::uint32_t rounds, Visit visit) const {
    for (const Candidate& each : lines_) {
      if (each.mark == rounds && !visit(each.line)) return;
    }
  }

 private:
  struct Candidate {
    std::string_view line;  // in texts_
    std::uint64_t hash;
    std::uint32_t mark = 0;
  };
  struct HashOf {
    using is_avalanching = void;  // the caller's hashes are spread well
    std::size_t operator()(const Candidate* each) const { return each->hash; }
  };
  struct IsSame {
    bool operator()(const Candidate* a, const Candidate* b) const {
      return a->hash == b->hash && a->line == b->line;
    }
  };

  Candidate* find(std::string_view line, std::uint64_t hash) const;

  std::size_t budget_;
  std::unique_ptr<char[]> texts_;  // the system provides no memory for pages not yet written to
  std::size_t used_ = 0;           // bytes of texts_
  std::deque<Candidate> lines_;
  boost::unordered_flat_set<Candidate*, HashOf, IsSame> index_;
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
