// A listening socket whose backlog is full: connection attempts get no answer.
#pragma once

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <list>

#include "proxy/net/asio.hpp"

namespace support {

class FullListener {
 public:
  explicit FullListener(boost::asio::io_context& io) : acceptor_(io.get_executor()) {
    using proxy::net::tcp;
    acceptor_.open(tcp::v4());
    acceptor_.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {  // Linux takes one or two more than the backlog
      auto& socket = waiting_.emplace_back(io.get_executor());
      socket.open(tcp::v4());
      socket.native_non_blocking(true);
      const auto to = endpoint();
      ::connect(socket.native_handle(), to.data(), static_cast<socklen_t>(to.size()));
    }
  }

  [[nodiscard]] proxy::net::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
  proxy::net::Acceptor acceptor_;
  std::list<proxy::net::Socket> waiting_;
};

}  // namespace support
