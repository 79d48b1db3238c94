#include "proxy/net/socket_calls.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "proxy/net/frames.hpp"

namespace proxy::net {
namespace {

// tcpi_bytes_acked in Linux' tcp_info. The C library's <netinet/tcp.h>, which Asio includes, lacks
// it, and <linux/tcp.h> cannot be included beside that header.
constexpr std::size_t kBytesAcked = 120;
constexpr int kTcpInfo = 11;

template <class Call>
Result<std::size_t> result_of(const Call& call) {
  for (;;) {
    const ssize_t n = call();
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return error_code(errno, boost::system::system_category());
  }
}

Result<std::size_t> received(Result<std::size_t> result, bool has_room) {
  if (result && *result == 0 && has_room) return error_code(asio::error::eof);
  return result;
}

// The C library lets a thread be cancelled within recv(2) and send(2). In a process with several
// threads, each call therefore costs two atomic instructions. Nobody cancels a thread of ours.
// AddressSanitizer checks buffers only in the library's functions.
#if defined(HEARSAY_ADDRESS_SANITIZER)
ssize_t system_recv(int socket, void* into, std::size_t size) {
  return ::recv(socket, into, size, 0);
}
ssize_t system_send(int socket, const void* from, std::size_t size, int flags) {
  return ::send(socket, from, size, flags);
}
#else
ssize_t system_recv(int socket, void* into, std::size_t size) {
  return ::syscall(SYS_recvfrom, socket, into, size, 0, nullptr, nullptr);
}
ssize_t system_send(int socket, const void* from, std::size_t size, int flags) {
  return ::syscall(SYS_sendto, socket, from, size, flags, nullptr, 0);
}
#endif

// The buffers without their first `skip` bytes, as many as one system call takes.
class Window {
 public:
  Window(std::span<const asio::const_buffer> buffers, std::size_t skip) {
    for (const auto& buffer : buffers) {
      if (skip >= buffer.size()) {
        skip -= buffer.size();
        continue;
      }
      if (count_ == parts_.size()) break;
      // sendmsg(2) takes a pointer to what it only reads.
      parts_[count_++] = {static_cast<char*>(const_cast<void*>(buffer.data())) + skip,
                          buffer.size() - skip};
      size_ += buffer.size() - skip;
      skip = 0;
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<iovec> parts() { return std::span(parts_).first(count_); }

 private:
  std::array<iovec, 64> parts_;  // not initialized
  std::size_t count_ = 0;
  std::size_t size_ = 0;
};

ssize_t send_together(int socket, std::span<const iovec> parts, std::span<char> scratch,
                      int flags) {
  char* end = scratch.data();
  for (const auto& part : parts) {
    std::memcpy(end, part.iov_base, part.iov_len);
    end += part.iov_len;
  }
  return system_send(socket, scratch.data(), static_cast<std::size_t>(end - scratch.data()), flags);
}

}  // namespace

Result<std::size_t> receive(int socket, asio::mutable_buffer into) {
  const auto result = result_of([&] { return system_recv(socket, into.data(), into.size()); });
  return received(result, into.size() > 0);
}

// The kernel takes bytes from one place faster than from several. A copy of kFew bytes costs less
// than the difference.
Result<std::size_t> send(int socket, std::span<const asio::const_buffer> buffers, std::size_t skip,
                         More more) {
  constexpr std::size_t kFew = 4096;
  const int flags = MSG_NOSIGNAL | (more == More::yes ? MSG_MORE : 0);
  Window window(buffers, skip);
  const auto parts = window.parts();
  if (parts.empty()) return std::size_t{0};
  if (parts.size() == 1) {
    return result_of(
        [&] { return system_send(socket, parts.front().iov_base, parts.front().iov_len, flags); });
  }
  if (window.size() <= kFew) {
    std::array<char, kFew> scratch;  // not initialized
    return result_of([&] { return send_together(socket, parts, scratch, flags); });
  }
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return result_of([&] { return ::sendmsg(socket, &message, flags); });
}

Result<std::size_t> send_file(int socket, const FilePart& part) {
  return result_of([&] {
    if (!part.offset) {
      return ::splice(part.descriptor, nullptr, socket, nullptr, part.size,
                      SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    }
    auto offset = static_cast<off_t>(*part.offset);
    return ::sendfile(socket, part.descriptor, &offset, part.size);
  });
}

Result<std::size_t> receive_into_pipe(int socket, int pipe, std::size_t most) {
  const auto result = result_of([&] {
    return ::splice(socket, nullptr, pipe, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  });
  return received(result, most > 0);
}

std::optional<std::uint64_t> acknowledged(int socket) {
  std::array<std::byte, kBytesAcked + sizeof(std::uint64_t)> info;
  socklen_t size = info.size();
  const auto failed = ::getsockopt(socket, IPPROTO_TCP, kTcpInfo, info.data(), &size);
  if (failed != 0 || size < info.size()) return std::nullopt;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, info.data() + kBytesAcked, sizeof bytes);
  return bytes;
}

// Not by Asio's set_option: Asio's destructor would undo it.
void reset_on_close(int socket) {
  const ::linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace proxy::net
