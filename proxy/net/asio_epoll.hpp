// The calls by which Asio uses its epoll instance. asio.cpp compiles Asio with them in place of the
// system's. So a thread waits once for all its sockets: for those of Asio and those of the Poller.
#pragma once

struct epoll_event;

namespace proxy::net {

// epoll_ctl(2).
int asio_epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event);
// epoll_wait(2), but the events of our Descriptors go to their Poller. Those of Asio are left. They
// may be none.
int asio_epoll_wait(int epoll, epoll_event* events, int most, int timeout);

}  // namespace proxy::net
