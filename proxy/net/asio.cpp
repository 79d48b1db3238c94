// Compiles Asio and Beast once for the whole program.
#include <sys/epoll.h>

#include "proxy/net/asio_epoll.hpp"

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
