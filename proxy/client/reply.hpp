// The writing side of a client's connection: one response after the other, framed so that the
// client can tell whether it got all of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/fill/fill.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/observe/record.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

// Belongs to the session's coroutine. Order, for each request: begin(), then interim()*, then
// start(), body()*, finish(). An error means that the client is gone or too slow; what was begun
// and not finished is never followed by another response.
class Reply {
 public:
  Reply(net::Stream& client, std::chrono::milliseconds idle) : client_(client), idle_(idle) {}

  // `wants_more`: the client asked for the connection to be kept.
  void begin(int client_minor, bool head_only, bool wants_more);

  net::Task<net::error_code> interim(std::string_view head);

  // The fields that this response has besides those in `head`; add them before start().
  std::string& fields() { return fields_; }
  // `head` is a status line and fields, without framing and empty line. `length` is that of the
  // body if known; `body` are its first bytes, perhaps all. 204 and 304 have none.
  net::Task<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length,
                                   std::span<const net::asio::const_buffer> body = {});
  net::Task<net::error_code> body(const Pieces& pieces);
  net::Task<net::error_code> body(net::asio::const_buffer bytes);
  net::Task<net::error_code> body(std::span<const net::asio::const_buffer> body);
  net::Task<net::error_code> finish();

  // The connection closes after this response.
  void close_after() { keep_ = false; }
  // Whether another request may follow: all was sent, and both sides agree.
  [[nodiscard]] bool may_go_on() const { return keep_ && (finished_ || !started_); }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool close_delimited() const {
    return started_ && !bodiless_ && !chunked_ && !left_;
  }
  [[nodiscard]] bool head_only() const { return head_only_; }

  RequestRecord& record() { return record_; }

 private:
  using Buffers = boost::container::small_vector<net::asio::const_buffer, 20>;

  void append_framing(unsigned status, std::optional<std::uint64_t> length);
  bool exceeds_length(std::span<const net::asio::const_buffer> body);
  void add_chunk(Buffers& out, std::span<const net::asio::const_buffer> body);
  net::Task<net::error_code> write(const Buffers& buffers);

  net::Stream& client_;
  const std::chrono::milliseconds idle_;
  std::string fields_;
  std::string chunk_;
  RequestRecord record_;
  int minor_ = 1;
  bool head_only_ = false;
  bool keep_ = false;
  bool chunked_ = false;
  bool bodiless_ = false;
  bool started_ = false;
  bool finished_ = false;
  std::optional<std::uint64_t> left_;  // of a body of known length
  net::error_code gone_;               // why nothing more can be written, ever
};

}  // namespace proxy
