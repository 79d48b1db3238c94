// Whether an object that was put together from blocks has the digest that names it.
#pragma once

#include <cstdint>
#include <string_view>

#include "digest/key.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/mirrors/content_name.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::blocks {

// Hashes blocks as one writer gets them, from the first one on. If the writer gets others, the
// stored blocks are read and hashed once the last one that was missing is here. Two writers that
// end at the same moment may each take the other's block for missing; such an object is not
// checked. For the writer's coroutine.
class WholeCheck {
 public:
  // `key`: of the object's URL. The access outlives the check.
  WholeCheck(FetchAccess& access, const digest::Key& key, cache::Ref<const cache::Entry> object,
             const mirrors::ContentName& name);

  // The next bytes are those of this block from `offset` on.
  void begin(std::uint32_t block, std::uint64_t offset);
  void add(std::string_view bytes);
  // Call this when all bytes of the block have been added: whether it makes the object whole, and
  // the object has another digest. `fill` lacks the last bytes, with which its last slice is
  // `last`. If a block cannot be read, nothing is known, and the result is false.
  net::Task<bool> finds_wrong(const fill::Fill& fill, cache::Slice last);

 private:
  [[nodiscard]] bool lacks_others();
  net::Task<bool> finds_stored_wrong(cache::Body block);

  FetchAccess& access_;
  const digest::Key key_;
  const cache::Ref<const cache::Entry> object_;
  const mirrors::ContentName name_;
  mirrors::ContentCheck hash_;  // of the blocks before next_
  std::uint32_t next_ = 0;
  std::uint32_t block_ = 0;  // that arrives
  bool in_order_ = false;    // block_ is hashed as it arrives
  std::uint32_t found_ = 0;  // no earlier block is missing
};

}  // namespace proxy::blocks
