// One value that a single writer replaces as a whole and any thread reads without waiting.
#pragma once

#include <array>
#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace peers {

// The readers' half of Left-Right (Ramalhete and Correia 2015) over one pointer. A read costs two
// atomic additions. (std::atomic<std::shared_ptr> of libstdc++ 12 takes a lock, and its unlock
// after a load is relaxed, which is a data race.)
template <class T>
class Snapshot {
 public:
  explicit Snapshot(std::unique_ptr<const T> first)
      : owned_(std::move(first)), current_(owned_.get()) {}

  // Calls `use` with the current value, a reference to which must not outlive the call. Any thread,
  // never waits.
  template <class Use>
  auto read(Use use) const {
    const Visit visit(readers_[side_.load()].count);
    return use(*current_.load());
  }

  // Replaces the value and waits until no reader uses the old one. One thread at a time.
  void replace(std::unique_ptr<const T> next) {
    current_.store(next.get());
    // Every reader of the old value was counted on one of the two sides before the store above.
    // Once each side has been seen empty, they have all left. New readers use the side that is not
    // being waited for.
    const unsigned side = side_.load();
    wait_for(1 - side);
    side_.store(1 - side);
    wait_for(side);
    owned_ = std::move(next);
  }

 private:
  class Visit : boost::noncopyable {
   public:
    explicit Visit(std::atomic<std::int64_t>& count) : count_(count) { count_.fetch_add(1); }
    ~Visit() { count_.fetch_sub(1); }

   private:
    std::atomic<std::int64_t>& count_;
  };

  struct alignas(64) Side {
    std::atomic<std::int64_t> count{0};
  };

  void wait_for(unsigned side) const {
    while (readers_[side].count.load() != 0) std::this_thread::yield();
  }

  std::unique_ptr<const T> owned_;
  std::atomic<const T*> current_;
  std::atomic<unsigned> side_{0};
  mutable std::array<Side, 2> readers_;
};

}  // namespace peers
