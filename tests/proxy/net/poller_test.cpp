#include "proxy/net/poller.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/write.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/socket_calls.hpp"
#include "tests/support/await.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {
namespace {

using support::run;

AnySocket not_blocking(Socket socket) {
  socket.non_blocking(true);
  return socket;
}

Task<bool> input_of(Descriptor& descriptor) {
  co_return co_await descriptor.input();
}

Task<bool> room_of(Descriptor& descriptor) {
  co_return co_await descriptor.room();
}

struct PolledPair {
  explicit PolledPair(asio::io_context& io) : PolledPair(support::connected_pair(io)) {}
  explicit PolledPair(std::pair<Socket, Socket> pair)
      : near(std::make_unique<Descriptor>(not_blocking(std::move(pair.first)))),
        far(std::move(pair.second)) {}

  void await_unread() {
    char byte = 0;
    const auto comes = [&] { return ::recv(near->get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0; };
    EXPECT_TRUE(support::await(comes));
  }
  std::string read(std::size_t most = 100) {
    std::string bytes(most, '\0');
    const auto n = receive(near->get(), asio::buffer(bytes));
    return n ? bytes.substr(0, *n) : n.error().message();
  }

  std::unique_ptr<Descriptor> near;  // on the heap, so that ASan sees a use after its end
  Socket far;
};

struct Poll : testing::Test {
  asio::io_context io{1};
  PolledPair ends{io};

