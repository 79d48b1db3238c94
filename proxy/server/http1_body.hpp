// The body of a request over HTTP/1.
#pragma once

#include "proxy/client/request_body.hpp"
#include "proxy/crowd/receipt_rate.hpp"
#include "proxy/net/input.hpp"

namespace proxy {

class Http1Body final : public RequestBody {
 public:
  // A body that does not meet the rate fails with asio::error::timed_out.
  Http1Body(Input& input, http::Framing framing, ReceiptRate rate = {0, {}})
      : reader_(input, framing), rate_(rate) {}

  net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                           std::chrono::milliseconds idle) override {
    const auto begun = std::chrono::steady_clock::now();
    const auto read = co_await reader_.read(into, idle);
    if (!read || reader_.finished()) co_return read;
    const auto met = rate_.note(*read, std::chrono::steady_clock::now() - begun);
    too_slow_ = met == ReceiptRate::Met::no;
    if (too_slow_) co_return net::error_code(net::asio::error::timed_out);
    co_return read;
  }
  [[nodiscard]] bool finished() const override { return reader_.finished(); }
  // The body has failed because it came too slowly.
  [[nodiscard]] bool too_slow() const { return too_slow_; }

 private:
  BodyReader reader_;
  ReceiptRate rate_;
  bool too_slow_ = false;
};

}  // namespace proxy
