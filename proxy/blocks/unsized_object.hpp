// An object whose length is known only at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/tiers/object_blocks.hpp"

namespace proxy {

struct Process;

// Takes a body whose length its response did not say. Once the body is too long for a whole entry,
// its blocks are kept as they arrive. Nobody finds these blocks before the caller stores an entry
// of the object, which begun() and finish() make. Belongs to one coroutine.
class UnsizedObject {
 public:
  // `head`: the response without its body.
  UnsizedObject(Process& process, const digest::Key& key, const cache::Received& head);

  // Adds the next bytes: a full slice, or the last one, of at most room() bytes. After
  // BlockKept::no the body cannot be kept in blocks, and nothing more is added.
  BlockKept add(cache::Slice slice);
  // If true, the caller calls keep_block(), until it is false. BlockKept::no: as for add().
  [[nodiscard]] bool has_full_block() const;
  BlockKept keep_block();
  // If true, an entry that begun() made is of no use any more.
  [[nodiscard]] bool too_large() const;
  // Bytes left in the block under way.
  [[nodiscard]] std::uint64_t room() const { return cache::kBlockBytes - pending_.back().size; }
  // The body has outgrown the limit for whole entries, so its blocks are kept.
  [[nodiscard]] bool large() const { return kept_ > 0; }
  // Enough blocks were kept since begun() to call it again: a crash loses the blocks after it.
  [[nodiscard]] bool due() const { return kept_ >= noted_ + kNotedEvery; }
  // An entry of the blocks kept so far, for the caller to store: a part of an unknown length. Only
  // if large().
  std::shared_ptr<const cache::Entry> begun(const cache::Received& head);
  // Whether begun() was called.
  [[nodiscard]] bool noted() const { return noted_ > 0; }
  // The body is over: the entry of the whole object, for the caller to store. Null: not all of its
  // blocks could be kept.
  std::shared_ptr<const cache::Entry> finish(const cache::Received& head);
  [[nodiscard]] const cache::Object& object() const { return *object_->object; }

 private:
  static constexpr std::uint32_t kNotedEvery = 4;

  [[nodiscard]] bool is_large() const;

  Process& process_;
  const digest::Key key_;
  const std::shared_ptr<const cache::Entry> object_;  // for its version; the length is a stand-in
  std::vector<cache::Body> pending_{1};               // blocks not kept yet; the last is under way
  std::uint64_t size_ = 0;
  std::uint32_t kept_ = 0;   // blocks
  std::uint32_t noted_ = 0;  // blocks in the entry that begun() made last
};

}  // namespace proxy
