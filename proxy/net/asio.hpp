// The Asio types of the data path with a concrete executor: each connection belongs to the
// io_context of one thread, and no operation pays for a type-erased executor.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/result.hpp>
#include <chrono>

#include "proxy/net/spawn.hpp"
#include "proxy/net/task.hpp"

namespace proxy::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

using Socket = asio::basic_stream_socket<tcp, Executor>;
// A socket of any kind of stream: TCP, or local to this machine.
using AnySocket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using LocalAcceptor = asio::basic_socket_acceptor<asio::local::stream_protocol, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

// Expected I/O failures are values. use_task throws only on bugs.
template <class T>
using Result = boost::system::result<T>;
using boost::system::error_code;

inline constexpr UseTask use_task{};
inline constexpr auto as_result = asio::as_tuple(use_task);

}  // namespace proxy::net
