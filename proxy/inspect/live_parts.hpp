// Shared by live.cpp and live_lists.cpp: the limit of a slice, and what the records of a
// cache in use have to do with each other.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/cache/disk/index.hpp"
#include "proxy/inspect/entry_facts.hpp"
#include "proxy/inspect/live.hpp"

namespace proxy::inspect {

// The limit of one slice of a long scan: 20 ms, or 64 KiB of lines.
class SliceLimit {
 public:
  SliceLimit(const machine::Clock& clock, const std::string& out)
      : clock_(clock), out_(out), most_(out.size() + kMaxBytes) {}

  bool reached() const { return out_.size() >= most_ || clock_.steady() - begun_ >= kMaxTime; }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
  static constexpr std::chrono::milliseconds kMaxTime{20};

  const machine::Clock& clock_;
  const std::string& out_;
  const std::size_t most_;
  const machine::Clock::SteadyTime begun_ = clock_.steady();
};

inline void append(std::string& out, const Report& line) {
  out += line.json(Report::Letters::ascii);
}

// Whether the record is neither a block nor a selector. For a walk over the index.
bool is_response(const cache::disk::Location& place);

// Relations that the index and the memory of a cache in use show.
class LiveRelations final : public Relations {
 public:
  explicit LiveRelations(const Live& live) : live_(live) {}

  StoredBlocks stored_blocks(const cache::disk::StoredRecord& object,
                             std::uint64_t length) const override;
  bool leads_to(const cache::disk::StoredRecord& variant, std::uint64_t selector) const override;

  // The blocks stored for an entry in memory; none if the entry is no large object.
  StoredBlocks stored_blocks(const cache::disk::Key& url_key, const cache::Entry& entry) const;
  // Whether the disk has the entry too.
  bool on_disk(const cache::Store::Response& held) const;
  // The facts of a response in memory.
  EntryFacts facts_in_memory(const cache::Store::Response& held, cache::Time now) const;
  // Adds the hits of the record at `step` and of its copy in memory, and whether there is such a
  // copy.
  void add_uses(EntryFacts& facts, std::string_view url, const cache::disk::Walk::Step& step) const;

 private:
  const Live& live_;
};

}  // namespace proxy::inspect
