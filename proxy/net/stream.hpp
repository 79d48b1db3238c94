// One connection's bytes, plain or TLS, with a deadline; the only place that reads or writes
// sockets.
#pragma once

#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <optional>
#include <span>

#include "proxy/net/asio.hpp"
#include "proxy/net/deadlines.hpp"

namespace proxy::net {

// Owned by one coroutine at a time, on its thread; destroyed means closed. Reads and writes are
// tried at once and wait only where the kernel has nothing or no room, so that a ready socket costs
// no trip through the reactor. When the deadline passes, the pending operation and all later ones
// fail with asio::error::timed_out until a new deadline is set.
class Stream final : public Watched {
 public:
  using Tls = asio::ssl::stream<Socket>;

  Stream(Socket socket, Deadlines& deadlines);
  Stream(std::unique_ptr<Tls> tls, Deadlines& deadlines);
  ~Stream() override;

  // At least one byte, or an error; the end of the stream is asio::error::eof (for TLS only after a
  // close_notify: a cut connection is asio::ssl::error::stream_truncated).
  Task<Result<std::size_t>> read_some(asio::mutable_buffer into);
  // Returns nothing where the read would have to wait.
  std::optional<Result<std::size_t>> try_read(asio::mutable_buffer into);
  // Waits until a read would return something (TLS: or may, a record having begun to arrive). Holds
  // no buffer while it waits.
  Task<error_code> readable();

  // Writes all of it, in order. At most 64 buffers are handed to the kernel at once.
  Task<error_code> write(std::span<const asio::const_buffer> buffers);
  Task<error_code> write(asio::const_buffer buffer);
  // The bytes the kernel took without waiting (maybe none), or an error.
  Result<std::size_t> try_write(std::span<const asio::const_buffer> buffers);

  // From now on; while a write waits for room, from its last progress.
  void expires_after(Clock::duration after);
  void expires_never();
  [[nodiscard]] bool timed_out() const { return timed_out_; }

  // Closing will show as a reset, not as an end.
  void reset_on_close();

  // True while nothing has been received and the other side has not closed: fit to be used again.
  [[nodiscard]] bool quiet();
  void shutdown_send();
  // Closes with what was sent kept deliverable: shuts down, and lets the destructor close.
  void close();

  [[nodiscard]] bool is_tls() const { return tls_ != nullptr; }
  [[nodiscard]] Socket& socket() { return tls_ ? tls_->next_layer() : *plain_; }
  [[nodiscard]] Executor executor() { return socket().get_executor(); }

 private:
  void on_expiry() override;
  [[nodiscard]] bool holds_input();
  [[nodiscard]] error_code blame(error_code error) const;
  Task<error_code> write_rest(std::span<const asio::const_buffer> buffers, std::size_t skip);

  std::optional<Socket> plain_;
  std::unique_ptr<Tls> tls_;
  Clock::duration patience_{};  // zero: no deadline
  bool timed_out_ = false;
  bool just_wrote_ = false;  // who has just asked is not answered yet: a read tried is a call lost
};

}  // namespace proxy::net
