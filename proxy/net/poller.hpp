// Tells the coroutines of one thread when their sockets can be read or written.
#pragma once

#include <sys/epoll.h>

#include <boost/asio/execution_context.hpp>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "proxy/machine/descriptor.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::net {

class Poller;

// A connected stream socket, TCP or Unix, that does not block. It is used on the thread of its
// io_context. One coroutine at a time may wait for input, and one for room.
//
// The kernel reports input when it comes (EPOLLET). It is asked once for each descriptor, so a wait
// costs no system call of its own. may_read() remembers that a read would find nothing, so such a
// read is left out. A read of fewer bytes than it had room for has taken all of them (epoll(7),
// question 9). The kernel reports an end, an error or urgent data by a separate event. After that
// event, a short read does not prove that the socket is empty. A short read of a Unix socket never
// proves it, because a read ends after a message that carries descriptors.
class Descriptor : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
                   boost::noncopyable {
 public:
  explicit Descriptor(AnySocket socket);  // takes the socket out of Asio
  ~Descriptor();

  [[nodiscard]] int get() const { return socket_.number(); }

  // False: a read would find nothing, unless bytes have come since the last events.
  [[nodiscard]] bool may_read() const { return may_read_ || asked_ == 0; }
  void read_short() { may_read_ = short_read_proves_nothing_; }
  void read_nothing() { may_read_ = false; }                          // it would have had to wait
  void read_end() { may_read_ = short_read_proves_nothing_ = true; }  // or an error

  // co_await waits until may_read(), which is false now. The result is false if cancel() ended the
  // wait.
  auto input() {
    return wait_for<bool>([this](Resume<bool> coroutine) { park_reader(std::move(coroutine)); });
  }
  // co_await waits until there is room for bytes to send, after a write that found none. The result
  // is false if cancel() ended the wait.
  auto room() {
    return wait_for<bool>([this](Resume<bool> coroutine) { park_writer(std::move(coroutine)); });
  }
  void cancel();

 private:
  friend class Poller;
  using Waiter = std::optional<Resume<bool>>;

  void park_reader(Resume<bool> coroutine);
  void park_writer(Resume<bool> coroutine);
  void record_input(std::uint32_t events);

  Poller& poller_;
  Waiter reader_;
  Waiter writer_;
  const machine::Descriptor socket_;  // closing it also takes it out of epoll
  std::uint32_t asked_ = 0;           // the events that the kernel reports; zero: it refused to
  bool may_read_ = true;
  bool short_read_proves_nothing_;
};

// The descriptors of one io_context; asio::use_service makes it. They are in the epoll instance of
// Asio, whose wait is also theirs: see asio.cpp. The end of the io_context destroys the
// coroutines that wait.
class Poller final : public asio::execution_context::service {
 public:
  using key_type = Poller;
  static inline asio::execution_context::id id;

  explicit Poller(asio::execution_context& of);
  ~Poller() override;

  // Removes the events of Descriptors from `events`; the Descriptors learn of them before the next
  // wait. Moves all other events to the front, and returns their number.
  static std::size_t keep_ours(std::span<epoll_event> events);

 private:
  friend class Descriptor;
  using Waiter = Descriptor::Waiter;
  using List = boost::intrusive::list<Descriptor, boost::intrusive::constant_time_size<false>>;

  bool ask(Descriptor& descriptor, std::uint32_t events);
  void forget(const Descriptor& descriptor);
  void cancel(Waiter& waiter);

  void shutdown() override;
  void wake_all();
  void wake(const epoll_event& event);

  const Executor executor_;
  const int epoll_;  // of Asio
  List descriptors_;
  std::vector<epoll_event> batch_;  // the events that wake_all() handles
};

}  // namespace proxy::net
