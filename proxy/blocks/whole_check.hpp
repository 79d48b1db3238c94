// Whether an object that was put together from blocks has the digest that names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "digest/key.hpp"
#include "proxy/blocks/fetch_access.hpp"
#include "proxy/mirrors/content_name.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::blocks {

// The digest of the object's body: see policy::digest_of().
std::optional<mirrors::ContentName> digest_of(const cache::Entry& object,
                                              const policy::Request& request);

// Call this once a run, or a part of a run, has ended. Our digest may then claim the object's
// stored blocks. If a digest names the object, all blocks must be stored first, because only then
// are they verified; the object is then found by its digest, too.
void record_kept_blocks(FetchAccess& access, const digest::Key& key, const cache::Entry& object,
                        const policy::Request& request);

// Whether all blocks of the object are stored, or all but one.
bool has_all_blocks(const FetchAccess& access, const digest::Key& key, const cache::Entry& object,
                    std::uint32_t but = UINT32_MAX);
// Adds the bytes of a stored block, and lets others run. Memory does not take the block for it.
// Returns false if the block cannot be read.
net::Task<bool> hash_stored(FetchAccess& access, const digest::Key& key,
                            cache::Ref<const cache::Entry> object, std::uint32_t block,
                            mirrors::ContentCheck& hash);

// Keeps an invariant: of an object that a digest names, not all blocks are stored unless they have
// the digest. For the writer of a run, which calls begin() and add() as a block arrives, then
// turn() and judge(), and stores the block while it has the turn. Once an object was verified, each
// of its blocks is verified alone, for as long as HashesByVersion keeps its hashes.
class WholeCheck {
 public:
  // `key`: of the object's URL. The access and the run outlive the check. The hash of what has
  // arrived belongs to the run, so another source of the run continues it.
  WholeCheck(FetchAccess& access, const digest::Key& key, BlockRun& run,
             const mirrors::ContentName& name);

  // The next bytes are those of this block from `offset` on.
  void begin(std::uint32_t block, std::uint64_t offset);
  void add(std::string_view bytes);

  // Waits until no other writer of the object has the turn.
  using Turn = BlockRuns::Turn;
  net::Task<Turn> turn();
  enum class Verdict : std::uint8_t {
    incomplete,  // other blocks are missing: GivenCheck tells what their readers may get
    right,       // the block completes the object
    wrong,       // the object has another digest, or its source and the store have other bytes
    other,       // the source has other bytes than the object that was verified
    unknown,     // a stored block cannot be read now
  };
  // `block`: the whole block that has arrived.
  net::Task<Verdict> judge(cache::Body block);

 private:
  [[nodiscard]] Prefixes verified() const;
  [[nodiscard]] bool is_last() const;
  [[nodiscard]] Verdict unreadable(std::uint32_t block) const;
  [[nodiscard]] Verdict compare_with_verified(const cache::Body& block, const Prefix& after,
                                              const std::vector<Prefix>& all) const;
  net::Task<Verdict> compare_with_stored(const cache::Body& block);
  net::Task<Verdict> judge_stored(cache::Body block);

  FetchAccess& access_;
  const digest::Key key_;
  BlockRun& run_;
  const cache::Ref<const cache::Entry> object_;
  const mirrors::ContentName name_;
  const std::shared_ptr<VersionHashes> hashes_;
  std::uint32_t block_ = 0;  // that arrives
};

}  // namespace proxy::blocks
