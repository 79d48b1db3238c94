#include "proxy/reply/stall_watch.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace proxy {

namespace {

constexpr std::chrono::seconds kLook{1};
// The offset of tcpi_bytes_acked in Linux' tcp_info. The C library's <netinet/tcp.h>, which Asio
// includes, lacks that member, and <linux/tcp.h> cannot be included beside it.
constexpr std::size_t kBytesAcked = 120;
constexpr int kTcpInfo = 11;

}  // namespace

StallWatch::StallWatch(net::Stream& client, net::Deadlines& deadlines, TransferSlots::Slot& slot)
    : Watched(deadlines), client_(client), deadlines_(deadlines), slot_(slot) {}

void StallWatch::begin() {
  since_ = deadlines_.now();
  by_then_.reset();
  expires_after(kLook);
}

void StallWatch::end() {
  expires_never();
}

std::optional<std::uint64_t> StallWatch::acknowledged() {
  std::array<std::byte, kBytesAcked + sizeof(std::uint64_t)> info;
  socklen_t size = info.size();
  const auto failed =
      ::getsockopt(client_.socket().native_handle(), IPPROTO_TCP, kTcpInfo, info.data(), &size);
  if (failed != 0 || size < info.size()) return std::nullopt;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, info.data() + kBytesAcked, sizeof bytes);
  return bytes;
}

void StallWatch::on_expiry() {
  const auto now = deadlines_.now();
  const auto taken = acknowledged();
  if (!taken) return;
  if (!by_then_ || *taken - *by_then_ >= kLeast) {
    if (by_then_) since_ = now;
    by_then_ = taken;
  }
  if (now - since_ >= kPatience && slot_.is_wanted()) {
    client_.expires_after(Clock::duration::zero());
  } else {
    expires_after(kLook);
  }
}

}  // namespace proxy
