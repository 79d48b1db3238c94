// The writer of the response to one request: the request path's only view of a client's connection.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/crowd/bandwidth.hpp"
#include "proxy/crowd/whom_to_end.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::net {
class Stream;
struct FilePart;
}  // namespace proxy::net

namespace proxy {

class Input;

// A connection for a tunnel. It carries no other exchange.
struct RawConnection {
  net::Stream& stream;
  Input& input;  // may hold bytes that the client sent after the request
};

// For ResponseWriter::interim(): asks the client for the request's body (RFC 9110 15.2.1).
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Belongs to one coroutine and its thread. Order, for each request: interim()*, start(), body()*,
// finish(). A response that was started and not finished is aborted by the writer's owner.
//
// Await each result before the next call. Bytes that are to be sent must live until then; a list of
// buffers only until the call returns.
//
// Heads are text in HTTP/1's form, as entries store them: lines that end in CRLF. An implementation
// of another protocol encodes them anew.
//
// A returned error means that the client is gone or too slow, or that the body does not have the
// length that start() promised. All later writes fail, too.
class ResponseWriter {
 public:
  ResponseWriter() = default;
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  // Sends an interim response (RFC 9110 15.2). `head` ends in the empty line. Clients of HTTP/1.0
  // get none.
  virtual net::Soon<net::error_code> interim(std::string_view head) = 0;

  // Additional fields of this response, besides those in `head`. Add them before start().
  std::string& fields() { return fields_; }
  // Sends the head and the first or all bytes of the body. `head` is a status line and fields,
  // without the framing and the empty line. `length` is the length of the body, if known. A 204, a
  // 304 and a response to HEAD have no body: bytes given for it are ignored.
  virtual net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                           std::optional<std::uint64_t> length,
                                           std::span<const net::asio::const_buffer> body) = 0;
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length) {
    return start(head, status, length, {});
  }
  virtual net::Soon<net::error_code> body(std::span<const net::asio::const_buffer> bytes) = 0;
  net::Soon<net::error_code> body(net::asio::const_buffer bytes);
  net::Soon<net::error_code> body(const Pieces& pieces);
  // Declares that nothing waits from now on until this response is finished. Its bytes may then be
  // held back for a moment, to be sent together with the next response.
  void allow_holding_back() { comes_at_once_ = true; }
  // Whether bytes of earlier responses are held back.
  [[nodiscard]] virtual bool holds_back() const { return false; }
  // Sends them. Call this before a request waits for anything but the writes of its response, which
  // send them first.
  virtual net::Soon<net::error_code> flush() { return net::error_code{}; }
  // Whether start_file() and body_of_file() may be called: bytes of files and pipes reach the
  // client without a copy.
  [[nodiscard]] virtual bool sends_files() const { return false; }
  // As start(), with a body that follows at once from a file, by body_of_file(). Only for a
  // response that has a body.
  virtual net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                                std::uint64_t length) {
    return start(head, status, length);
  }
  // Sends some bytes of the body from a file, or from a pipe that holds all of them. Zero: the file
  // ends before the first of them; the rest can be sent by body(). Only for a body of known length.
  virtual net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part);
  // Ends the response; an error if the body is shorter than promised. `trailers` are field lines,
  // dropped if the protocol or the framing has no place for them (RFC 9110 6.5.1).
  virtual net::Soon<net::error_code> finish(std::string_view trailers) = 0;
  net::Soon<net::error_code> finish() { return finish({}); }

  // Cuts the response so that the client can tell. A pending write fails. Other coroutines of the
  // thread may call this, too.
  virtual void abort() = 0;

  // Returns what memory the response takes while it does not get on. `freed` is the part that a cut
  // gives back to `transit`.
  [[nodiscard]] virtual Unread unread(const cache::Budget& /*transit*/) const { return {}; }
  // As abort(), also if the response waits for its source.
  void cut() {
    cut_ = true;
    if (leave_) leave_();
    abort();
  }
  // While this object exists, the request or its response waits for a source. cut() calls `leave`,
  // which makes the wait fail. If the response was cut before, the constructor calls it.
  class WaitsFor {
   public:
    WaitsFor(ResponseWriter& writer, std::function<void()> leave) : writer_(writer) {
      if (writer.cut_) leave();
      before_ = std::exchange(writer.leave_, std::move(leave));
    }
    ~WaitsFor() { writer_.leave_ = std::move(before_); }
    WaitsFor(const WaitsFor&) = delete;
    WaitsFor& operator=(const WaitsFor&) = delete;

   private:
    ResponseWriter& writer_;
    std::function<void()> before_;
  };
  [[nodiscard]] bool was_cut() const { return cut_; }
  // While this object exists, the response waits for the reader's bytes, or sends them.
  class ReadsFrom {
   public:
    ReadsFrom(ResponseWriter& writer, FillReader& reader) : writer_(writer) {
      writer_.reader_ = &reader;
    }
    ~ReadsFrom() { writer_.reader_ = nullptr; }
    ReadsFrom(const ReadsFrom&) = delete;
    ReadsFrom& operator=(const ReadsFrom&) = delete;

   private:
    ResponseWriter& writer_;
  };

  // While this object exists, the response holds memory that is charged to `transit`, the memory of
  // bodies on their way. A cut gives it back.
  class Holds {
   public:
    Holds(ResponseWriter& writer, cache::Budget& transit, std::uint64_t bytes)
        : writer_(writer), charge_(transit, bytes) {
      writer.holds_ = bytes;
    }
    ~Holds() { writer_.holds_ = 0; }
    Holds(const Holds&) = delete;
    Holds& operator=(const Holds&) = delete;

   private:
    ResponseWriter& writer_;
    const cache::Charge charge_;
  };

  // From now on, this response keeps to the limits of bandwidth, by the account of its connection.
  void keep_to(BandwidthUse& bandwidth) { bandwidth_ = &bandwidth; }
  // Null: the response keeps to no limit.
  [[nodiscard]] BandwidthUse* bandwidth() const { return bandwidth_; }

  // Declares that the rest of the request will not be read. A connection that carries one exchange
  // at a time closes after this response.
  virtual void close_after() = 0;

  // Bytes that the client has acknowledged since the connection began. The difference between two
  // calls shows whether the client reads. Nothing if the system cannot tell.
  [[nodiscard]] virtual std::optional<std::uint64_t> acknowledged() = 0;

  // The connection itself. A tunnel takes it over instead of calling start(). Nothing if the
  // connection also carries other exchanges.
  [[nodiscard]] virtual std::optional<RawConnection> raw_connection() { return std::nullopt; }

  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] bool finished() const { return finished_; }
  // The request is a HEAD.
  [[nodiscard]] bool head_only() const { return head_only_; }

 protected:
  ~ResponseWriter() = default;

  // The implementation sets `head_only_` itself.
  void begin_response() {
    fields_.clear();
    bandwidth_ = nullptr;
    started_ = finished_ = cut_ = comes_at_once_ = false;
  }

  FillReader* reader_ = nullptr;
  std::uint64_t holds_ = 0;  // see Holds
  BandwidthUse* bandwidth_ = nullptr;
  std::function<void()> leave_;  // see WaitsFor
  bool cut_ = false;
  std::string fields_;
  bool head_only_ = false;
  bool comes_at_once_ = false;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace proxy
