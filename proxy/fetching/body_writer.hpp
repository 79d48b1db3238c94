// Writes an answer as one body: streams it to the fill's readers, and stores it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/blocks/least_rate.hpp"
#include "proxy/fetching/growth.hpp"
#include "proxy/fetching/incoming.hpp"

namespace proxy {

// Order: publish() or hold_back(), then write(), then complete() or fail(), or join() and write()
// again (see rest_of_body.hpp); or publish() and to_the_end(). Belongs to the fill's coroutine. A
// body that is not stored, or that outgrows memory, passes through a window (see
// Fill::keep_window). What is left there (Incoming) does so only from kHeldBack bytes on: before,
// later requests may join.
class BodyWriter {
 public:
  // A longer body that is left with the neighbour passes through a window.
  static constexpr std::uint64_t kHeldBack = 1 << 20;
  // At most this number of bytes are held back.
  static constexpr std::uint64_t kMostHeldBack = cache::kLargeFrom;

  BodyWriter(FillContext& context, Incoming incoming);
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  // Shows readers the head, and the body as it arrives.
  void publish();
  // Publishes only once the body is whole. If the source fails before that, the readers do not
  // notice that another one replaces it. If the body turns out to be larger than kMostHeldBack, it
  // is published after all. With `until_whole`, write() fails with `cut` instead, and
  // too_long_to_hold_back() is true.
  void hold_back(bool until_whole) {
    held_back_ = true;
    until_whole_ = until_whole;
  }
  [[nodiscard]] bool held_back() const { return held_back_; }
  [[nodiscard]] bool too_long_to_hold_back() const;

  // Reads the body to its end. `idle`: the longest wait for the next bytes. `rate`: a slower
  // body is a failure, unless it is published and not stored.
  net::Task<Outcome<void>> write(std::chrono::milliseconds idle,
                                 std::optional<LeastRate> rate = std::nullopt);
  // Whether the answer of another source continues the body: it is of the same representation.
  [[nodiscard]] bool fits(const Attempt& rest) const;
  // Call this after write() has failed, with an answer that fits(): write() then writes the rest.
  // Fails if the answer does not reach the rest. What a neighbour has completed is not stored,
  // because an entry names only one giver.
  net::Task<Outcome<void>> join(Attempt rest);
  // Call this after write(): publishes a body that is still held back, stores it, finishes the
  // fill.
  void complete();
  // Call this after write(): stores what came as a part if a strong validator allows the rest to be
  // asked for later, and fails the fill.
  void fail(const Failure& cut);
  // As fail(), but stores nothing. Counts the answer by the reason why it is not stored.
  void end_cut(const Failure& cut);
  // complete() or fail(), by what write() has returned.
  void end(const Outcome<void>& written);
  // write(), then end().
  net::Task<void> to_the_end();

  [[nodiscard]] const Attempt& attempt() const { return incoming_.attempt; }
  [[nodiscard]] Attempt& attempt() { return incoming_.attempt; }
  // Call this after write() has failed: records the failure of a parent (Fetch::note_cut).
  void note_cut() { incoming_.attempt.fetch().server().note_cut(); }
  [[nodiscard]] cache::Ref<const cache::Entry> entry() const { return incoming_.entry; }

 private:
  [[nodiscard]] bool stores() const { return keeping_ && !incoming_.left_there; }
  [[nodiscard]] bool at_end();
  void next_block();
  void take(std::size_t size);
  void note_size();
  [[nodiscard]] bool worth_lending();
  net::Task<Outcome<void>> lend(std::chrono::milliseconds idle);
  Count& upstream_bytes();
  net::Task<void> grow();
  [[nodiscard]] bool worth_finishing() const;
  [[nodiscard]] bool gives_up();
  void outgrow_memory();
  void stop_keeping(cache::Storability why);
  cache::Storability store();
  cache::Storability store_whole();
  void store_what_came(const Failure& cut);

  FillContext& context_;
  Incoming incoming_;
  Growth growth_;
  cache::Ref<cache::Block> block_;  // the last block of the body
  std::uint32_t used_ = 0;          // the number of bytes in block_
  bool keeping_;  // the whole body: to store it or, of what is left there, for requests that join
  cache::Storability storability_;  // `yes` while the answer may still be stored
  bool published_ = false;
  bool held_back_ = false;
  bool until_whole_ = false;
  bool windowed_ = false;  // the body has outgrown memory: the fill keeps a window, blocks the rest
  const UnreadWatch watch_;
};

}  // namespace proxy
