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

// What separates two generations is kept while it takes no more memory than the filter itself (a
// longer way is shorter by a snapshot) and for at most kMaxSteps generations.
class Generations {
 public:
  static constexpr std::size_t kMaxSteps = 1024;

  // One thread only. A generation that continues the last one's epoch has its shape; any other
  // epoch drops what was.
  void close(digest::NativeDigest next);

  // Any thread; locks only to look up and to put in. What one of them made for a generation is kept
  // for the others. A delta where (epoch, since) is known and that is shorter, else a snapshot.
  // Not before the first close().
  std::shared_ptr<const NativeForm> since(std::uint64_t epoch, std::uint64_t since) const;

 private:
  using Flips = std::shared_ptr<const std::vector<std::uint32_t>>;

  std::vector<Flips> steps_from(std::uint64_t epoch, std::uint64_t since) const;
  void drop_old_steps();

  mutable std::mutex mutex_;
  std::shared_ptr<const digest::NativeDigest> newest_;
  std::deque<Flips> steps_;  // the last one leads to the newest generation
  std::size_t flips_kept_ = 0;
  mutable std::map<std::uint64_t, std::shared_ptr<const NativeForm>> made_;  // by base
};

// "E-G", the entity tag of a generation.
std::string native_etag(std::uint64_t epoch, std::uint64_t generation);

}  // namespace peers
