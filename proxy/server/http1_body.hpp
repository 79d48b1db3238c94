// The body of a request over HTTP/1.
#pragma once

#include "proxy/client/request_body.hpp"
#include "proxy/wire/input.hpp"

namespace proxy {

class Http1Body final : public RequestBody {
 public:
  Http1Body(Input& input, http::Framing framing) : reader_(input, framing) {}

  net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                           std::chrono::milliseconds idle) override {
    return reader_.read(into, idle);
  }
  [[nodiscard]] bool finished() const override { return reader_.finished(); }

 private:
  BodyReader reader_;
};

}  // namespace proxy
