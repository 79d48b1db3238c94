#include "proxy/blocks/given_check.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/blocks/whole_check.hpp"

namespace proxy::blocks {

using net::Task;

GivenCheck::GivenCheck(FetchAccess& access, const digest::Key& key,
                       cache::Ref<const cache::Entry> object, const mirrors::ContentName& name)
    : access_(access),
      key_(key),
      object_(std::move(object)),
      name_(name),
      hashes_(access.runs.hashes().of(object_->object()->version)),
      verified_(verified() != nullptr),
      stored_(hashes_->times_stored()) {
  // Looked at after times_stored(), or a block could be stored in between.
  if (verified_ || has_all_blocks(access_, key_, *object_)) return;
  before_ = std::make_shared<const mirrors::ContentCheck>(name_, object_->body.size);
}

Prefixes GivenCheck::verified() const {
  return hashes_->verified(name_, cache::blocks_in(object_->body.size));
}

void GivenCheck::begin(std::uint32_t block) {
  block_ = block;
  noted_ = hashes_->stored(block);
}

bool GivenCheck::trusts_stored() const {
  return verified_ || (!before_ && hashes_->stored(block_).number <= stored_);
}

Task<bool> GivenCheck::add(Given given) {
  if (verified_ || (given.is_stored && trusts_stored())) co_return true;
  if (!before_) before_ = co_await hash_stored_before(block_);
  if (!before_) co_return may_give_unproved(given);
  auto link = std::move(given.link);
  const bool is_noted = given.is_stored && hashes_->stored(block_).number == noted_.number;
  if (is_noted) link = noted_.link;
  if (!link.before || !is_same(link.before, before_)) {
    mirrors::ContentCheck hash(*before_);
    for (const auto& piece : given.pieces)
      hash.add({piece.block->data() + piece.offset, piece.size});
    link = {before_, std::make_shared<const mirrors::ContentCheck>(std::move(hash))};
    if (is_noted) hashes_->record_link(block_, noted_.number, link);
  }
  before_ = std::move(link.after);
  const bool is_last = block_ + 1 == cache::blocks_in(object_->body.size);
  if (!is_last || before_->matches()) co_return true;
  drop();
  co_return false;
}

// What was given on trust is right, so if it is still stored, it has the bytes that were given.
Task<Prefix> GivenCheck::hash_stored_before(std::uint32_t block) const {
  if (const auto all = verified()) co_return all->at(block);
  mirrors::ContentCheck hash(name_, object_->body.size);
  for (std::uint32_t i = 0; i < block; ++i) {
    const bool is_read = co_await hash_stored(access_, key_, object_, i, hash);
    if (!is_read) co_return nullptr;
  }
  co_return std::make_shared<const mirrors::ContentCheck>(std::move(hash));
}

// All before the block is right, but is not there any more to tell more. The origin's own word is
// then as good as for a body without a name. It is asked for all that follows.
bool GivenCheck::may_give_unproved(const Given& given) const {
  access_.cache().fills.invalidate(key_, access_.clock().steady());
  return given.is_of_origin;
}

// Nobody knows which source is wrong. For a while only the origin is asked.
void GivenCheck::drop() const {
  const auto url = object_->url();
  spdlog::warn("{}: what was given does not have the digest that names it; the response is cut",
               url.substr(0, url.find('?')));
  auto& cache = access_.cache();
  if (!verified() && cache.may_have(key_, *object_)) cache.drop(key_, url);
  cache.fills.invalidate(key_, access_.clock().steady());
}

}  // namespace proxy::blocks
