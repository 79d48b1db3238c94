#include "proxy/net/stream.hpp"

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
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

// What one record of TLS carries at most.
constexpr std::size_t kRecord = 16384;

// Records what a read by OpenSSL has found. A short read has taken all that there was, as OpenSSL
// has room for more than a record. Not if the kernel decrypts, which ends a read with each record.
void note_read(BIO* bio, int result, bool is_short) {
  auto& socket = *reinterpret_cast<Descriptor*>(BIO_get_callback_arg(bio));
  if (result <= 0) {
    BIO_should_retry(bio) ? socket.read_nothing() : socket.read_end();
  } else if (is_short && !BIO_get_ktls_recv(bio)) {
    socket.read_short();
  }
}

// Has OpenSSL tell of its reads. `socket` stays where it is as long as the session.
void watch_reads(SSL* tls, Descriptor& socket) {
  auto* const bio = SSL_get_rbio(tls);
  BIO_set_callback_arg(bio, reinterpret_cast<char*>(&socket));
  BIO_set_callback_ex(bio,
                      [](BIO* from, int what, const char*, std::size_t room, int, long, int result,
                         std::size_t* got) -> long {
                        const bool is_read = what == (BIO_CB_READ | BIO_CB_RETURN);
                        if (is_read) note_read(from, result, result > 0 && *got < room);
                        return result;
                      });
}

// Whether a record may be there. The session may hold bytes that it took from the socket, which
// does not show them.
bool may_have_record(SSL* tls, const Descriptor& socket) {
  return socket.may_read() || SSL_has_pending(tls) == 1;
}

// Whether a read would not have to wait: for a whole record, or the end.
bool has_record(SSL* tls, const Descriptor& socket) {
  if (!may_have_record(tls, socket)) return false;
  clear_tls_errors();
  char byte = 0;
  std::size_t seen = 0;
  const int done = SSL_peek_ex(tls, &byte, 1, &seen);
  return done == 1 || !would_block(tls_error(tls, done));
}

std::optional<Result<std::size_t>> try_read_record(SSL* tls, const Descriptor& socket,
                                                   asio::mutable_buffer into) {
  if (!may_have_record(tls, socket)) return std::nullopt;
  clear_tls_errors();
  std::size_t read = 0;
  const int done = SSL_read_ex(tls, into.data(), into.size(), &read);
  if (done == 1) return read;
  const auto error = tls_error(tls, done);
  if (would_block(error)) return std::nullopt;
  return error;
}

// The buffers after the first `skip` bytes, as many as one record carries: where they are, or
// copied together, so that small ones share a record. The same arguments have the same result.
asio::const_buffer next_record(std::span<const asio::const_buffer> buffers, std::size_t skip,
                               std::span<char, kRecord> scratch) {
  while (!buffers.empty() && skip >= buffers.front().size()) {
    skip -= buffers.front().size();
    buffers = buffers.subspan(1);
  }
  if (buffers.empty()) return {};
  const auto first = buffers.front() + skip;
  if (first.size() >= kRecord || buffers.size() == 1) return asio::buffer(first, kRecord);
  std::size_t size = 0;
  for (const auto& buffer : buffers) {
    const auto part = asio::buffer(size == 0 ? first : buffer, kRecord - size);
    if (part.size() > 0) std::memcpy(scratch.data() + size, part.data(), part.size());
    size += part.size();
  }
  return asio::buffer(scratch.data(), size);
}

Result<std::size_t> send_record(SSL* tls, std::span<const asio::const_buffer> buffers,
                                std::size_t skip) {
  std::array<char, kRecord> scratch;  // not initialized
  const auto record = next_record(buffers, skip, scratch);
  if (record.size() == 0) return std::size_t{0};
  // An error of another connection of this thread must not be taken for one of this.
  clear_tls_errors();
  std::size_t sent = 0;
  const int done = SSL_write_ex(tls, record.data(), record.size(), &sent);
  if (done != 1) return tls_error(tls, done);
  return sent;
}

// Why a wait has ended that was cancelled.
error_code blame(const Stream& stream) {
  return stream.timed_out() ? asio::error::timed_out : asio::error::operation_aborted;
}

Task<bool> socket_readable(Descriptor& socket) {
  co_return co_await socket.input();
}

// Sends what one call takes of the bytes after the first `skip`. `tls`: null if they are sent as
// they are. A record that the kernel takes in part has to be offered again, with the same bytes:
// the caller does so until it is sent, or gives the connection up.
Result<std::size_t> send_some(int socket, SSL* tls, std::span<const asio::const_buffer> buffers,
                              std::size_t skip, More more = More::no) {
  return tls ? send_record(tls, buffers, skip) : send(socket, buffers, skip, more);
}

