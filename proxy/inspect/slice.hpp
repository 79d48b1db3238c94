// What makes up a slice (live.hpp), for those who make some.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/cache/disk/walk.hpp"
#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

// Over after 20 ms, or 64 KiB.
class Slice {
 public:
  explicit Slice(const std::string& out) : out_(out), most_(out.size() + kBytes) {}

  bool over() const {
    return out_.size() >= most_ || std::chrono::steady_clock::now() - begun_ >= kLong;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  static constexpr std::chrono::milliseconds kLong{20};

  const std::string& out_;
  const std::size_t most_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

inline void append(std::string& out, const Report& line) {
  out += line.json(Report::Letters::ascii);
}

// For a walk: no block and no selector.
bool is_response(const cache::disk::Place& place);

// How often it was found, by what memory has of it, too, and whether memory has it.
void add_uses(EntryFacts& facts, const Live& live, std::string_view url,
              const cache::disk::Walk::Step& step);

}  // namespace proxy::inspect
