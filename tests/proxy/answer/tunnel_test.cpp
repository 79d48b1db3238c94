#include "proxy/answer/tunnel.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/net/tls_ends.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::answer {
namespace {

using net::Stream;
using net::Task;
using support::run;
namespace asio = net::asio;

// Sends the first `count` bytes back to `stream` as they arrive.
Task<void> echo(Stream& stream, std::size_t count) {
  std::string chunk(65536, '\0');
  while (count > 0) {
    const auto read = co_await stream.read_some(asio::buffer(chunk));
    if (!read) break;
    count -= *read;
    co_await stream.write(asio::buffer(chunk.data(), *read));
  }
  stream.shutdown_send();
}

Task<void> send(Stream& stream, const std::string& bytes) {
  co_await stream.write(asio::buffer(bytes));
  stream.shutdown_send();
}

Task<void> receive(Stream& stream, std::string& into) {
  std::string chunk(65536, '\0');
  for (;;) {
    const auto read = co_await stream.read_some(asio::buffer(chunk));
    if (!read) break;
    into.append(chunk, 0, *read);
  }
}

TEST(CarryBoth, GoesBothWaysAtOnceOverTls) {
  Scene scene;
  auto& worker = scene.worker;
  net::TlsPair ends_of_tls(worker.io, worker.deadlines);
  auto& near = *ends_of_tls.near;
  auto& far = *ends_of_tls.far;
  Stream user(std::move(scene.pair.second), worker.deadlines);

  std::string bytes;
  for (int i = 0; bytes.size() < 500'000; ++i) bytes += std::to_string(i) + ' ';
  std::string got;
  net::spawn(worker.io.get_executor(), echo(far, bytes.size()));
  net::spawn(worker.io.get_executor(), send(user, bytes));
  net::spawn(worker.io.get_executor(), receive(user, got));
  TunnelEnds ends{*scene.response.raw_connection(), near, "head ", "early "};
  run(worker.io, carry_both(scene.client, ends));
  worker.io.restart();
  worker.io.poll();
  EXPECT_TRUE(got == "head early " + bytes) << got.size();
  EXPECT_EQ(scene.record.bytes, got.size());
  EXPECT_FALSE(scene.response.may_go_on());
}

}  // namespace
}  // namespace proxy::answer
