// The recent generations of our digest, as messages for neighbours that hold one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "digest/native_digest.hpp"
#include "peers/threads/mutex.hpp"

namespace peers {

// The body of /digest/native and its entity tag. Immutable. The body contains the
// salt, so only neighbours get it.
struct NativeForm {
  std::vector<std::uint8_t> body;
  std::string etag;  // strong, with its quotes; the same for all messages to one generation
};

// Keeps one copy of the filter and applies the changes to it, so the cost of closing a generation
// grows with its changes. The changes between generations are kept while they take no more memory
// than the filter itself (beyond that a snapshot is shorter), for at most kMaxSteps generations and
// kMaxFlips positions (an I/O thread has to sort them).
class Generations {
 public:
  static constexpr std::size_t kMaxSteps = 1024;
  static constexpr std::size_t kMaxFlips = std::size_t{1} << 17;

  // begin() and close() are for one thread. They ignore the checksum in `next`.
  //
  // Starts an epoch with its first generation and all bits of the filter. Drops earlier
  // generations.
  void begin(digest::NativeHead next, std::vector<std::uint8_t> bits);
  // Adds a generation to the epoch, with the same shape. `turned` holds the positions of bits that
  // changed since the last generation, in any order, each as often as its bit changed.
  void close(digest::NativeHead next, std::vector<std::uint32_t> turned);

  // Returns a message that leads from generation `since` of `epoch` to the newest: a delta if that
  // generation is known and the delta is shorter than digest::snapshot_bytes(), else a snapshot. A
  // message once made for a base is kept for other callers. Any thread; waits at most until some
  // changes have been recorded, or for a snapshot that other callers also wait for. begin() must
  // have been called.
  std::shared_ptr<const NativeForm> since(std::uint64_t epoch, std::uint64_t since) const;

 private:
  using Flips = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Made = std::map<std::uint64_t, std::shared_ptr<const NativeForm>>;  // indexed by base

  std::shared_ptr<const NativeForm> made(std::uint64_t base) const REQUIRES(mutex_);
  std::shared_ptr<const NativeForm> keep(const digest::NativeHead& head, std::uint64_t base,
                                         std::vector<std::uint8_t> body) const;
  std::shared_ptr<const NativeForm> snapshot() const;
  std::vector<Flips> steps_from(std::uint64_t epoch, std::uint64_t since) const REQUIRES(mutex_);
  void drop_old_steps() REQUIRES(bits_mutex_, mutex_);

  // Taken before mutex_, and held while a snapshot is made.
  mutable threads::Mutex bits_mutex_{threads::Place::second};
  std::vector<std::uint8_t> bits_ GUARDED_BY(bits_mutex_);  // of newest_

  mutable threads::Mutex mutex_{threads::Place::third};  // held briefly
  digest::NativeHead newest_ GUARDED_BY(mutex_);         // written under both locks
  std::deque<Flips> steps_ GUARDED_BY(mutex_);  // the last one leads to the newest generation
  std::size_t flips_kept_ GUARDED_BY(mutex_) = 0;
  mutable Made made_ GUARDED_BY(mutex_);
};

// The entity tag of a generation: "E-G".
std::string native_etag(std::uint64_t epoch, std::uint64_t generation);

}  // namespace peers
