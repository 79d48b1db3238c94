#include "proxy/net/pipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <optional>
#include <string>
#include <vector>

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

std::string numbers(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  text.resize(size);
  return text;
}

Task<void> send(Stream& stream, const std::string& bytes) {
  co_await stream.write(asio::buffer(bytes));
  stream.shutdown_send();
}

// Passes on until the source ends, and returns why it has ended.
Task<error_code> pass(Passage& passage) {
  for (;;) {
    const auto moved = co_await passage.pipe->take_from(passage.from, Pipe::kMost);
    if (!moved) {
      passage.to.shutdown_send();
      co_return moved.error();
    }
    for (auto left = *moved; left > 0;) {
      const auto sent = co_await passage.to.send_file(passage.pipe->front(left));
      if (!sent) co_return sent.error();
      left -= *sent;
    }
  }
}

Task<std::string> all_of(Stream& stream) {
  std::string all;
  std::string chunk(1500, '\0');
  for (;;) {
    const auto n = co_await stream.read_some(asio::buffer(chunk));
    if (!n) co_return all;
    all.append(chunk, 0, *n);
  }
}

TEST(Pipe, PassesAllBytesInOrderToASlowReader) {
  Passage passage;
  passage.to.socket().set_option(asio::socket_base::send_buffer_size(65536));
  const auto bytes = numbers(3'000'000);
  asio::co_spawn(passage.io, send(passage.source, bytes), asio::detached);
  std::optional<error_code> end;
  asio::co_spawn(passage.io, pass(passage),
                 [&](std::exception_ptr, error_code error) { end = error; });
  EXPECT_TRUE(run(passage.io, all_of(passage.reader)) == bytes);
  EXPECT_EQ(end, error_code(asio::error::eof));
}

TEST(Pipe, TakesAtMostWhatItIsToldTo) {
  Passage passage;
  run(passage.io, send(passage.source, "0123456789"));
  EXPECT_EQ(run(passage.io, passage.pipe->take_from(passage.from, 4)).value(), 4U);
  EXPECT_EQ(run(passage.io, passage.to.send_file(passage.pipe->front(4))).value(), 4U);
  EXPECT_EQ(run(passage.io, passage.pipe->take_from(passage.from, 100)).value(), 6U);
}

TEST(Pipe, WaitsForBytesNoLongerThanTheDeadline) {
  Passage passage;
  passage.from.expires_after(std::chrono::milliseconds(20));
  const auto taken = run(passage.io, passage.pipe->take_from(passage.from, 4));
  EXPECT_EQ(taken.error(), error_code(asio::error::timed_out));
}

TEST(Pipes, LendNoMoreThanTheirMost) {
  Pipes pipes;
  std::vector<std::unique_ptr<Pipe>> lent;
  for (std::size_t i = 0; i < Pipes::kMost; ++i) lent.push_back(pipes.take());
  EXPECT_EQ(pipes.take(), nullptr);
  pipes.give_back(std::move(lent.back()), Pipes::Left::empty);
  EXPECT_NE(pipes.take(), nullptr);
}

TEST(Pipes, LendAnEmptyPipeAgainAndNoOther) {
  Pipes pipes;
  auto pipe = pipes.take();
  const auto* const first = pipe.get();
  const int descriptor = pipe->front(1).descriptor;
  pipes.give_back(std::move(pipe), Pipes::Left::empty);
  pipe = pipes.take();
  EXPECT_EQ(pipe.get(), first);
  pipes.give_back(std::move(pipe), Pipes::Left::some);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);  // closed
}

}  // namespace
}  // namespace proxy::net
