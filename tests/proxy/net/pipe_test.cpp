#include "proxy/net/pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <list>
#include <optional>
#include <string>

#include "tests/proxy/net/long_text.hpp"
#include "tests/support/await.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {
namespace {

using support::run;

// From `source` over a pipe to `reader`.
struct Passage : support::Loop {
  std::pair<Socket, Socket> in = support::connected_pair(io);
  std::pair<Socket, Socket> out = support::connected_pair(io);
  Stream source{std::move(in.first), deadlines};
  Stream from{std::move(in.second), deadlines};
  Stream to{std::move(out.first), deadlines};
  Stream reader{std::move(out.second), deadlines};
  std::unique_ptr<Pipe> pipe = Pipe::make();
};

Task<void> send(Stream& stream, const std::string& bytes) {
  co_await stream.write(asio::buffer(bytes));
  stream.shutdown_send();
}

// Passes on until the source ends, and returns why it has ended.
Task<error_code> pass(Passage& passage) {
  for (;;) {
    const auto moved = co_await passage.pipe->read_from(passage.from, Pipe::kMost);
    if (!moved) {
      passage.to.shutdown_send();
      co_return moved.error();
    }
    while (!passage.pipe->empty()) {
      const auto sent = co_await passage.to.send_file(passage.pipe->content());
      if (!sent) co_return sent.error();
      passage.pipe->sent(*sent);
    }
  }
}

TEST(Pipe, PassesAllBytesInOrderToASlowReader) {
  Passage passage;
  support::set_send_buffer(passage.to.descriptor(), 65536);
  const auto bytes = numbers(3'000'000);
  net::spawn(passage.io.get_executor(), send(passage.source, bytes));
  std::optional<error_code> end;
  net::spawn(passage.io.get_executor(), pass(passage),
             [&](std::exception_ptr, error_code error) { end = error; });
  EXPECT_TRUE(run(passage.io, all_of(passage.reader)) == bytes);
  EXPECT_EQ(end, error_code(asio::error::eof));
}

TEST(Pipe, TakesAtMostWhatItIsToldTo) {
  Passage passage;
  run(passage.io, send(passage.source, "0123456789"));
  EXPECT_EQ(run(passage.io, passage.pipe->read_from(passage.from, 4)).value(), 4U);
  EXPECT_EQ(run(passage.io, passage.to.send_file(passage.pipe->content())).value(), 4U);
  passage.pipe->sent(4);
  EXPECT_EQ(run(passage.io, passage.pipe->read_from(passage.from, 100)).value(), 6U);
}

TEST(Pipe, WaitsForBytesNoLongerThanTheDeadline) {
  Passage passage;
  passage.from.expires_after(std::chrono::milliseconds(20));
  const auto taken = run(passage.io, passage.pipe->read_from(passage.from, 4));
  EXPECT_EQ(taken.error(), error_code(asio::error::timed_out));
}

TEST(Pipes, LendNoMoreThanTheirMost) {
  Pipes pipes;
  std::list<Pipes::Lent> lent;
  for (std::size_t i = 0; i < Pipes::kMost; ++i) EXPECT_TRUE(lent.emplace_back(pipes).get());
  EXPECT_FALSE(Pipes::Lent(pipes).get());
  lent.pop_back();
  EXPECT_TRUE(Pipes::Lent(pipes).get());
}

TEST(Pipes, CloseAPipeWithWhatIsLeftInIt) {
  Passage passage;
  Pipes pipes;
  run(passage.io, send(passage.source, "of one response"));
  int descriptor = -1;
  {
    const Pipes::Lent lent(pipes);
    descriptor = lent.get()->content().descriptor;
    EXPECT_EQ(run(passage.io, lent.get()->read_from(passage.from, 100)).value(), 15U);
  }
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);  // closed
  EXPECT_TRUE(Pipes::Lent(pipes).get()->empty());
}

}  // namespace
}  // namespace proxy::net
