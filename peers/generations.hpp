// The recent generations of our digest, as messages for neighbours who hold one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "digest/native_digest.hpp"

namespace peers {

// The body of /digest/native and what goes with it. Immutable. Holds the salt: for neighbours only.
struct NativeForm {
  std::vector<std::uint8_t> body;
  std::string etag;  // strong, with its quotes; the same for all messages to one generation
};

// One copy of the filter follows the generations by what changed, so that closing one costs as much
// as that. What separates two generations is kept while it takes no more memory than the filter
// itself (a longer way is shorter by a snapshot), for at most kMaxSteps generations and kMaxFlips
// positions (an I/O thread has to put them in order).
class Generations {
 public:
  static constexpr std::size_t kMaxSteps = 1024;
  static constexpr std::size_t kMaxFlips = std::size_t{1} << 17;

  // One thread calls these two. What `next` says of the checksum does not count.
  //
  // The first generation of an epoch, with all its bits. Drops what was.
  void begin(digest::NativeHead next, std::vector<std::uint8_t> bits);
  // One that continues the epoch: the same shape, and the positions whose bit was turned over since
  // the last one, in any order, each as often as that.
  void close(digest::NativeHead next, std::vector<std::uint32_t> turned);

  // Any thread; waits no longer than it takes to note some changes, or for a snapshot which others
  // want too. What one of them made for a generation is kept for the others. A delta where
  // (epoch, since) is known and that is shorter than digest::snapshot_bytes(), else a snapshot. Not
  // before the first begin().
  std::shared_ptr<const NativeForm> since(std::uint64_t epoch, std::uint64_t since) const;

 private:
  using Flips = std::shared_ptr<const std::vector<std::uint32_t>>;
  using Made = std::map<std::uint64_t, std::shared_ptr<const NativeForm>>;  // by base

  std::shared_ptr<const NativeForm> made(std::uint64_t base) const;
  std::shared_ptr<const NativeForm> keep(const digest::NativeHead& head, std::uint64_t base,
                                         std::vector<std::uint8_t> body) const;
  std::shared_ptr<const NativeForm> snapshot() const;
  std::vector<Flips> steps_from(std::uint64_t epoch, std::uint64_t since) const;
  void drop_old_steps();

  // Whoever takes both takes this one first.
  mutable std::mutex bits_mutex_;   // held while a snapshot is made
  std::vector<std::uint8_t> bits_;  // of newest_

  mutable std::mutex mutex_;   // guards all below, briefly
  digest::NativeHead newest_;  // written under both
  std::deque<Flips> steps_;    // the last one leads to the newest generation
  std::size_t flips_kept_ = 0;
  mutable Made made_;
};

// "E-G", the entity tag of a generation.
std::string native_etag(std::uint64_t epoch, std::uint64_t generation);

}  // namespace peers
