// Responses over HTTP/1, one after the other. Their framing lets the client tell a whole response
// from a cut one.
#pragma once

#include <boost/container/small_vector.hpp>

#include "proxy/client/response_writer.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/observe/request_record.hpp"
#include "proxy/wire/input.hpp"

namespace proxy {

// Belongs to the session's coroutine. The constructor's arguments outlive it. Call begin() before
// each response.
class Http1Response final : public ResponseWriter {
 public:
  // `record` gets the status, the time of the head, and the number of bytes sent. A write that
  // makes no progress for `idle` fails.
  Http1Response(net::Stream& stream, Input& input, RequestRecord& record,
                std::chrono::milliseconds idle)
      : stream_(stream), input_(input), record_(record), idle_(idle) {}

  // `wants_more`: the client asked for the connection to be kept.
  void begin(int client_minor, bool head_only, bool wants_more);
  // Whether another request may follow: the response was sent whole, and both sides keep the
  // connection.
  [[nodiscard]] bool may_go_on() const { return keep_ && (finished_ || !started_); }

  net::Task<net::error_code> interim(std::string_view head) override;
  using ResponseWriter::start;
  net::Task<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length,
                                   std::span<const net::asio::const_buffer> body) override;
  using ResponseWriter::body;
  net::Task<net::error_code> body(std::span<const net::asio::const_buffer> body) override;
  [[nodiscard]] bool sends_files() const override { return !stream_.is_tls() && !head_only_; }
  net::Task<net::error_code> start_file(std::string_view head, unsigned status,
                                        std::uint64_t length) override;
  net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) override;
  using ResponseWriter::finish;
  net::Task<net::error_code> finish(std::string_view trailers) override;
  void abort() override;
  [[nodiscard]] Unread unread(const cache::Budget& transit) const override;
  void close_after() override { keep_ = false; }
  [[nodiscard]] std::optional<std::uint64_t> acknowledged() override {
    return stream_.acknowledged();
  }
  [[nodiscard]] std::optional<RawConnection> raw_connection() override {
    return RawConnection{stream_, input_};
  }

 private:
  using Buffers = boost::container::small_vector<net::asio::const_buffer, 20>;

  [[nodiscard]] bool holds_to_bandwidth() const { return bandwidth_ && bandwidth_->is_limited(); }
  void begin_head(unsigned status, std::optional<std::uint64_t> length);
  void append_framing(unsigned status, std::optional<std::uint64_t> length);
  [[nodiscard]] bool close_delimited() const {
    return started_ && !bodiless_ && !chunked_ && !left_;
  }
  bool exceeds_length(std::span<const net::asio::const_buffer> body);
  void add_chunk(Buffers& out, std::span<const net::asio::const_buffer> body);
  net::Task<net::error_code> write(const Buffers& buffers, net::More more = net::More::no);
  void note_sent(net::error_code error);
  net::Task<net::error_code> write_in_turns(const Buffers& buffers);
  net::Task<std::uint64_t> turn(std::uint64_t wanted);

  net::Stream& stream_;
  Input& input_;
  RequestRecord& record_;
  const std::chrono::milliseconds idle_;
  std::string chunk_;
  int minor_ = 1;
  bool keep_ = false;
  bool chunked_ = false;
  bool bodiless_ = false;
  std::optional<std::uint64_t> left_;  // bytes of the body not sent yet, if its length is known
  net::error_code gone_;               // the error after which every write fails
  std::uint64_t writing_ = 0;          // bytes of the write under way
};

}  // namespace proxy
