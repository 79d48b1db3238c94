// Hashes of bodies that digests name, at the borders of their blocks. A block can then be verified
// alone, and whoever reads it need not hash it once more.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/mirrors/content_name.hpp"

namespace proxy::blocks {

// The state of a hash after the first blocks of a body. A copy of the state goes on with the next
// block.
using Prefix = std::shared_ptr<const mirrors::ContentCheck>;
// The hash of no block, of the first one, of the first two, and so on to that of the body.
using Prefixes = std::shared_ptr<const std::vector<Prefix>>;

// Whether both are the hash of the same bytes.
bool is_same(const Prefix& one, const Prefix& other);

// How a block continues a body: the hash of the blocks before it, and the hash of these and of the
// block. Both are null if nobody has hashed the block in its order.
struct Link {
  Prefix before = {};
  Prefix after = {};
};

// Hashes the blocks of one run in their order, also if several sources supply them one after the
// other. The writer of the run calls all functions but link_of(), which is for any thread.
class RunHash {
 public:
  static constexpr std::size_t kMost = 16 * 1024;  // links, 350 bytes each
  // The next bytes are those of this block from `offset` on. `before`: the hash of the blocks
  // before it; null: only the run may know it.
  void begin(std::uint32_t block, std::uint64_t offset, Prefix before);
  void add(std::string_view bytes);
  // The block is whole. Returns the hash of the body up to its end; null: nobody knows it.
  Prefix end();
  // Returns the hashes of a body of so many blocks. Null: the run has not hashed the whole body.
  [[nodiscard]] Prefixes all(std::uint32_t blocks) const;

  // How the block continues the body, once its last bytes are shown. Nothing, if the run may have
  // supplied the block twice: a reader may have got it the first time. Nor after many blocks more.
  [[nodiscard]] Link link_of(std::uint32_t block) const;

 private:
  [[nodiscard]] Prefix up_to(std::uint32_t block) const;

  std::uint32_t block_ = 0;   // that arrives
  std::uint64_t hashed_ = 0;  // bytes of the block
  Prefix before_;             // the block
  std::optional<mirrors::ContentCheck> hash_;
  mutable threads::Mutex mutex_{threads::Place::alone};
  std::map<std::uint32_t, Link> links_ GUARDED_BY(mutex_);  // at most kMost
  bool began_again_ GUARDED_BY(mutex_) = false;
};

// The hashes of the blocks of one version of an object, as far as they are known. Any thread.
class VersionHashes {
 public:
  // Call this before a block is stored.
  void record_storing(std::uint32_t block, Link link);
  // How the block that is stored continues the body. If two calls, one before the block was read
  // and one after, return the same number, the block was read as this link describes it.
  struct Stored {
    std::uint64_t number = 0;
    Link link;
  };
  [[nodiscard]] Stored stored(std::uint32_t block) const;
  // The link of what is stored, from whoever has hashed it, unless the block was stored anew.
  void record_link(std::uint32_t block, std::uint64_t number, const Link& link);
  // How many blocks were stored so far, of which the same one may have been several times.
  [[nodiscard]] std::uint64_t times_stored() const;
  // The hashes of the body with this name and so many blocks. From the time on at which there are
  // any, every block that is stored or that a run ends has been verified by them. Null: the body
  // was not verified.
  [[nodiscard]] Prefixes verified(const mirrors::ContentName& name, std::uint32_t blocks) const;

 private:
  friend class HashesByVersion;

  bool set_verified(Prefixes all);  // returns whether they are the first ones

  mutable threads::Mutex mutex_{threads::Place::alone};
  std::uint64_t times_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint32_t, Stored> stored_ GUARDED_BY(mutex_);
  Prefixes verified_ GUARDED_BY(mutex_);
};

// The hashes of a version are kept while somebody uses them, and those of the versions that were
// verified last for longer. Any thread.
class HashesByVersion {
 public:
  // The hashes that are kept longer, all together: 350 bytes each.
  static constexpr std::size_t kMost = 16 * 1024;

  std::shared_ptr<VersionHashes> of(std::uint64_t version);
  // Null: nobody uses them.
  [[nodiscard]] std::shared_ptr<VersionHashes> find(std::uint64_t version) const;
  // `all` were verified. Null: they are not known. If there are too many of them, they are not
  // kept.
  void record_verified(const std::shared_ptr<VersionHashes>& hashes, Prefixes all);

 private:
  struct Kept {
    std::shared_ptr<VersionHashes> hashes;
    std::size_t count = 0;
  };

  mutable threads::Mutex mutex_{threads::Place::alone};
  std::unordered_map<std::uint64_t, std::weak_ptr<VersionHashes>> by_version_ GUARDED_BY(mutex_);
  std::size_t prune_at_ GUARDED_BY(mutex_) = 64;
  std::deque<Kept> kept_ GUARDED_BY(mutex_);  // the oldest first
  std::size_t count_ GUARDED_BY(mutex_) = 0;  // of the prefixes in kept_
};

}  // namespace proxy::blocks
