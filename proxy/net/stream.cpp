#include "proxy/net/stream.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

namespace proxy::net {
namespace {

constexpr std::size_t kMaxBuffers = 64;  // the most that Asio passes to one sendmsg
// tcpi_bytes_acked in Linux' tcp_info. The C library's <netinet/tcp.h>, which Asio includes, lacks
// it, and <linux/tcp.h> cannot be included beside that header.
constexpr std::size_t kBytesAcked = 120;
constexpr int kTcpInfo = 11;

// The buffers left after `skip` bytes, as many as one system call takes.
class Window {
 public:
  Window(std::span<const asio::const_buffer> buffers, std::size_t skip) {
    for (const auto& buffer : buffers) {
      if (skip >= buffer.size()) {
        skip -= buffer.size();
        continue;
      }
      if (count_ == kMaxBuffers) break;
      window_[count_++] = buffer + skip;
      skip = 0;
    }
  }
  [[nodiscard]] std::span<const asio::const_buffer> get() const { return {window_.data(), count_}; }

 private:
  std::array<asio::const_buffer, kMaxBuffers> window_;
  std::size_t count_ = 0;
};

// Sends from one place if there is one, or if so few bytes are cheaply copied to one: the kernel
// takes them faster than the same bytes from several.
std::size_t send_some(AnySocket& socket, std::span<const asio::const_buffer> buffers, int flags,
                      error_code& error) {
  constexpr std::size_t kFew = 4096;
  if (buffers.size() == 1) return socket.send(buffers.front(), flags, error);
  if (asio::buffer_size(buffers) <= kFew) {
    std::array<char, kFew> together;  // not initialized
    const auto size = asio::buffer_copy(asio::buffer(together), buffers);
    return socket.send(asio::buffer(together, size), flags, error);
  }
  return socket.send(buffers.first(std::min(buffers.size(), kMaxBuffers)), flags, error);
}

ssize_t send_now(int socket, const FilePart& part) {
  if (!part.offset) {
    return ::splice(part.descriptor, nullptr, socket, nullptr, part.size,
                    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  }
  auto offset = static_cast<off_t>(*part.offset);
  return ::sendfile(socket, part.descriptor, &offset, part.size);
}

}  // namespace

// A write that waits. When the io_context ends, its coroutine may outlive the stream: then another
// coroutine owns the stream, as with tunnels.
class Stream::Stall {
 public:
  explicit Stall(Stream& stream) : stream_(&stream), since_(stream.now()) { stream.stall_ = this; }
  ~Stall() {
    if (stream_) stream_->stall_ = nullptr;
  }
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;

  void note(std::size_t taken) {
    taken_ += taken;
    if (taken_ < kProgress) return;
    taken_ = 0;
    since_ = stream_->now();
  }
  [[nodiscard]] Clock::time_point since() const { return since_; }
  void leave() { stream_ = nullptr; }

