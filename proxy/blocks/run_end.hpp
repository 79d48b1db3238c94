// How a run ended.
#pragma once

#include <cstdint>

#include "proxy/upstream/failure.hpp"

namespace proxy {

struct RunEnd {
  enum class How : std::uint8_t {
    finished,  // the source supplied all blocks that were left
    unwanted,  // no reader was left
    declined,  // an early run did not get its range: see BlockRuns::decline()
    refused,   // the origin has another version, or sends no more of this one
    failed,    // see `why`
  };
  How how = How::failed;
  Failure why{Failure::Where::us, Failure::What::overload, {}};

  // The end after a response's body was read, as far as it came or was wanted.
  static RunEnd after(const Outcome<void>& body) {
    if (body) return {How::finished};
    if (body.error().what == Failure::What::abandoned) return {How::unwanted};
    return {How::failed, body.error()};
  }

  [[nodiscard]] bool failed() const { return how == How::failed; }
  // The failure that a reader gets if the run did not supply its block. `abandoned`: the reader is
  // to ask for the block again.
  [[nodiscard]] Failure for_readers() const {
    const bool told = how == How::refused || how == How::failed;
    return told ? why : Failure{Failure::Where::us, Failure::What::abandoned, {}};
  }
};

}  // namespace proxy
