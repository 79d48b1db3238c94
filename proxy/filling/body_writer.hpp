// Writes an answer that is kept as one body: streams it to the fill's readers, and stores it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/blocks/least_rate.hpp"
#include "proxy/filling/growth.hpp"
#include "proxy/filling/incoming.hpp"

namespace proxy {

// Order: publish() or hold_back(), then to_the_end(); or pour(), then complete() or
// pour_rest_from_origin(). Belongs to the fill's coroutine. A body that is not stored, or that
// outgrows memory, passes through a window (see Fill::keep_window).
class BodyWriter {
 public:
  // A body that is held back is published once more bytes than this have arrived.
  static constexpr std::uint64_t kHeldBack = 1 << 20;

  BodyWriter(FillContext& context, Incoming incoming);
  BodyWriter(const BodyWriter&) = delete;
  BodyWriter& operator=(const BodyWriter&) = delete;

  // Shows readers the head, and the body as it arrives.
  void publish();
  // Publishes no sooner than the body is whole, or larger than kHeldBack: a source that fails
  // before that can be replaced unseen.
  void hold_back() { held_back_ = true; }
  [[nodiscard]] bool held_back() const { return held_back_; }

  // Takes the body until its end. `idle`: the longest wait for the next bytes. `rate`: a slower
  // body is a failure, unless it is published and not stored.
  net::Task<Outcome<void>> pour(std::chrono::milliseconds idle,
                                std::optional<LeastRate> rate = std::nullopt);
  // Call this after pour() has failed with `cut`: appends the rest from the origin, if it is of the
  // same representation; else returns `cut`.
  net::Task<Outcome<void>> pour_rest_from_origin(Failure cut);
  // Call this after pour(): publishes what is still held back, stores the body, finishes the fill.
  void complete();
  // pour() and complete(). If the body is cut, the fill fails, and the received bytes are stored as
  // a part, if a strong validator allows the rest to be asked for.
  net::Task<void> to_the_end();

  [[nodiscard]] const Attempt& attempt() const { return incoming_.attempt; }

 private:
  [[nodiscard]] bool at_end();
  void next_block();
  net::Task<void> take(std::size_t size);
  net::Task<void> grow();
  net::Task<bool> is_wanted();
  [[nodiscard]] bool worth_finishing() const;
  [[nodiscard]] bool gives_up();
  void outgrow_memory();
  void stop_storing();
  bool store();
  bool store_whole();
  void store_what_came(const Failure& cut);

  FillContext& context_;
  Incoming incoming_;
  Growth growth_;
  std::shared_ptr<cache::Block> block_;  // the last one of the body
  std::uint32_t used_ = 0;               // bytes of it
  bool storing_;
  bool published_ = false;
  bool held_back_ = false;
  bool windowed_ = false;  // the body has outgrown memory: the fill keeps a window, blocks the rest
  const UnreadWatch watch_;
};

}  // namespace proxy
