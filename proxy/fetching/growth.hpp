// Keeps a body of unknown length in blocks once it has become large.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/blocks/unsized_object.hpp"
#include "proxy/fetching/context.hpp"

namespace proxy::fetching {

// Belongs to the writer of one answer: `incoming` is always that answer.
class Growth {
 public:
  explicit Growth(FillContext& context) : context_(context) {}

  // Call this before each piece of a body that is to be stored. At the first piece begins to watch
  // the body, if it may turn out to be large. A body that a digest names is kept only if the caller
  // verifies it. The entry of such a body is stored by store(), not before.
  enum class Verified : std::uint8_t { no, yes };
  void begin_if_needed(const Incoming& incoming, Verified verified);
  // How many of `most` bytes the current block has room for.
  [[nodiscard]] std::uint32_t room(std::uint32_t most) const;
  // Adds a piece that is full, or the last one. `no`: the body cannot be kept in blocks. Do not
  // call add() again after that.
  net::Task<tiers::BlockKept> add(Incoming& incoming, cache::Slice piece);
  // Call this after the last piece: waits for a slow disk.
  net::Task<void> end();

  [[nodiscard]] bool under_way() const { return growing_.has_value(); }
  // Blocks are being kept, since the body has outgrown small responses.
  [[nodiscard]] bool large() const { return growing_ && growing_->large(); }

  // Call this once the body is whole: stores its object. `not_all_kept`: the last block could not
  // be kept.
  enum class ObjectStored : std::uint8_t { yes, no, not_all_kept };
  ObjectStored store(const Incoming& incoming);
  // Call this once the body is cut: stores the blocks kept so far, unless the cut shows damage.
  void store_what_came(Incoming& incoming, const upstream::Failure& cut);
  // Stores nothing more. An entry that was stored meanwhile stays.
  void stop() { growing_.reset(); }

 private:
  void store_begun(Incoming& incoming);
  void erase_begun();
  [[nodiscard]] bool length_is_known() const;

  FillContext& context_;
  std::optional<blocks::UnsizedObject> growing_;
  bool is_named_ = false;  // by a digest
};

}  // namespace proxy::fetching
