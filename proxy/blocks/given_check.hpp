// Whether what one answer gives of an object has the digest that names it.
#pragma once

#include <cstdint>
#include <memory>

#include "digest/key.hpp"
#include "proxy/blocks/body_hash.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/fill/fill.hpp"

namespace proxy::blocks {

// For an answer that gives a whole object, block by block in their order. A reader may have got a
// block that is not stored any more, or that never was, so that the blocks in the store prove
// nothing of what the reader has. If the object was complete when the answer began, all its blocks
// were verified when the last one was stored. Such a block counts as right until it is stored anew,
// or until a block before it had to be hashed. Every other block is hashed here, unless the run
// that stored it or supplies it has hashed it. The check belongs to one coroutine, and the access
// outlives the check.
class GivenCheck {
 public:
  // `key`: of the object's URL.
  GivenCheck(FetchAccess& access, const digest::Key& key, cache::Ref<const cache::Entry> object,
             const mirrors::ContentName& name);

  // The answer goes to this block.
  void begin(std::uint32_t block);
  // Whether the stored blocks are right, so that they may be given without add().
  [[nodiscard]] bool trusts_stored() const;
  // The bytes of the block.
  struct Given {
    const fill::Pieces& pieces;
    bool is_stored = false;     // they were read from the store
    bool is_of_origin = false;  // no neighbour has given them
    Link link = {};             // as the run says that has supplied them
  };
  // Call this before the last bytes of each block are given. Returns false if they must not be: the
  // whole has another digest, or nobody can tell. A wrong version of the object is dropped.
  net::Task<bool> add(Given given);

 private:
  [[nodiscard]] Prefixes verified() const;
  net::Task<Prefix> hash_stored_before(std::uint32_t block) const;
  bool may_give_unproved(const Given& given) const;
  void drop() const;

  FetchAccess& access_;
  const digest::Key key_;
  const cache::Ref<const cache::Entry> object_;
  const mirrors::ContentName name_;
  const std::shared_ptr<VersionHashes> hashes_;
  const bool verified_;         // by VersionHashes::verified()
  const std::uint64_t stored_;  // VersionHashes::times_stored() at the beginning
  std::uint32_t block_ = 0;
  VersionHashes::Stored noted_;  // of the block
  Prefix before_;                // the block; null: all blocks so far were trusted
};

}  // namespace proxy::blocks
