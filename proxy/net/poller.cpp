#include "proxy/net/poller.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <utility>

namespace proxy::net {
namespace {

constexpr std::uint32_t kInput = EPOLLIN | EPOLLRDHUP | EPOLLPRI | EPOLLET;
constexpr std::uint32_t kNotMerelyInput = EPOLLRDHUP | EPOLLPRI | EPOLLERR | EPOLLHUP;

constexpr std::size_t kMostAtOnce = 128;  // events that Asio asks the kernel for

// The kernel gives an event's data back. An address of Asio's is even.
constexpr std::uint64_t kOurs = 1;

std::uint64_t data_of(const Descriptor& descriptor) {
  return reinterpret_cast<std::uintptr_t>(&descriptor) | kOurs;
}

bool is_ours(const epoll_event& event) {
  return (event.data.u64 & kOurs) != 0;
}

Descriptor* descriptor_of(const epoll_event& event) {
  return reinterpret_cast<Descriptor*>(event.data.u64 & ~kOurs);
}

// Asio does not show its epoll instance, but opening a socket leads it through our
// asio_epoll_ctl().
thread_local int last_epoll = -1;  // on which Asio has called epoll_ctl

// Asio adds each socket that it opens to the epoll instance of the io_context.
int epoll_of(const Executor& executor) {
  Socket any(executor);
  error_code error;
  any.open(tcp::v4(), error);
  if (error) {
    throw boost::system::system_error(error, "this process cannot wait for connections");
  }
  assert(last_epoll >= 0);
  return last_epoll;
}

Poller& poller_of(AnySocket& socket) {
  return asio::use_service<Poller>(socket.get_executor().context());
}

int taken_out_of(AnySocket& socket) {
  error_code error;
  const int descriptor = socket.release(error);
  return error ? -1 : descriptor;
}

// With many connections, the next descriptor is not in the processor's cache. The object that owns
// the descriptor surrounds it in memory. A hit with 1,000 connections costs 0.95 of what it costs
// without this function.
void fetch_surroundings_of(const void* descriptor) {
  constexpr std::uintptr_t kLine = 64;
  const auto begin = reinterpret_cast<std::uintptr_t>(descriptor) - 2 * kLine;
  for (std::uintptr_t line = 0; line < 10; ++line) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + line * kLine));
  }
}

// A message that carries descriptors ends a read early, so a short read of such a socket shows
// nothing.
bool is_of_unix(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family == AF_UNIX;
}

Resume<bool> take(std::optional<Resume<bool>>& waiter) {
  auto coroutine = std::move(*waiter);
  waiter.reset();
  return coroutine;
}

}  // namespace

Descriptor::Descriptor(AnySocket socket)
    : poller_(poller_of(socket)),
      socket_(taken_out_of(socket)),
      short_read_proves_nothing_(is_of_unix(get())) {
  poller_.descriptors_.push_back(*this);
  poller_.ask(*this, kInput);
}

Descriptor::~Descriptor() {
  cancel();
  poller_.forget(*this);
}

void Descriptor::park_reader(Resume<bool> coroutine) {
  assert(!reader_);
  reader_.emplace(std::move(coroutine));
  if (asked_ == 0) poller_.cancel(reader_);
}

void Descriptor::park_writer(Resume<bool> coroutine) {
  assert(!writer_);
  writer_.emplace(std::move(coroutine));
  if (!poller_.ask(*this, kInput | EPOLLOUT)) poller_.cancel(writer_);
}

void Descriptor::record_input(std::uint32_t events) {
  if ((events & kNotMerelyInput) != 0) short_read_proves_nothing_ = true;
  if ((events & (EPOLLIN | kNotMerelyInput)) != 0) may_read_ = true;
}

void Descriptor::cancel() {
  poller_.cancel(reader_);
  poller_.cancel(writer_);
}

Poller::Poller(asio::execution_context& of)
    : service(of),
      executor_(static_cast<asio::io_context&>(of).get_executor()),
      epoll_(epoll_of(executor_)) {
  batch_.reserve(kMostAtOnce);
}

Poller::~Poller() = default;

// Asks the kernel to report these events of the descriptor. Returns whether the kernel does so.
bool Poller::ask(Descriptor& descriptor, std::uint32_t events) {
  if (descriptor.asked_ == events) return true;
  epoll_event event{};
  event.events = events;
  event.data.u64 = data_of(descriptor);
  const int how = descriptor.asked_ == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_, how, descriptor.get(), &event) != 0) return false;
  descriptor.asked_ = events;
  return true;
}

void Poller::forget(const Descriptor& descriptor) {
  for (auto& event : batch_) {
    if (descriptor_of(event) == &descriptor) event.data.u64 = 0;
  }
}

void Poller::cancel(Waiter& waiter) {
  if (!waiter) return;
  asio::post(executor_, [coroutine = take(waiter)]() mutable { coroutine(false); });
}

void Poller::shutdown() {
  List seen;  // a coroutine may own any of the descriptors
  while (!descriptors_.empty()) {
    auto& next = descriptors_.front();
    seen.splice(seen.end(), descriptors_, descriptors_.begin());
    Waiter reader;
    Waiter writer;
    if (next.reader_) reader.emplace(take(next.reader_));
    if (next.writer_) writer.emplace(take(next.writer_));
  }
}

// A coroutine that is told first may ask a Descriptor that is told later, so all know beforehand.
std::size_t Poller::keep_ours(std::span<epoll_event> events) {
  Poller* poller = nullptr;
  std::size_t others = 0;
  for (const auto& event : events) {
    if (!is_ours(event)) {
      events[others++] = event;
      continue;
    }
    auto* const descriptor = descriptor_of(event);
    if (!poller) {
      poller = &descriptor->poller_;
      assert(poller->batch_.empty());  // else a handler has run the io_context itself
    }
    descriptor->record_input(event.events);
    poller->batch_.push_back(event);
  }
  if (poller) asio::post(poller->executor_, [poller] { poller->wake_all(); });
  return others;
}

void Poller::wake_all() {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (i + 1 < batch_.size()) fetch_surroundings_of(descriptor_of(batch_[i + 1]));
    wake(batch_[i]);
  }
  batch_.clear();
}

// A resumed coroutine may destroy any descriptor.
void Poller::wake(const epoll_event& event) {
  auto* descriptor = descriptor_of(event);
  if (!descriptor) return;
  if ((event.events & (EPOLLIN | kNotMerelyInput)) != 0) {
    descriptor->record_input(event.events);  // a read may have come before
    if (descriptor->reader_) take(descriptor->reader_)(true);
    descriptor = descriptor_of(event);
  }
  const bool has_room = (event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0;
  if (descriptor && has_room && descriptor->writer_) take(descriptor->writer_)(true);
}

// Asio calls these two in place of epoll_ctl(2) and epoll_wait(2): see asio.cpp. The Poller takes
// the events of our Descriptors, so a wait may result in zero before its time is over.
int asio_epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) {
  last_epoll = epoll;
  return ::epoll_ctl(epoll, operation, descriptor, event);
}

int asio_epoll_wait(int epoll, epoll_event* events, int most, int timeout) {
  // epoll_wait(2) of the C library costs two atomic instructions more: see socket_calls.cpp.
  const auto count = static_cast<int>(
      ::syscall(SYS_epoll_pwait, epoll, events, most, timeout, nullptr, std::size_t{0}));
  if (count <= 0) return count;
  return static_cast<int>(Poller::keep_ours({events, static_cast<std::size_t>(count)}));
}

}  // namespace proxy::net
