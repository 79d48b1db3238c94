#include "proxy/net/stream.hpp"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/beast/core/buffers_suffix.hpp>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace proxy::net {
namespace {

constexpr int kNotSentLowAt = 25;  // TCP_NOTSENT_LOWAT: see kBytesAcked in socket_calls.cpp

// How often within its deadline a write that waits looks at what the other side has acknowledged.
constexpr int kLooks = 8;
// How old what stalled_since() tells may be. The first look comes no later.
constexpr std::chrono::seconds kBetweenLooks{1};

bool would_block(error_code error) {
  return error == asio::error::would_block;
}

// The kernel then sends the end of a response at once.
AnySocket without_delay(AnySocket socket) {
  error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
  return socket;
}

// Whether TLS holds bytes that it took from the socket and that were not read yet. The socket does
// not show them.
bool holds_input(Stream::Tls& tls) {
  auto* const session = tls.native_handle();
  return SSL_has_pending(session) == 1 || BIO_ctrl_pending(SSL_get_rbio(session)) > 0;
}

// Why a wait has ended that was cancelled.
error_code blame(const Stream& stream, error_code error = asio::error::operation_aborted) {
  if (stream.timed_out() && error == asio::error::operation_aborted) return asio::error::timed_out;
  return error;
}

Task<bool> socket_readable(Stream::Tls& tls) {
  const auto [error] = co_await tls.next_layer().async_wait(tcp::socket::wait_read, as_result);
  co_return !error;
}
Task<bool> socket_readable(Descriptor& plain) {
  co_return co_await plain.input();
}

// Keeps the one buffer of write() as long as it is needed.
Task<error_code> write_rest_of(Stream& stream, asio::const_buffer buffer, std::size_t sent) {
  co_return co_await stream.write_rest({&buffer, 1}, sent);
}

// Writes some of the bytes after the first `sent`. Small buffers share a record of TLS: Asio copies
// them together.
Task<Result<std::size_t>> write_records(Stream::Tls& tls,
                                        std::span<const asio::const_buffer> buffers,
                                        std::size_t sent) {
  boost::beast::buffers_suffix<std::span<const asio::const_buffer>> left(buffers);
  left.consume(sent);
  const auto [error, n] = co_await tls.async_write_some(left, as_result);
  if (error) co_return error;
  co_return n;
}

}  // namespace

// A write that waits. When the io_context ends, its coroutine may outlive the stream: then another
// coroutine owns the stream, as with tunnels.
class Stream::Stall {
 public:
  explicit Stall(Stream& stream)
      : stream_(&stream), got_on_(stream.now()), since_(got_on_), looked_(got_on_) {
    stream.stall_ = this;
    look_in(std::min<Clock::duration>(stream.patience_ / kLooks, kBetweenLooks));
  }
  ~Stall() {
    if (!stream_) return;
    stream_->stall_ = nullptr;
    if (!stream_->timed_out_) look_in(stream_->patience_);
  }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

  // The kernel has taken so many bytes.
  void record(std::size_t taken) {
    got_on_ = stream_->now();
    taken_ += taken;
    if (taken_ < kProgress) return;
    taken_ = 0;
    since_ = got_on_;
  }
  // Whether the write has got on within the deadline. If so, looks again soon.
  [[nodiscard]] bool gets_on() {
    look();
    const auto left = got_on_ + stream_->patience_ - stream_->now();
    if (left <= Clock::duration{}) return false;
    look_in(std::min(left, stream_->patience_ / kLooks));
    return true;
  }
  [[nodiscard]] Clock::time_point since() {
    if (stream_->now() - looked_ >= kBetweenLooks) look();
    return since_;
  }
  void leave() { stream_ = nullptr; }

 private:
  void look_in(Clock::duration time) {
    if (stream_->patience_ > Clock::duration{}) stream_->Watched::expires_after(time);
  }
  // The room of a send buffer tells little of a slow reader: the kernel reports room only when much
  // of the buffer is free, which may take longer than the deadline.
  void look() {
    looked_ = stream_->now();
    keep_little_unsent();
    const auto all = acknowledged(stream_->descriptor());
    if (!all) return;
    if (!acknowledged_) acknowledged_by_since_ = *all;
    if (all != std::exchange(acknowledged_, all)) got_on_ = looked_;
    if (*all - acknowledged_by_since_ < kProgress) return;
    acknowledged_by_since_ = *all;
    since_ = looked_;
  }
  // Only for a slow reader. It wakes a writer for fewer bytes, which would cost a fast transfer
  // half as much processor time again; and a small response must not cost a system call more.
  void keep_little_unsent() {
    if (std::exchange(stream_->keeps_little_unsent_, true)) return;
    ::setsockopt(stream_->descriptor(), IPPROTO_TCP, kNotSentLowAt, &kMostUnsent,
                 sizeof kMostUnsent);
  }

  Stream* stream_;
  Clock::time_point got_on_;  // when it last got on, as far as known
  Clock::time_point since_;
  Clock::time_point looked_;
  std::size_t taken_ = 0;
  std::optional<std::uint64_t> acknowledged_;  // at the last look
  std::uint64_t acknowledged_by_since_ = 0;
};

Stream::Stream(AnySocket socket, Deadlines& deadlines)
    : Watched(deadlines), plain_(std::in_place, without_delay(std::move(socket))) {}

Stream::Stream(std::unique_ptr<Tls> tls, Deadlines& deadlines)
    : Watched(deadlines), tls_(std::move(tls)) {
  error_code ignored;
  tls_->next_layer().set_option(tcp::no_delay(true), ignored);
}

Stream::~Stream() {
  if (stall_) stall_->leave();
}

std::optional<Watched::Clock::time_point> Stream::stalled_since() const {
  return stall_ ? std::optional(stall_->since()) : std::nullopt;
}

