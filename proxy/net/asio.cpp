// Compiles Asio and Beast once for the whole program.
#include <sys/epoll.h>

// The calls by which Asio uses its epoll instance, in place of the system's: poller.cpp defines
// them. A thread therefore waits once for all its sockets: for those of Asio and those of the
// Poller. If the Poller had an epoll instance of its own within that of Asio, a hit of 1 KiB would
// cost 1.025 times as much.
namespace proxy::net {
int asio_epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event);
int asio_epoll_wait(int epoll, epoll_event* events, int most, int timeout);
}  // namespace proxy::net

#define epoll_ctl ::proxy::net::asio_epoll_ctl
#define epoll_wait ::proxy::net::asio_epoll_wait
#include <boost/asio/impl/src.hpp>
#undef epoll_ctl
#undef epoll_wait

#include <boost/asio/ssl/impl/src.hpp>

// Their guards, since http/beast_words.cpp compiles these two.
#define BOOST_BEAST_HTTP_IMPL_FIELD_IPP
#define BOOST_BEAST_HTTP_IMPL_STATUS_IPP
#include <boost/beast/src.hpp>