// Keeps the one buffer of write() as long as it is needed.
Task<error_code> write_rest_of(Stream& stream, asio::const_buffer buffer, std::size_t sent) {
  co_return co_await stream.write_rest({&buffer, 1}, sent);
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

Stream::Stream(AnySocket socket, Deadlines& deadlines, TlsSession tls)
    : Watched(deadlines), socket_(without_delay(std::move(socket))), tls_(std::move(tls)) {
  if (!tls_) return;
  watch_reads(tls_.get(), socket_);
  if (!BIO_get_ktls_send(SSL_get_wbio(tls_.get()))) encrypting_ = tls_.get();
}

Stream::~Stream() {
  if (stall_) stall_->leave();
}

std::optional<Watched::Clock::time_point> Stream::stalled_since() const {
  return stall_ ? std::optional(stall_->since()) : std::nullopt;
}

std::optional<Result<std::size_t>> Stream::try_read(asio::mutable_buffer into) {
  if (timed_out_) return std::nullopt;
  if (tls_) return try_read_record(tls_.get(), socket_, into);
  if (!socket_.may_read()) return std::nullopt;
  const auto read = receive(socket_.get(), into);
  if (!read && would_block(read.error())) {
    socket_.read_nothing();
    return std::nullopt;
  }
  if (!read) {
    socket_.read_end();
  } else if (*read < into.size()) {
    socket_.read_short();
  }
  return read;
}

Soon<bool> Stream::readable() {
  if (timed_out_) return false;
  if (tls_) return has_record(tls_.get(), socket_) ? Soon<bool>(true) : socket_readable(socket_);
  // may_read() stays true where the kernel reports no events.
  if (socket_.may_read() && (!quiet() || socket_.may_read())) return true;
  return socket_readable(socket_);
}

Soon<Result<std::size_t>> Stream::read_some(asio::mutable_buffer into) {
  if (timed_out_) return Result<std::size_t>(error_code(asio::error::timed_out));
  if (auto done = try_read(into)) return *done;
  return read_later(into);
}

Task<Result<std::size_t>> Stream::read_later(asio::mutable_buffer into) {
  for (;;) {
    if (auto done = try_read(into)) co_return *done;
    const bool has_input = co_await socket_.input();
    if (!has_input) co_return blame(*this);
  }
}

Result<std::size_t> Stream::try_write(std::span<const asio::const_buffer> buffers, More more) {
  if (timed_out_) return error_code(asio::error::timed_out);
  const auto total = encrypting_ ? asio::buffer_size(buffers) : 0;
  std::size_t all = 0;
  for (;;) {
    const auto sent = send_some(socket_.get(), encrypting_, buffers, all, more);
    if (!sent && would_block(sent.error())) return all;
    if (!sent) return sent;
    all += *sent;
    // One call sends a record, or whatever the kernel takes.
    if (all >= total) return all;
  }
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
    const auto n = send_some(socket_.get(), encrypting_, buffers, sent);
    if (n) {
      sent += *n;
      stall.record(*n);
    } else if (!would_block(n.error())) {
      co_return n.error();
    } else {
      const bool has_room = co_await socket_.room();
      if (!has_room) co_return blame(*this);
    }
  }
  co_return error_code{};
}

Task<Result<std::size_t>> Stream::send_file(FilePart part) {
  std::optional<Stall> stall;
  for (;;) {
    if (timed_out_) co_return error_code(asio::error::timed_out);
    const auto sent = net::send_file(socket_.get(), part);
    if (sent || !would_block(sent.error())) co_return sent;
    if (!stall) stall.emplace(*this);
    const bool has_room = co_await socket_.room();
    if (!has_room) co_return blame(*this);
  }
}

Task<Result<std::size_t>> Stream::read_into_pipe(int pipe, std::size_t most) {
  for (;;) {
    if (timed_out_) co_return error_code(asio::error::timed_out);
    if (socket_.may_read()) {
      const auto moved = receive_into_pipe(socket_.get(), pipe, most);
      if (moved || !would_block(moved.error())) co_return moved;
      socket_.read_nothing();
    }
    const bool has_input = co_await socket_.input();
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
  socket_.cancel();
}

bool Stream::quiet() {
  if (timed_out_ || (tls_ && SSL_has_pending(tls_.get()) == 1)) return false;
  char byte = 0;
  const auto n = ::recv(descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool quiet = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (quiet) socket_.read_nothing();
  return quiet;
}

bool Stream::quiet_so_far() {
  const bool may_have_bytes = tls_ ? may_have_record(tls_.get(), socket_) : socket_.may_read();
  return (!timed_out_ && !may_have_bytes) || quiet();
}

void Stream::shutdown_send() {
  if (tls_) {
    clear_tls_errors();
    SSL_shutdown(tls_.get());
  }
  ::shutdown(descriptor(), SHUT_WR);
}

void Stream::close() {
  ::shutdown(descriptor(), SHUT_RDWR);
}

}  // namespace proxy::net
