// A large object whose length is known only at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

struct Shared;

// Keeps its blocks as they come, once it is large: until an entry is stored, by whoever gets it
// from here, they are found by nobody; without one they are nobody's. Belongs to one coroutine.
class UnsizedObject {
 public:
  // `head`: what came of it, without its body.
  UnsizedObject(Shared& shared, const digest::Key& key, const cache::Received& head);

  // The next bytes: a slice that is full, or the last one. None goes past the end of a block: see
  // slots(). False: it cannot be kept in blocks, and no more of it is to be added.
  BlockKept add(cache::Slice slice);
  // Then it is large, and blocks of it are to be kept, one by one. False: as above.
  [[nodiscard]] bool has_full_block() const;
  BlockKept keep_block();
  // Then it is not even to be begun.
  [[nodiscard]] bool too_large() const;
  // So many bytes are left in the block under way.
  [[nodiscard]] std::uint64_t slots() const { return cache::kBlockBytes - pending_.back().size; }
  // Its blocks are being kept, as there is more of it than small responses have.
  [[nodiscard]] bool large() const { return kept_ > 0; }
  // So many blocks were kept since begun() that a crash should not cost them.
  [[nodiscard]] bool due() const { return kept_ >= noted_ + kNotedEvery; }
  // What was kept so far, once it is large, to be stored now: a part of a length not known yet.
  std::shared_ptr<const cache::Entry> begun(const cache::Received& head);
  // Whether that was asked for.
  [[nodiscard]] bool noted() const { return noted_ > 0; }
  // That was all: its entry, to be stored now. Null: not all of it could be kept.
  std::shared_ptr<const cache::Entry> finish(const cache::Received& head);
  [[nodiscard]] const cache::Object& object() const { return *object_->object; }

 private:
  static constexpr std::uint32_t kNotedEvery = 4;

  [[nodiscard]] bool is_large() const;

  Shared& shared_;
  const digest::Key key_;
  const std::shared_ptr<const cache::Entry> object_;  // of a length that does not count
  std::vector<cache::Body> pending_{1};               // the last is under way
  std::uint64_t size_ = 0;
  std::uint32_t kept_ = 0;   // blocks
  std::uint32_t noted_ = 0;  // of these, in what begun() said
};

}  // namespace proxy