std::optional<Result<std::size_t>> Stream::try_read(asio::mutable_buffer into) {
  if (tls_ || timed_out_ || !plain_->may_read()) return std::nullopt;
  const auto read = receive(plain_->get(), into);
  if (!read && would_block(read.error())) {
    plain_->read_nothing();
    return std::nullopt;
  }
  if (!read) {
    plain_->read_end();
  } else if (*read < into.size()) {
    plain_->read_short();
  }
  return read;
}

Soon<bool> Stream::readable() {
  if (timed_out_) return false;
  if (tls_) return holds_input(*tls_) ? Soon<bool>(true) : socket_readable(*tls_);
  // may_read() stays true where the kernel reports no events.
  if (plain_->may_read() && (!quiet() || plain_->may_read())) return true;
  return socket_readable(*plain_);
}

Soon<Result<std::size_t>> Stream::read_some(asio::mutable_buffer into) {
  if (timed_out_) return Result<std::size_t>(error_code(asio::error::timed_out));
  if (auto done = try_read(into)) return *done;
  return read_later(into);
}

Task<Result<std::size_t>> Stream::read_later(asio::mutable_buffer into) {
  if (tls_) {
    const auto [error, n] = co_await tls_->async_read_some(into, as_result);
    if (error) co_return blame(*this, error);
    co_return n;
  }
  for (;;) {
    if (auto done = try_read(into)) co_return *done;
    const bool has_input = co_await plain_->input();
    if (!has_input) co_return blame(*this);
  }
}

Result<std::size_t> Stream::try_write(std::span<const asio::const_buffer> buffers, More more) {
  if (timed_out_) return error_code(asio::error::timed_out);
  if (tls_) return std::size_t{0};
  const auto sent = send(plain_->get(), buffers, 0, more);
  if (!sent && would_block(sent.error())) return std::size_t{0};
  return sent;
}

Soon<error_code> Stream::write(asio::const_buffer buffer) {
  const auto sent = try_write({&buffer, 1});
  if (!sent) return sent.error();
  if (*sent == buffer.size()) return error_code{};
  return write_rest_of(*this, buffer, *sent);
}

Soon<error_code> Stream::write(std::span<const asio::const_buffer> buffers, More more) {
  const auto sent = try_write(buffers, more);
  if (!sent) return sent.error();
  if (*sent == asio::buffer_size(buffers)) return error_code{};
  return write_rest(buffers, *sent);
}

Task<error_code> Stream::write_rest(std::span<const asio::const_buffer> buffers, std::size_t sent) {
  const auto total = asio::buffer_size(buffers);
  Stall stall(*this);
  while (sent < total) {
    if (timed_out_) co_return asio::error::timed_out;
    Result<std::size_t> n = std::size_t{0};
    if (tls_) {
      n = co_await write_records(*tls_, buffers, sent);
    } else {
      n = send(plain_->get(), buffers, sent);
    }
    if (n) {
      sent += *n;
      stall.record(*n);
    } else if (tls_ || !would_block(n.error())) {
      co_return blame(*this, n.error());
    } else {
      const bool has_room = co_await plain_->room();
      if (!has_room) co_return blame(*this);
    }
  }
  co_return error_code{};
}

Task<Result<std::size_t>> Stream::send_file(FilePart part) {
  std::optional<Stall> stall;
  for (;;) {
    if (timed_out_) co_return error_code(asio::error::timed_out);
    const auto sent = net::send_file(plain_->get(), part);
    if (sent || !would_block(sent.error())) co_return sent;
    if (!stall) stall.emplace(*this);
    const bool has_room = co_await plain_->room();
    if (!has_room) co_return blame(*this);
  }
}

Task<Result<std::size_t>> Stream::read_into_pipe(int pipe, std::size_t most) {
  for (;;) {
    if (timed_out_) co_return error_code(asio::error::timed_out);
    if (plain_->may_read()) {
      const auto moved = receive_into_pipe(plain_->get(), pipe, most);
      if (moved || !would_block(moved.error())) co_return moved;
      plain_->read_nothing();
    }
    const bool has_input = co_await plain_->input();
    if (!has_input) co_return blame(*this);
  }
}

void Stream::expires_after(Clock::duration after) {
  timed_out_ = false;
  patience_ = after;
  Watched::expires_after(after);
}

void Stream::expires_never() {
  timed_out_ = false;
  patience_ = {};
  Watched::expires_never();
}

void Stream::on_expiry() {
  if (timed_out_ || !stall_ || !stall_->gets_on()) interrupt();
}

void Stream::interrupt() {
  Watched::expires_never();
  timed_out_ = true;
  if (plain_) return plain_->cancel();
  error_code ignored;
  tls_->next_layer().cancel(ignored);
  // A TLS operation consists of many small operations. cancel() misses a small one that is complete
  // but not yet handled, and the next would wait for ever. So cancel again at each tick until there
  // is a new deadline.
  Watched::expires_after(Clock::duration::zero());
}

bool Stream::quiet() {
  if (timed_out_ || (tls_ && holds_input(*tls_))) return false;
  char byte = 0;
  const auto n = ::recv(descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool quiet = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (quiet && plain_) plain_->read_nothing();
  return quiet;
}

bool Stream::quiet_so_far() {
  return (plain_ && !timed_out_ && !plain_->may_read()) || quiet();
}

int Stream::descriptor() {
  return plain_ ? plain_->get() : tls_->next_layer().native_handle();
}

void Stream::shutdown_send() {
  ::shutdown(descriptor(), SHUT_WR);
}

void Stream::close() {
  ::shutdown(descriptor(), SHUT_RDWR);
}

}  // namespace proxy::net
