// Writes an answer as one body: streams it to the fill's readers, and stores it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/blocks/block_writer.hpp"
#include "proxy/fetching/context.hpp"
#include "proxy/fetching/growth.hpp"

namespace proxy::fetching {

// Order: publish() or hold_back(), then write(), then end(), or join() and write() again (see
// rest_of_body.hpp). Belongs to the fill's coroutine.
//
// A body that is not stored, or that outgrows memory, passes through a window (see
// Fill::keep_window). A body that is left with the neighbour (Incoming::left_there) is kept up to
// kHeldBack bytes, so that later requests may join the fill. If it is longer, it passes through a
// window, too.
//
// If a digest names the body (policy::digest_of()), the writer compares the whole body with the
// digest before readers get the last bytes; or, if the length is unknown, before readers learn that
// the body has ended. If the digest is another one, write() fails with `malformed` and
// Errc::wrong_content.
class BodyWriter {
 public:
  // A longer body that is left with the neighbour passes through a window.
  static constexpr std::uint64_t kHeldBack = 1 << 20;
  // At most this number of bytes are held back.
  static constexpr std::uint64_t kMostHeldBack = cache::kLargeFrom;

  BodyWriter(FillContext& context, Incoming incoming);

  // Shows readers the head, and the body as it arrives.
  void publish();
  // Publishes only once the body is whole. If the source fails before that, the readers do not
  // notice that another one replaces it. What happens if the body turns out to be larger than
  // kMostHeldBack: it is published after all, or write() fails with `cut` and
  // too_long_to_hold_back() is true.
  enum class IfLong : std::uint8_t { publish, fail };
  void hold_back(IfLong then) {
    shown_ = then == IfLong::fail ? Shown::if_whole : Shown::if_whole_or_long;
  }
  [[nodiscard]] bool held_back() const {
    return shown_ == Shown::if_whole || shown_ == Shown::if_whole_or_long;
  }
  [[nodiscard]] bool too_long_to_hold_back() const;

  // Call this after publish(), before write(): the body begins with these bytes.
  net::Task<void> begin_with(cache::Body stored);
  // Reads the body to its end. `idle`: the longest wait for the next bytes. `rate`: a slower
  // body is a failure, unless it is published and not stored.
  net::Task<upstream::Outcome<void>> write(std::chrono::milliseconds idle,
                                           std::optional<blocks::LeastRate> rate = std::nullopt);
  // Whether the answer of another source continues the body: it is of the same representation.
  [[nodiscard]] bool fits(const sources::Attempt& rest) const;
  // Continues a cut body from another source. Call this after write() has failed, with an answer
  // that fits(), and then write() again. Fails if the answer begins behind the place of the cut. A
  // body that a neighbour has completed is not stored, because an entry names only one giver.
  net::Task<upstream::Outcome<void>> join(sources::Attempt rest);
  // Call this after write(): publishes a body that is still held back, stores it, finishes the
  // fill.
  net::Task<void> complete();
  // Call this after write() has failed: fails the fill, and stores nothing. Counts the answer by
  // the reason why it is not stored.
  void end_cut(const upstream::Failure& cut);
  // Call this with the result of write(). After a success: complete(). After a failure: stores the
  // bytes so far as a part, if a strong validator lets a later request ask for the rest; then
  // end_cut().
  net::Task<void> end(upstream::Outcome<void> written);

  [[nodiscard]] sources::Attempt& attempt() { return incoming_.attempt; }
  [[nodiscard]] cache::Ref<const cache::Entry> entry() const { return incoming_.entry; }

 private:
  // What readers see of the answer.
  enum class Shown : std::uint8_t { nothing, if_whole, if_whole_or_long, all };
  // Where the whole body is kept: to be stored or, if the response is left with the neighbour, for
  // requests that join.
  enum class Kept : std::uint8_t { in_memory, in_blocks, nowhere };

  [[nodiscard]] bool stores() const { return kept_ != Kept::nowhere && !incoming_.left_there; }
  [[nodiscard]] bool is_windowed() const {
    return shown_ == Shown::all && kept_ != Kept::in_memory;
  }
  [[nodiscard]] std::uint64_t left() const;
  [[nodiscard]] bool at_end();
  void next_block();
  [[nodiscard]] bool append(std::size_t size);
  [[nodiscard]] bool is_wrong(std::uint64_t received);
  [[nodiscard]] std::optional<upstream::Failure> apply_limits();
  [[nodiscard]] bool worth_lending();
  using Read = upstream::Outcome<std::size_t>;  // bytes; zero at the end
  net::Soon<Read> next_bytes(std::chrono::milliseconds idle);
  net::Soon<Read> read_into_block(std::chrono::milliseconds idle);
  net::Task<Read> read_timed(net::asio::mutable_buffer into, std::chrono::milliseconds idle);
  net::Task<Read> lend(std::chrono::milliseconds idle);
  net::Task<void> grow();
  net::Task<void> end_growth();
  [[nodiscard]] bool gives_up();
  void outgrow_memory();
  void stop_keeping(cache::Storability why);
  net::Task<cache::Storability> store();

  FillContext& context_;
  Incoming incoming_;
  Growth growth_;
  cache::Ref<cache::Block> block_;  // the last block of the body
  std::uint32_t used_ = 0;          // the number of bytes in block_
  Shown shown_ = Shown::nothing;
  Kept kept_;
  cache::Storability storability_;              // `yes` while the answer may still be stored
  std::optional<mirrors::ContentCheck> check_;  // nothing: no digest names the body
  std::optional<blocks::LeastRate> rate_;       // of this write()
  const UnreadWatch watch_;
};

}  // namespace proxy::fetching
