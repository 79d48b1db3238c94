#include "proxy/machine/channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "config/text.hpp"
#include "proxy/machine/launcher.hpp"

namespace proxy::machine::succession {
namespace {

constexpr std::size_t kLongest = 128 * 1024;  // more than the longest URL or order to purge

// Room for one descriptor beside a message.
// cmsg(3) asks for the alignment of its header, which an array of bytes has not.
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

constexpr time_t kLongestRelease = 15;  // seconds

}  // namespace

Channel make_channel() {
  std::array<int, 2> ends{-1, -1};
  // Messages and not a stream: each is whole, and a reader needs no lengths.
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return {Descriptor(), Descriptor()};
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool send(int channel, MessageKind kind, std::string_view text, int carried) {
  // sendmsg(2) takes pointers to what it only reads.
  std::array<iovec, 2> parts{{{&kind, 1}, {const_cast<char*>(text.data()), text.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  Ancillary room{};
  if (carried >= 0) carry(header, room, carried);
  return ::sendmsg(channel, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

ReceivedMessage receive(int channel, Wait wait) {
  Message message;
  message.text.resize(kLongest);
  std::array<iovec, 2> parts{{{&message.kind, 1}, {message.text.data(), message.text.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  Ancillary room{};
  header.msg_control = room.bytes.data();
  header.msg_controllen = room.bytes.size();
  // A program that is started meanwhile must not keep a socket open by inheriting it.
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

std::string text_of(const Order& order) {
  return std::to_string(order.number).append(" ").append(order.what);
}

std::optional<Order> order_of(std::string_view text) {
  const auto blank = text.find(' ');
  const auto number = config::parse_number(text.substr(0, blank), UINT64_MAX);
  if (!number || blank == text.npos) return std::nullopt;
  return Order{*number, text.substr(blank + 1)};
}

Predecessor Predecessor::of_environment() {
  const char* const number = std::getenv(kChannelVariable);
  if (number == nullptr) return Predecessor(-1);
  const int channel = std::atoi(number);
  ::unsetenv(kChannelVariable);  // no program that we start is to take itself for a successor
  ::fcntl(channel, F_SETFD, FD_CLOEXEC);
  return Predecessor(channel);
}

void Predecessor::take_disk() {
  if (!channel_ || !send(channel_.number(), MessageKind::release_disk)) return;
  // A timer in place of a clock: a predecessor that sends orders all the time must not delay the
  // end.
  const Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!timer) return;
  const itimerspec longest{{}, {kLongestRelease, 0}};
  ::timerfd_settime(timer.number(), 0, &longest, nullptr);
  std::array<pollfd, 2> ends{{{channel_.number(), POLLIN, 0}, {timer.number(), POLLIN, 0}}};
  while (::poll(ends.data(), ends.size(), -1) > 0 && ends[1].revents == 0) {
    auto [message, closed] = receive(channel_.number(), Wait::no);
    if (closed || (message && message->kind == MessageKind::disk_released)) return;
    if (message) early_.push_back(std::move(*message));
  }
}

ReceivedMessage Predecessor::next() {
  if (early_.empty()) return receive(channel_.number(), Wait::no);
  ReceivedMessage received{.message = std::move(early_.front())};
  early_.pop_front();
  return received;
}

void Predecessor::decline_control() const {
  if (channel_) send(channel_.number(), MessageKind::control_declined);
}

bool Predecessor::say_serving() {
  const auto us = std::to_string(::getpid());
  if (!channel_ || send(channel_.number(), MessageKind::serving, us)) return true;
  // It has ended, so that nobody else serves, or it has given us up.
  for (;;) {
    auto [message, closed] = receive(channel_.number(), Wait::no);
    if (!message) return true;
    if (message->kind == MessageKind::too_late) return false;
    early_.push_back(std::move(*message));
  }
}

void Predecessor::say_forgotten(std::uint64_t order) const {
  if (channel_) send(channel_.number(), MessageKind::forgotten, std::to_string(order));
}

void Successor::adopt(int channel) {
  const threads::MutexLock lock(mutex_);
  channel_ = channel;
}

void Successor::disown() {
  std::map<std::uint64_t, Answered> untold;
  {
    const threads::MutexLock lock(mutex_);
    channel_ = -1;
    untold.swap(waiting_);
  }
  for (const auto& [number, answered] : untold) answered(false);
}

// The lock lets no answer arrive before the order waits for it.
bool Successor::tell(MessageKind kind, std::string_view what, Answered answered) {
  const threads::MutexLock lock(mutex_);
  const Order order{++told_, what};
  if (!send(channel_, kind, text_of(order))) return false;
  waiting_.emplace(order.number, std::move(answered));
  return true;
}

void Successor::record_forgotten(std::string_view number) {
  const auto answered = config::parse_number(number, UINT64_MAX).value_or(0);
  std::map<std::uint64_t, Answered>::node_type order;
  {
    const threads::MutexLock lock(mutex_);
    order = waiting_.extract(answered);
  }
  if (order) order.mapped()(true);
}

}  // namespace proxy::machine::succession
