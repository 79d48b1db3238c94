// Responses to one client that wait to be written together.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "proxy/cache/budget.hpp"
#include "proxy/net/input.hpp"

namespace proxy {

// A copy of the bytes of some small responses, in a buffer of the thread's pool, which is taken
// with the first bytes and returned by clear(). While a buffer is in use it is charged to the
// memory of bodies on their way, since a client that does not read keeps it in use. Belongs to one
// coroutine. The constructor's arguments outlive this object.
class HeldBack {
 public:
  static constexpr std::size_t kMost = BufferPool::kSize;

  HeldBack(BufferPool& pool, cache::Budget& transit) : pool_(pool), transit_(transit) {}
  ~HeldBack() { clear(); }
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool has_room_for(std::size_t bytes) const { return bytes <= kMost - size_; }
  // Call this only if there is room.
  void add(std::span<const net::asio::const_buffer> buffers) {
    if (!bytes_) take_buffer();
    for (const auto& buffer : buffers) {
      std::memcpy(bytes_.get() + size_, buffer.data(), buffer.size());
      size_ += buffer.size();
    }
  }
  // Valid until the next add() or clear().
  [[nodiscard]] net::asio::const_buffer bytes() const { return {bytes_.get(), size_}; }
  void clear() {
    if (bytes_) pool_.give_back(std::move(bytes_));
    bytes_.reset();
    charge_.reset();
    size_ = 0;
  }
  // What it takes of the memory of bodies on their way.
  [[nodiscard]] std::uint64_t charged() const { return bytes_ ? kMost : 0; }

 private:
  void take_buffer() {
    bytes_ = pool_.take();
    charge_.emplace(transit_, kMost);
  }

  BufferPool& pool_;
  cache::Budget& transit_;
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::optional<cache::Charge> charge_;
};

}  // namespace proxy
