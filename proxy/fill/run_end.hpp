// How a run ended.
#pragma once

#include <cstdint>

#include "proxy/upstream/failure.hpp"

namespace proxy {

struct RunEnd {
  enum class How : std::uint8_t {
    finished,  // its source gave all that was left of it
    unwanted,  // nobody read it any more
    declined,  // it was begun early, and not granted what it asked for: see BlockRuns::decline()
    refused,   // the origin has another version, or sends no more of this one
    failed,    // see `why`
  };
  How how = How::failed;
  Failure why{Failure::Where::us, Failure::What::overload, {}};

  // After a response's body was taken as far as it came, or was wanted.
  static RunEnd after(const Outcome<void>& body) {
    if (body) return {How::finished};
    if (body.error().what == Failure::What::abandoned) return {How::unwanted};
    return {How::failed, body.error()};
  }

  [[nodiscard]] bool failed() const { return how == How::failed; }
  // What a reader gets whose block the run did not bring. `abandoned`: the block is to be asked for
  // once more.
  [[nodiscard]] Failure for_readers() const {
    const bool told = how == How::refused || how == How::failed;
    return told ? why : Failure{Failure::Where::us, Failure::What::abandoned, {}};
  }
};

}  // namespace proxy
