// A body on its way that its writer lends to the only reader, so that it passes within the kernel.
#pragma once

#include "proxy/net/pipe.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy {

// Belongs to the fill's writer, which waits while the reader has it (see Fill::lend).
class LentBody {
 public:
  // A shorter rest costs less in memory.
  static constexpr std::uint64_t kLeast = 256 * 1024;

  LentBody() = default;
  LentBody(const LentBody&) = delete;
  LentBody& operator=(const LentBody&) = delete;

  // Moves the next bytes of the body, at least one, into the pipe, which is empty. Zero: the body
  // has ended.
  virtual net::Task<Outcome<std::size_t>> next(net::Pipe& into) = 0;

 protected:
  ~LentBody() = default;
};

}  // namespace proxy
