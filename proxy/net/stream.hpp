// The bytes of one connection, plain or TLS, over TCP or a Unix socket, with a deadline. No other
// code reads or writes sockets.
#pragma once

#include <optional>
#include <span>

#include "proxy/net/asio.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/net/poller.hpp"
#include "proxy/net/socket_calls.hpp"
#include "proxy/net/tls.hpp"

namespace proxy::net {

// Belongs to one coroutine at a time, on its thread; destroying it closes the connection. A write
// is tried at once, and so is a read unless it is known to find nothing. They wait only if the
// kernel has no room or no data, so a ready socket costs no trip through the reactor. When the
// deadline passes, the pending operation and all later ones fail with asio::error::timed_out until
// a new deadline is set.
class Stream final : public Watched {
 public:
  // `tls`: after its handshake over this socket (Opening).
  Stream(AnySocket socket, Deadlines& deadlines, TlsSession tls = nullptr);
  ~Stream() override;

  // Returns at least one byte, or an error. The end of the stream is asio::error::eof; with TLS
  // only after a close_notify, while a cut connection is asio::ssl::error::stream_truncated.
  Soon<Result<std::size_t>> read_some(asio::mutable_buffer into);
  // Returns nothing if the read would have to wait.
  std::optional<Result<std::size_t>> try_read(asio::mutable_buffer into);
  // Waits until bytes can be read. With TLS, a read may have to wait again if only a part of a
  // record has arrived. Holds no buffer while it waits. False: the deadline has passed, or the
  // wait has failed.
  Soon<bool> readable();

  // Writes all buffers in order. Hands at most 64 of them to the kernel at once.
  Soon<error_code> write(std::span<const asio::const_buffer> buffers, More more = More::no);
  Soon<error_code> write(asio::const_buffer buffer);
  // Returns how many bytes the kernel took without waiting (perhaps none), or an error.
  Result<std::size_t> try_write(std::span<const asio::const_buffer> buffers, More more = More::no);
  // Writes what try_write() has left of the buffers: all but the first `sent` bytes.
  Task<error_code> write_rest(std::span<const asio::const_buffer> buffers, std::size_t sent);

  // Sends bytes of a file or a pipe without reading them (sendfile(2), splice(2)), as many as the
  // kernel takes; waits for room if there is none. Returns how many bytes were sent; zero: the file
  // ends before the first. What the page cache lacks is read from the disk meanwhile, on this
  // thread. A pipe must not be empty. Only if sends_files().
  Task<Result<std::size_t>> send_file(FilePart part);
  // Moves at least one byte and at most `most` bytes into an empty pipe (splice(2)). Waits for the
  // first byte. The end of the stream is asio::error::eof. Not with TLS.
  Task<Result<std::size_t>> read_into_pipe(int pipe, std::size_t most);

  // Sets the deadline, counted from now. While a write waits for room, it counts from the last time
  // at which the write got on: the kernel took bytes, or the other side acknowledged some. What was
  // acknowledged is looked at eight times within the deadline, so the write may end by an eighth
  // later.
  void expires_after(Clock::duration after);
  void expires_never();
  [[nodiscard]] bool timed_out() const { return timed_out_; }
  // Ends the waits as if the deadline had passed now. Other coroutines of the thread may call this,
  // too.
  void interrupt();

  // While a write waits for room: the time since which the other side has taken fewer than
  // kProgress bytes. Nothing: no write waits.
  static constexpr std::size_t kProgress = 64 * 1024;
  // Once a write has waited for a second or more, the kernel takes further bytes only while fewer
  // than this are unsent, so a slow reader takes no more of the kernel's memory.
  static constexpr int kMostUnsent = 256 * 1024;
  [[nodiscard]] std::optional<Clock::time_point> stalled_since() const;

  // True if nothing has been received and the other side has not closed, so that the connection can
  // be reused.
  [[nodiscard]] bool quiet();
  // Like quiet(), as far as the last events of this thread have shown. Mostly needs no system call.
  [[nodiscard]] bool quiet_so_far();
  // Says that no more bytes follow; with TLS by a close_notify, which tells an end from a cut.
  void shutdown_send();
  // Shuts the connection down. Bytes that were sent are still delivered. The destructor closes the
  // connection.
  void close();

  [[nodiscard]] bool is_tls() const { return tls_ != nullptr; }
  // Whether the kernel can send bytes that the process does not read: those of a plain connection,
  // and those that the kernel itself encrypts (kTLS).
  [[nodiscard]] bool sends_files() const { return !encrypting_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  class Stall;

  Task<Result<std::size_t>> read_later(asio::mutable_buffer into);
  void on_expiry() override;

  Descriptor socket_;
  TlsSession tls_;
  SSL* encrypting_ = nullptr;   // tls_, unless the kernel encrypts in its place
  Clock::duration patience_{};  // zero: no deadline
  Stall* stall_ = nullptr;      // of the write that waits
  bool timed_out_ = false;
  bool keeps_little_unsent_ = false;
};

}  // namespace proxy::net
