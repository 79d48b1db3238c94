// Shared by the classes behind live.hpp: the limit of a slice, and functions that make its lines.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/cache/disk/index.hpp"
#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

// The limit of a slice: 20 ms, or 64 KiB of lines.
class SliceLimit {
 public:
  explicit SliceLimit(const std::string& out) : out_(out), most_(out.size() + kMaxBytes) {}

  bool reached() const {
    return out_.size() >= most_ || std::chrono::steady_clock::now() - begun_ >= kMaxTime;
  }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  static constexpr std::chrono::milliseconds kMaxTime{20};

  const std::string& out_;
  const std::size_t most_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

inline void append(std::string& out, const Report& line) {
  out += line.json(Report::Letters::ascii);
}

// Whether the record is neither a block nor a selector. For a walk over the index.
bool is_response(const cache::disk::Location& place);

// Adds the hits of the record at `step` and of its copy in memory, and whether there is such a
// copy.
void add_uses(EntryFacts& facts, const Live& live, std::string_view url,
              const cache::disk::Walk::Step& step);

}  // namespace proxy::inspect