  void say(const char* text) { asio::write(ends.far, asio::buffer(std::string(text))); }
  // The events of both come in one batch.
  void run_with_input_of_both(PolledPair& others) {
    say("hello");
    asio::write(others.far, asio::buffer("hello", 5));
    ends.await_unread();
    others.await_unread();
    io.restart();
    io.run();
  }
  void send_until_full() {
    const std::string block(1 << 20, 'x');
    const std::array one{asio::buffer(block)};
    while (send(ends.near->get(), one, 0)) {
    }
  }
  std::string read_short() {
    auto bytes = ends.read();
    ends.near->read_short();
    return bytes;
  }
};

TEST_F(Poll, TellsOfInputEachTimeItComes) {
  for (int i = 0; i < 3; ++i) {
    say("hello");
    EXPECT_TRUE(run(io, input_of(*ends.near))) << i;
    EXPECT_TRUE(ends.near->may_read());
    EXPECT_EQ(read_short(), "hello");
    EXPECT_FALSE(ends.near->may_read());
  }
}

TEST_F(Poll, TellsOfAnEndThatCameWithTheLastBytes) {
  say("hello");
  ends.far.shutdown(tcp::socket::shutdown_send);
  ends.await_unread();
  EXPECT_TRUE(run(io, input_of(*ends.near)));
  EXPECT_EQ(read_short(), "hello");
  EXPECT_TRUE(ends.near->may_read());
}

TEST_F(Poll, TellsOfAnEndThatCameAfterTheEventOfTheBytes) {
  say("hello");
  EXPECT_TRUE(run(io, input_of(*ends.near)));
  ends.far.shutdown(tcp::socket::shutdown_send);
  EXPECT_EQ(read_short(), "hello");
  EXPECT_TRUE(run(io, input_of(*ends.near)));
  EXPECT_TRUE(ends.near->may_read());
}

// A read stops before urgent data, though more bytes are there.
TEST_F(Poll, TellsOfUrgentDataAmongTheBytes) {
  say("before");
  ASSERT_EQ(::send(ends.far.native_handle(), "!", 1, MSG_OOB), 1);
  say("after");
  ends.await_unread();
  EXPECT_TRUE(run(io, input_of(*ends.near)));
  EXPECT_EQ(read_short(), "before");
  EXPECT_TRUE(ends.near->may_read());
  EXPECT_EQ(read_short(), "after");
  EXPECT_EQ(ends.read(), asio::error::make_error_code(asio::error::would_block).message());
  ends.near->read_nothing();
  EXPECT_FALSE(ends.near->may_read());
  say("more");
  EXPECT_TRUE(run(io, input_of(*ends.near)));
}

TEST_F(Poll, TellsOfRoomOnceTheOtherSideReads) {
  send_until_full();
  bool told = false;
  net::spawn(io.get_executor(), room_of(*ends.near),
             [&](std::exception_ptr, bool room) { told = room; });
  io.poll();
  EXPECT_FALSE(told);
  std::string taken(16 << 20, '\0');
  ends.far.non_blocking(true);
  EXPECT_TRUE(support::await([&] {
    error_code ignored;
    ends.far.read_some(asio::buffer(taken), ignored);
    io.restart();
    io.poll();
    return told;
  }));
}

TEST_F(Poll, CancelEndsBothWaits) {
  send_until_full();
  int ended = 0;
  const auto count = [&](std::exception_ptr, bool told) { ended += told ? 10 : 1; };
  net::spawn(io.get_executor(), input_of(*ends.near), count);
  net::spawn(io.get_executor(), room_of(*ends.near), count);
  io.poll();
  EXPECT_EQ(ended, 0);
  ends.near->cancel();
  io.run();
  EXPECT_EQ(ended, 2);
}

TEST_F(Poll, MayEndWhileACoroutineWaits) {
  std::optional<bool> told;
  net::spawn(io.get_executor(), input_of(*ends.near),
             [&](std::exception_ptr, bool input) { told = input; });
  io.poll();
  ends.near.reset();
  io.run();
  EXPECT_EQ(told, false);
}

Task<void> read_and_destroy(Descriptor& own, std::unique_ptr<Descriptor>& other, int& reads) {
  const bool told = co_await own.input();
  if (told) ++reads;
  other.reset();
}

TEST_F(Poll, OneThatIsToldMayDestroyAnotherThatIsToldNext) {
  PolledPair others(io);
  int reads = 0;
  auto& first = *ends.near;
  auto& second = *others.near;
  net::spawn(io.get_executor(), read_and_destroy(first, others.near, reads));
  net::spawn(io.get_executor(), read_and_destroy(second, ends.near, reads));
  io.poll();
  run_with_input_of_both(others);
  EXPECT_EQ(reads, 1) << "one of the two is destroyed before it is told";
}

Task<void> look_at(Descriptor& own, const Descriptor& other, bool& may_read) {
  const bool told = co_await own.input();
  may_read = told && other.may_read();
}

// Otherwise a request would take a connection that the other side has just closed.
TEST_F(Poll, AllOfABatchKnowOfTheirInputBeforeTheFirstIsTold) {
  PolledPair others(io);
  bool first_saw = false;
  bool second_saw = false;
  ends.near->read_nothing();
  others.near->read_nothing();
  net::spawn(io.get_executor(), look_at(*ends.near, *others.near, first_saw));
  net::spawn(io.get_executor(), look_at(*others.near, *ends.near, second_saw));
  io.poll();
  run_with_input_of_both(others);
  EXPECT_TRUE(first_saw);
  EXPECT_TRUE(second_saw);
}

Task<void> count_when_told(Descriptor& descriptor, std::size_t& told) {
  const bool input = co_await descriptor.input();
  if (input) ++told;
}

TEST_F(Poll, TellsMoreThanTheKernelReportsAtOnce) {
  std::vector<std::unique_ptr<PolledPair>> pairs;
  std::size_t told = 0;
  for (int i = 0; i < 300; ++i) {
    pairs.push_back(std::make_unique<PolledPair>(io));
    net::spawn(io.get_executor(), count_when_told(*pairs.back()->near, told));
  }
  io.poll();
  for (const auto& pair : pairs) {
    asio::write(pair->far, asio::buffer("hello", 5));
    pair->await_unread();
  }
  io.restart();
  io.run();
  EXPECT_EQ(told, pairs.size());
}

// A read ends after a message that carries descriptors, though more bytes are there.
TEST_F(Poll, TriesEachReadOfAUnixSocket) {
  std::array<int, 2> both{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()), 0);
  Descriptor near(AnySocket(io, asio::generic::stream_protocol(AF_UNIX, 0), both[0]));
  const AnySocket far(io, asio::generic::stream_protocol(AF_UNIX, 0), both[1]);
  near.read_short();
  EXPECT_TRUE(near.may_read());
  near.read_nothing();
  EXPECT_FALSE(near.may_read());
}

Task<void> hold_while_waiting(std::unique_ptr<PolledPair> ends, std::shared_ptr<int> held) {
  co_await ends->near->input();
  ++*held;
}

TEST(PollerEnd, DestroysTheCoroutinesThatWait) {
  const auto held = std::make_shared<int>(0);
  {
    asio::io_context io(1);
    for (int i = 0; i < 3; ++i) {
      net::spawn(io.get_executor(), hold_while_waiting(std::make_unique<PolledPair>(io), held));
    }
    io.poll();
    EXPECT_GT(held.use_count(), 3);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace proxy::net
