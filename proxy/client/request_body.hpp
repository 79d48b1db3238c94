// The body of one request, for the request path.
#pragma once

#include <chrono>
#include <cstddef>

#include "proxy/net/asio.hpp"

namespace proxy {

// Belongs to the coroutine that answers the request.
class RequestBody {
 public:
  RequestBody() = default;
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  // Reads at least one byte; returns how many, or 0 at the body's end. Each wait for bytes is
  // bounded by `idle`. A body that is cut or has damaged framing is an error, never an end.
  virtual net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                                   std::chrono::milliseconds idle) = 0;
  // Whether the body has been read to its end.
  [[nodiscard]] virtual bool finished() const = 0;

 protected:
  ~RequestBody() = default;
};

}  // namespace proxy
