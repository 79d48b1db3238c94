#include "proxy/blocks/body_hash.hpp"

#include <utility>

namespace proxy::blocks {

bool is_same(const Prefix& one, const Prefix& other) {
  return one == other || (one && other && one->so_far() == other->so_far());
}

// A source that continues within a block has to continue at the byte up to which the block was
// hashed.
void RunHash::begin(std::uint32_t block, std::uint64_t offset, Prefix before) {
  const bool goes_on = hash_ && block == block_ && offset == hashed_;
  if (offset > 0 && goes_on) return;
  hash_.reset();
  block_ = block;
  hashed_ = 0;
  before_ = std::move(before);
  if (!before_ && block > 0) before_ = up_to(block - 1);
  if (before_ && offset == 0) hash_.emplace(*before_);
}

void RunHash::add(std::string_view bytes) {
  if (!hash_) return;
  hash_->add(bytes);
  hashed_ += bytes.size();
}

Prefix RunHash::end() {
  Link link;
  if (hash_) link = {before_, std::make_shared<const mirrors::ContentCheck>(std::move(*hash_))};
  hash_.reset();
  const threads::MutexLock lock(mutex_);
  began_again_ = began_again_ || links_.contains(block_);
  links_[block_] = link;
  if (links_.size() > kMost) links_.erase(links_.begin());
  return link.after;
}

// A block that was hashed before another first block came does not continue the others: the run may
// have begun again with the first one.
Prefixes RunHash::all(std::uint32_t blocks) const {
  std::vector<Prefix> all;
  const threads::MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const auto link = links_.find(i);
    if (link == links_.end() || !link->second.after) return nullptr;
    if (i == 0) all.push_back(link->second.before);
    if (link->second.before != all.back()) return nullptr;
    all.push_back(link->second.after);
  }
  return std::make_shared<const std::vector<Prefix>>(std::move(all));
}

Prefix RunHash::up_to(std::uint32_t block) const {
  const threads::MutexLock lock(mutex_);
  const auto link = links_.find(block);
  return link == links_.end() ? nullptr : link->second.after;
}

Link RunHash::link_of(std::uint32_t block) const {
  const threads::MutexLock lock(mutex_);
  const auto link = links_.find(block);
  return link == links_.end() || began_again_ ? Link{} : link->second;
}

void VersionHashes::record_storing(std::uint32_t block, Link link) {
  const threads::MutexLock lock(mutex_);
  ++times_;
  if (verified_) return;
  const bool has_room = stored_.size() < RunHash::kMost;
  stored_[block] = {times_, has_room ? std::move(link) : Link{}};
}

void VersionHashes::record_link(std::uint32_t block, std::uint64_t number, const Link& link) {
  const threads::MutexLock lock(mutex_);
  const auto stored = stored_.find(block);
  if (stored != stored_.end() && stored->second.number == number) stored->second.link = link;
}

// Of a verified body all stored blocks are the same, however often they are stored.
VersionHashes::Stored VersionHashes::stored(std::uint32_t block) const {
  const threads::MutexLock lock(mutex_);
  const bool is_verified = verified_ && block + 1 < verified_->size();
  if (is_verified) return {0, {verified_->at(block), verified_->at(block + 1)}};
  const auto stored = stored_.find(block);
  return stored == stored_.end() ? Stored{} : stored->second;
}

std::uint64_t VersionHashes::times_stored() const {
  const threads::MutexLock lock(mutex_);
  return times_;
}

// A part that was begun may be completed by bodies of two lengths.
Prefixes VersionHashes::verified(const mirrors::ContentName& name, std::uint32_t blocks) const {
  const threads::MutexLock lock(mutex_);
  const bool is_it =
      verified_ && verified_->front()->name() == name && verified_->size() == blocks + 1;
  return is_it ? verified_ : nullptr;
}

bool VersionHashes::set_verified(Prefixes all) {
  const threads::MutexLock lock(mutex_);
  if (verified_) return false;
  verified_ = std::move(all);
  stored_.clear();
  return true;
}

std::shared_ptr<VersionHashes> HashesByVersion::of(std::uint64_t version) {
  const threads::MutexLock lock(mutex_);
  auto& known = by_version_[version];
  if (auto hashes = known.lock()) return hashes;
  auto hashes = std::make_shared<VersionHashes>();
  known = hashes;
  if (by_version_.size() >= prune_at_) {
    std::erase_if(by_version_, [](const auto& one) { return one.second.expired(); });
    prune_at_ = 2 * by_version_.size() + 64;
  }
  return hashes;
}

std::shared_ptr<VersionHashes> HashesByVersion::find(std::uint64_t version) const {
  const threads::MutexLock lock(mutex_);
  const auto known = by_version_.find(version);
  return known == by_version_.end() ? nullptr : known->second.lock();
}

void HashesByVersion::record_verified(const std::shared_ptr<VersionHashes>& hashes, Prefixes all) {
  const auto count = all ? all->size() : 0;
  if (count == 0 || count > kMost || !hashes->set_verified(std::move(all))) return;
  std::vector<Kept> dropped;  // destroyed without the lock
  const threads::MutexLock lock(mutex_);
  for (; count_ + count > kMost; kept_.pop_front()) {
    count_ -= kept_.front().count;
    dropped.push_back(std::move(kept_.front()));
  }
  kept_.push_back({hashes, count});
  count_ += count;
}

}  // namespace proxy::blocks
