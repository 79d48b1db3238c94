// The calls by which Asio uses its epoll instance. asio.cpp compiles Asio with these functions in
// place of the system's. A thread therefore waits once for all its sockets: for those of Asio and
// those of the Poller. If the Poller had an epoll instance of its own within that of Asio, a hit of
// 1 KiB would cost 1.025 times as much.
#pragma once

struct epoll_event;

namespace proxy::net {

// As epoll_ctl(2).
int asio_epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event);
// As epoll_wait(2). But the Poller takes the events of our Descriptors, so the result may be zero
// before the time is over.
int asio_epoll_wait(int epoll, epoll_event* events, int most, int timeout);

}  // namespace proxy::net
