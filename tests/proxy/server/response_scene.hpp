// A response over a pair of connected sockets.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "proxy/server/http1_response.hpp"
#include "tests/proxy/net/one_connection.hpp"
#include "tests/proxy/received.hpp"

namespace proxy::server {

struct ResponseScene : net::OneConnection {
  net::Socket& client = far;
  observe::RequestRecord record;
  cache::Budget transit{1 << 20};
  machine::Clock clock;
  Http1Response response{stream, input, record, {pool, transit, clock, std::chrono::seconds(10)}};
  client::ResponseState& state = response.state();

  // Writes more than fits, and cuts the response once the write waits. Returns what unread() told
  // before the cut.
  static constexpr std::size_t kMoreThanFits = 32 << 20;
  crowd::Unread unread_by_the_client() {
    crowd::Unread unread;
    const auto look_and_cut = [&] {
      unread = response.unread(transit);
      response.abort();
    };
    net::asio::post(io, [&] { net::asio::post(io, look_and_cut); });
    const std::string more_than_fits(kMoreThanFits, 'x');
    EXPECT_TRUE(support::run(io, response.interim(more_than_fits)));
    return unread;
  }

  // All bytes that the client received.
  std::string received() {
    stream.shutdown_send();
    return received_by(client);
  }
};

}  // namespace proxy::server