 private:
  Stream* stream_;
  Clock::time_point since_;
  std::size_t taken_ = 0;
};

Stream::Stream(AnySocket socket, Deadlines& deadlines)
    : Watched(deadlines), plain_(std::move(socket)) {
  error_code ignored;
  plain_->non_blocking(true, ignored);
  plain_->set_option(tcp::no_delay(true), ignored);
}

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
  if (tls_ || timed_out_) return std::nullopt;
  error_code error;
  const auto n = plain_->read_some(into, error);
  note_read(error, n < into.size());
  if (!error) return n;
  if (error == asio::error::would_block || error == asio::error::try_again) return std::nullopt;
  return error;
}

void Stream::note_read(error_code error, bool all) {
  drained_ = !error && all;
  ended_ = ended_ || error == asio::error::eof;
}

Task<error_code> Stream::readable() {
  if (timed_out_) co_return asio::error::timed_out;
  drained_ = false;
  if (holds_input()) co_return error_code{};
  auto [error] = co_await socket().async_wait(tcp::socket::wait_read, as_result);
  co_return blame(error);
}

Task<Result<std::size_t>> Stream::read_some(asio::mutable_buffer into) {
  if (timed_out_) co_return error_code(asio::error::timed_out);
  error_code error;
  std::size_t n = 0;
  if (!drained_) {
    if (auto done = try_read(into)) co_return *done;
  }
  if (tls_) {
    std::tie(error, n) = co_await tls_->async_read_some(into, as_result);
  } else {
    std::tie(error, n) = co_await plain_->async_read_some(into, as_result);
  }
  note_read(error, n < into.size());
  if (error) co_return blame(error);
  co_return n;
}

Result<std::size_t> Stream::try_write(std::span<const asio::const_buffer> buffers, More more) {
  if (timed_out_) return error_code(asio::error::timed_out);
  drained_ = !ended_;
  if (tls_) return std::size_t{0};
  error_code error;
  const auto n = send_some(*plain_, buffers, more == More::yes ? MSG_MORE : 0, error);
  if (error == asio::error::would_block || error == asio::error::try_again) return std::size_t{0};
  if (error) return error;
  return n;
}

Task<error_code> Stream::write(asio::const_buffer buffer) {
  const std::array one{buffer};
  co_return co_await write(std::span<const asio::const_buffer>(one));
}

Task<error_code> Stream::write(std::span<const asio::const_buffer> buffers, More more) {
  const auto sent = try_write(buffers, more);
  if (!sent) co_return sent.error();
  if (*sent == asio::buffer_size(buffers)) co_return error_code{};
  co_return co_await write_rest(buffers, *sent);
}

Task<error_code> Stream::write_rest(std::span<const asio::const_buffer> buffers, std::size_t sent) {
  const auto total = asio::buffer_size(buffers);
  Stall stall(*this);
  while (sent < total) {
    if (timed_out_) co_return asio::error::timed_out;
    const Window window(buffers, sent);
    const auto chunk = window.get();
    error_code error;
    std::size_t n = 0;
    if (tls_) {
      std::tie(error, n) = co_await asio::async_write(*tls_, chunk, as_result);
    } else {
      std::tie(error, n) = co_await plain_->async_write_some(chunk, as_result);
    }
    if (error) co_return blame(error);
    sent += n;
    stall.note(n);
    if (patience_ > Clock::duration{}) expires_after(patience_);
  }
  co_return error_code{};
}

Task<Result<std::size_t>> Stream::send_file(FilePart part) {
  std::optional<Stall> stall;
  drained_ = !ended_;
  for (;;) {
    if (timed_out_) co_return error_code(asio::error::timed_out);
    const auto n = send_now(plain_->native_handle(), part);
    if (n >= 0) co_return static_cast<std::size_t>(n);
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return error_code(errno, boost::system::system_category());
    if (!stall) stall.emplace(*this);
    const auto [error] = co_await socket().async_wait(tcp::socket::wait_write, as_result);
    if (error) co_return blame(error);
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

void Stream::interrupt() {
  Watched::expires_never();
  on_expiry();
}

void Stream::on_expiry() {
  timed_out_ = true;
  error_code ignored;
  socket().cancel(ignored);
  // A TLS operation consists of many small operations. cancel() misses a small one that is complete
  // but not yet handled, and the next would wait for ever. So cancel again at each tick until there
  // is a new deadline.
  if (tls_) Watched::expires_after(Clock::duration::zero());
}

// Whether TLS holds bytes that it took from the socket and that were not read yet. The socket does
// not show them.
bool Stream::holds_input() {
  if (!tls_) return false;
  auto* const session = tls_->native_handle();
  return SSL_has_pending(session) == 1 || BIO_ctrl_pending(SSL_get_rbio(session)) > 0;
}

error_code Stream::blame(error_code error) const {
  if (timed_out_ && error == asio::error::operation_aborted) return asio::error::timed_out;
  return error;
}

bool Stream::quiet() {
  if (timed_out_ || holds_input()) return false;
  char byte = 0;
  const auto n = ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void Stream::shutdown_send() {
  error_code ignored;
  socket().shutdown(tcp::socket::shutdown_send, ignored);
}

std::optional<std::uint64_t> Stream::acknowledged() {
  std::array<std::byte, kBytesAcked + sizeof(std::uint64_t)> info;
  socklen_t size = info.size();
  const auto failed =
      ::getsockopt(socket().native_handle(), IPPROTO_TCP, kTcpInfo, info.data(), &size);
  if (failed != 0 || size < info.size()) return std::nullopt;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, info.data() + kBytesAcked, sizeof bytes);
  return bytes;
}

void Stream::reset_on_close() {
  // Not by Asio's set_option: Asio's destructor would undo it.
  const ::linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket().native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void Stream::close() {
  error_code ignored;
  socket().shutdown(tcp::socket::shutdown_both, ignored);
}

}  // namespace proxy::net
