// The state of the response to one request, and its writer: the request path's only view of a
// client's connection.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/crowd/bandwidth.hpp"
#include "proxy/fill/fill.hpp"
#include "proxy/mirrors/answer_head.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::net {
class Input;
class Stream;
struct FilePart;
}  // namespace proxy::net

namespace proxy::client {

// How far one response is, and what it holds and waits for.
// The request path and the ResponseWriter share it. Belongs to the connection's thread, and serves
// one response after the other.
struct ResponseState {
  // Additional fields of this response, besides those in the head of ResponseWriter::start(). Add
  // them before that call.
  std::string fields;
  bool head_only = false;  // the request is a HEAD
  // Set if a browser could take the response of a mirrored server for a page of ours: the place at
  // which the client finds that server (mirrors::harmless_head()). Nothing: it is no such response.
  std::optional<mirrors::Place> mirrored = {};
  // The digest of a blob or manifest of a registry. The response gets it as Docker-Content-Digest,
  // unless the registry sends that field. Empty: the digest is not known.
  std::string image_digest;
  // Whether nothing waits until this response is finished. Its bytes may then be held back for a
  // moment, to be sent together with the next response.
  bool may_be_held_back = false;
  bool started = false;
  bool finished = false;
  bool was_cut = false;
  // The account of the connection, by which this response keeps to the limits of bandwidth. Null:
  // it keeps to none.
  crowd::BandwidthUse* bandwidth = nullptr;
  fill::FillReader* reader = nullptr;  // see ReadsFrom
  std::uint64_t holds = 0;             // bytes: see Holds
  std::function<void()> leave;         // see WaitsFor

  // The next response. `head_only` stays as it is.
  void begin() {
    fields.clear();
    image_digest.clear();
    bandwidth = nullptr;
    mirrored.reset();
    may_be_held_back = started = finished = was_cut = false;
  }
  // Ends the wait for a source. The caller aborts the response.
  void cut() {
    was_cut = true;
    if (leave) leave();
  }

  // While this object exists, the request or its response waits for a source. cut() calls `leave`,
  // which makes the wait fail. If the response was cut before, the constructor calls it.
  class WaitsFor : boost::noncopyable {
   public:
    WaitsFor(ResponseState& state, std::function<void()> leave) : state_(state) {
      if (state.was_cut) leave();
      before_ = std::exchange(state.leave, std::move(leave));
    }
    ~WaitsFor() { state_.leave = std::move(before_); }

   private:
    ResponseState& state_;
    std::function<void()> before_;
  };
  // While this object exists, the response waits for the reader's bytes, or sends them.
  class ReadsFrom : boost::noncopyable {
   public:
    ReadsFrom(ResponseState& state, fill::FillReader& reader) : state_(state) {
      state.reader = &reader;
    }
    ~ReadsFrom() { state_.reader = nullptr; }

   private:
    ResponseState& state_;
  };
  // While this object exists, the response holds memory that is charged to `transit`, the memory of
  // bodies on their way. A cut gives it back.
  class Holds : boost::noncopyable {
   public:
    Holds(ResponseState& state, cache::Budget& transit, std::uint64_t bytes)
        : state_(state), charge_(transit, bytes) {
      state.holds = bytes;
    }
    ~Holds() { state_.holds = 0; }

   private:
    ResponseState& state_;
    const cache::Charge charge_;
  };
};

// A connection for a tunnel. It carries no other exchange.
struct RawConnection {
  net::Stream& stream;
  net::Input& input;  // may hold bytes that the client sent after the request
};

// The head for ResponseWriter::interim() that asks the client for the request's body (RFC 9110
// 15.2.1).
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Belongs to one coroutine and its thread. Order, for each request: interim()*, start(), body()*,
// finish(). A response that was started and not finished is aborted by the writer's owner. The
// writer and its callers share a ResponseState, which tells how far the response is.
//
// Await each result before the next call. Bytes that are to be sent must live until then; a list of
// buffers only until the call returns.
//
// Heads are text in HTTP/1's form, as entries store them: lines that end in CRLF. An implementation
// of another protocol encodes them anew.
//
// A returned error means that the client is gone or too slow, or that the body does not have the
// length that start() promised. All later writes fail, too.
class ResponseWriter : boost::noncopyable {
 public:
  using BufferList = std::span<const net::asio::const_buffer>;

  // Sends an interim response (RFC 9110 15.2). `head` ends in the empty line. Clients of HTTP/1.0
  // get none.
  virtual net::Soon<net::error_code> interim(std::string_view head) = 0;
  // Sends the head and the first or all bytes of the body. `head` is a status line and fields,
  // without the framing and the empty line. `length` is the length of the body, if known. A 204, a
  // 304 and a response to HEAD have no body: bytes given for it are ignored.
  virtual net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                           std::optional<std::uint64_t> length,
                                           BufferList body) = 0;
  net::Soon<net::error_code> start(std::string_view head, unsigned status,
                                   std::optional<std::uint64_t> length) {
    return start(head, status, length, {});
  }
  virtual net::Soon<net::error_code> body(BufferList bytes) = 0;
  net::Soon<net::error_code> body(net::asio::const_buffer bytes) {
    return body(BufferList(&bytes, 1));
  }
  // Sends bytes of earlier responses that are held back. Call this before a request waits for
  // anything but the writes of its response, which send them first.
  virtual net::Soon<net::error_code> flush() = 0;
  // Whether start_file() and body_of_file() may be called: bytes of files and pipes reach the
  // client without a copy.
  [[nodiscard]] virtual bool sends_files() const = 0;
  // Starts as start() does, with a body that follows at once from a file, by body_of_file(). Call
  // this only for a response that has a body.
  virtual net::Soon<net::error_code> start_file(std::string_view head, unsigned status,
                                                std::uint64_t length) = 0;
  // Sends some bytes of the body from a file, or from a pipe that holds all of them. Zero: the file
  // ends before the first of them; the rest can be sent by body(). Only for a body of known length.
  virtual net::Task<net::Result<std::size_t>> body_of_file(net::FilePart part) = 0;
  // Ends the response; an error if the body is shorter than promised.
  virtual net::Soon<net::error_code> finish() = 0;

  // Cuts the response so that the client can tell. A pending write fails. Other coroutines of the
  // thread may call this, too.
  virtual void abort() = 0;
  // Declares that the rest of the request will not be read. A connection that carries one exchange
  // at a time closes after this response.
  virtual void close_after() = 0;
  // Bytes that the client has acknowledged since the connection began. The difference between two
  // calls shows whether the client reads. Nothing if the system cannot tell.
  [[nodiscard]] virtual std::optional<std::uint64_t> acknowledged() = 0;
  // The connection itself. A tunnel takes it over instead of calling start(). Nothing if the
  // connection also carries other exchanges.
  [[nodiscard]] virtual std::optional<RawConnection> raw_connection() = 0;

 protected:
  ~ResponseWriter() = default;
};

}  // namespace proxy::client
