// An object whose length is known only at the end of its body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy::tiers {
class Cache;
}

namespace proxy::blocks {

// Takes a body whose head does not tell its length. Once the body is too long for a whole entry,
// its blocks are stored as they arrive. Requests find these blocks only after the caller has stored
// an entry of the object, which begun() and finish() make. Belongs to one coroutine.
class UnsizedObject {
 public:
  // `head`: the response without its body.
  UnsizedObject(tiers::Cache& cache, const digest::Key& key, const cache::Received& head);

  // Adds the next bytes: a full slice, or the last one, of at most room() bytes. After
  // BlockKept::no the body cannot be kept in blocks, and nothing more is added.
  tiers::BlockKept add(cache::Slice slice);
  // While true, the caller must call store_block(). What BlockKept::no means: see add().
  [[nodiscard]] bool has_full_block() const;
  tiers::BlockKept store_block();
  // Whether the body exceeds the largest object. An entry that begun() made is then of no use.
  [[nodiscard]] bool too_large() const;
  // Free bytes in the current block.
  [[nodiscard]] std::uint64_t room() const { return cache::kBlockBytes - pending_.back().size; }
  // Whether the body has outgrown the limit for whole entries, so that its blocks are kept.
  [[nodiscard]] bool large() const { return kept_ > 0; }
  // Whether enough blocks were kept since the last begun() to call it again. After a crash only the
  // blocks of the last entry are found.
  [[nodiscard]] bool due() const { return kept_ >= noted_ + kNotedEvery; }
  // Makes an entry of the blocks kept so far, for the caller to store: a part of an object of
  // unknown length. Only if large().
  cache::Ref<const cache::Entry> begun(const cache::Received& head);
  // Whether begun() was called.
  [[nodiscard]] bool noted() const { return noted_ > 0; }
  // At the end of the body: makes the entry of the whole object, for the caller to store. Null: not
  // all blocks could be kept.
  cache::Ref<const cache::Entry> finish(const cache::Received& head);
  [[nodiscard]] const cache::Object& object() const { return *object_->object(); }

 private:
  static constexpr std::uint32_t kNotedEvery = 4;

  [[nodiscard]] bool is_large() const;

  tiers::Cache& cache_;
  const digest::Key key_;
  const cache::Ref<const cache::Entry> object_;  // has the version; its length is a dummy
  std::vector<cache::Body> pending_{1};          // blocks not kept yet; the last one grows
  std::uint64_t size_ = 0;
  std::uint32_t kept_ = 0;   // blocks
  std::uint32_t noted_ = 0;  // blocks in the last entry that begun() made
};

}  // namespace proxy::blocks
