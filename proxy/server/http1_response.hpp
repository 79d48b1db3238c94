// Responses over HTTP/1, one after the other. Their framing lets the client tell a whole response
// from a cut one. Several small ones may be sent by one system call.
#pragma once

#include <boost/container/small_vector.hpp>

#include "proxy/client/response_writer.hpp"
#include "proxy/net/input.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/server/held_back.hpp"

namespace proxy {

// Belongs to the session's coroutine. The constructor's arguments outlive it. Call begin() before
// each response.
//
// A client may send its requests without waiting for the responses (RFC 9112 9.3.2). If the next
// request has arrived already, a response that comes_at_once() is held back, and the next write
// sends both. So a response is held back only while the thread computes the next one. A response
// that is held back counts as sent, like one whose bytes wait in the kernel. A client that goes
// away gets the bytes of neither.
class Http1Response final : public ResponseWriter {
 public:
  // `record` gets the status, the time of the head, and the number of bytes sent. A write that
  // makes no progress for `idle` fails. `pool` and `transit`: see HeldBack.
  Http1Response(net::Stream& stream, Input& input, RequestRecord& record, BufferPool& pool,
                cache::Budget& transit, std::chrono::milliseconds idle)
      : stream_(stream), input_(input), record_(record), held_back_(pool, transit), idle_(idle) {}

  // What follows the request in the input.
  enum class Next : std::uint8_t { unknown, is_here };  // here: with its whole head
  // `wants_more`: the client asked for the connection to be kept.
  void begin(int client_minor, bool head_only, bool wants_more, Next next = Next::unknown);
  // Whether another request may follow: the response was sent whole, and both sides keep the
  // connection.
  [[nodiscard]] bool may_go_on() const { return keep_ && (finished_ || !started_); }

  net::Soon<net::error_code> interim(std::string_view head) override;
  using ResponseWriter::start;
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length,
                                   std::span<const net::asio::const_buffer> body) override;
  using ResponseWriter::body;
  net::Soon<net::error_code> body(std::span<const net::asio::const_buffer> body) override;
  [[nodiscard]] bool holds_back() const override { return !held_back_.empty(); }
  net::Soon<net::error_code> flush() override;
  [[nodiscard]] bool sends_files() const override { return !stream_.is_tls() && !head_only_; }
  net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override;
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override;
  using ResponseWriter::finish;
  net::Soon<net::error_code> finish(std::string_view trailers) override;
  void abort() override;
  [[nodiscard]] Unread unread(const cache::Budget& transit) const override;
  void close_after() override { keep_ = false; }
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() override {
    return net::acknowledged(stream_.descriptor());
  }
  [[nodiscard]] std::optional<RawConnection> raw_connection() override {
    return RawConnection{stream_, input_};
  }

 private:
  using Buffers = boost::container::small_vector<net::asio::const_buffer, 20>;

  [[nodiscard]] bool holds_to_bandwidth() const { return bandwidth_ && bandwidth_->is_limited(); }
  void begin_head(unsigned status, std::optional<std::uint64_t> length);
  void append_framing(unsigned status, std::optional<std::uint64_t> length);
  // How the body is sent.
  enum class Body : std::uint8_t { plain, chunked, none };

  [[nodiscard]] bool close_delimited() const {
    return started_ && body_.form == Body::plain && !body_.left;
  }
  bool exceeds_length(std::span<const net::asio::const_buffer> body);
  // The buffers refer to body_.chunk_size.
  void add_chunk(Buffers& out, std::span<const net::asio::const_buffer> body);
  bool hold_back(const Buffers& whole);
  net::Soon<net::error_code> write(Buffers&& buffers, net::More more = net::More::no);
  net::Task<net::error_code> write_later(Buffers buffers, std::size_t sent, net::More more);
  net::Task<net::error_code> finish_chunked(std::string_view trailers);
  net::Task<net::error_code> send_held_back();
  net::Task<net::error_code> write_after_held(const Buffers& buffers, net::More more);
  void note_sent(net::error_code error);
  net::Task<net::error_code> write_in_turns(const Buffers& buffers);
  net::Task<std::uint64_t> turn(std::uint64_t wanted);

  net::Stream& stream_;
  Input& input_;
  RequestRecord& record_;
  HeldBack held_back_;
  const std::chrono::milliseconds idle_;
  int minor_ = 1;
  Next next_ = Next::unknown;
  bool keep_ = false;
  struct {
    Body form = Body::plain;
    std::optional<std::uint64_t> left;  // bytes not sent yet, if the length is known
    std::string chunk_size;             // the text of the last chunk's
  } body_;
  net::error_code gone_;       // the error after which every write fails
  std::uint64_t writing_ = 0;  // bytes of the write under way
};

}  // namespace proxy
