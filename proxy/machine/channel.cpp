#include "proxy/machine/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace proxy::succession {
namespace {

constexpr std::size_t kLongest = 128 * 1024;  // more than the longest URL or order to purge

// Room for one descriptor beside a message.
union Ancillary {
  cmsghdr aligned;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

void carry(msghdr& header, Ancillary& room, int descriptor) {
  header.msg_control = room.bytes.data();
  header.msg_controllen = room.bytes.size();
  cmsghdr* const item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(item), &descriptor, sizeof descriptor);
}

Descriptor carried_by(msghdr& header) {
  const cmsghdr* const item = CMSG_FIRSTHDR(&header);
  if (item == nullptr || item->cmsg_type != SCM_RIGHTS) return Descriptor();
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(item), sizeof descriptor);
  return Descriptor(descriptor);
}

}  // namespace

Channel make_channel() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return {Descriptor(), Descriptor()};
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send(int channel, Kind kind, std::string_view text, int carried) {
  std::array<iovec, 2> parts{{{&kind, 1}, {const_cast<char*>(text.data()), text.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  Ancillary room{};
  if (carried >= 0) carry(header, room, carried);
  return ::sendmsg(channel, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

Received receive(int channel, Wait wait) {
  Message message;
  message.text.resize(kLongest);
  std::array<iovec, 2> parts{{{&message.kind, 1}, {message.text.data(), message.text.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  Ancillary room{};
  header.msg_control = room.bytes.data();
  header.msg_controllen = room.bytes.size();
  const int how = MSG_CMSG_CLOEXEC | (wait == Wait::no ? MSG_DONTWAIT : 0);
  ssize_t size = 0;
  do {
    size = ::recvmsg(channel, &header, how);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return {.message = {}, .closed = size == 0 || errno != EAGAIN};
  message.text.resize(static_cast<std::size_t>(size) - 1);
  message.carried = carried_by(header);
  return {.message = std::move(message)};
}

}  // namespace proxy::succession
