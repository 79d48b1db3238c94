// A walk over the stored responses of a running proxy, in small steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/cache/disk/index.hpp"
#include "proxy/inspect/live_relations.hpp"

namespace proxy::inspect {

// Visits first the responses that only memory holds, then those on disk in the order in which they
// were written. A response stored meanwhile may be missed, or visited twice. For one thread at a
// time, which may wait for the disk.
class LiveWalk {
 public:
  using Wanted = std::function<bool(std::string_view stored_as)>;
  using Visit = std::function<void(const EntryFacts& facts, std::string_view stored_as)>;

  // Visits only responses whose name is `wanted`.
  LiveWalk(const Live& live, Wanted wanted) : live_(live), wanted_(std::move(wanted)) {}

  // Visits some more. Returns whether there may be further ones.
  bool step(cache::Time now, const Visit& visit);
  // Records on disk that could not be read so far.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

 private:
  bool visit_memory(cache::Time now, const Visit& visit);
  bool visit_disk(cache::Time now, const Visit& visit);

  const Live live_;
  const LiveRelations relations_{live_};
  const Wanted wanted_;
  std::size_t shard_ = 0;          // the next shard of the memory
  std::vector<digest::Key> keys_;  // of the last shard, not yet visited
  std::optional<cache::disk::Walk> walk_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace proxy::inspect
