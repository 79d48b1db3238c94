#include "proxy/net/stream.hpp"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/await.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using support::run;

struct Ends : support::Loop {
  std::pair<Socket, Socket> pair = support::connected_pair(io);
  Stream near{std::move(pair.first), deadlines};
  Stream far{std::move(pair.second), deadlines};
};

Task<std::string> read_to_end(Stream& stream, std::size_t step) {
  std::string all;
  std::string chunk(step, '\0');
  for (;;) {
    const auto n = co_await stream.read_some(asio::buffer(chunk));
    if (!n) co_return n.error() == asio::error::eof ? all : n.error().message();
    all.append(chunk, 0, *n);
  }
}

// Reads until `into` is full.
Task<bool> read_all(Stream& stream, std::string& into) {
  for (std::size_t got = 0; got < into.size();) {
    const auto n = co_await stream.read_some(asio::buffer(into) + got);
    if (!n) co_return false;
    got += *n;
  }
  co_return true;
}

// More buffers and more bytes than the kernel takes at once, with empty buffers among them.
std::vector<std::string> many_pieces() {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < 700; ++i) {
    pieces.emplace_back(i % 7 == 0 ? 0 : i * 17, static_cast<char>('a' + i % 26));
  }
  return pieces;
}

Task<error_code> write_and_finish(Stream& stream, const std::vector<std::string>& pieces) {
  std::vector<asio::const_buffer> buffers;
  for (const auto& piece : pieces) buffers.push_back(asio::buffer(piece));
  const auto error = co_await stream.write(buffers);
  stream.shutdown_send();
  co_return error;
}

TEST(Stream, WritesLargeGathersInOrderOverASlowReader) {
  Ends ends;
  support::set_send_buffer(ends.near.descriptor(), 65536);
  const auto pieces = many_pieces();
  std::string expected;
  for (const auto& piece : pieces) expected += piece;
  error_code written = asio::error::in_progress;
  net::spawn(ends.io.get_executor(), write_and_finish(ends.near, pieces),
             [&](std::exception_ptr, error_code error) { written = error; });
  const auto got = run(ends.io, read_to_end(ends.far, 1500));
  EXPECT_TRUE(got == expected) << got.size() << " of " << expected.size();
  EXPECT_FALSE(written);
}

TEST(Stream, TriesWithoutWaiting) {
  Ends ends;
  char byte = 0;
  EXPECT_FALSE(ends.near.try_read(asio::buffer(&byte, 1)));

  const std::array hello{asio::buffer("he", 2), asio::buffer("llo", 3)};
  EXPECT_EQ(ends.far.try_write(hello).value(), 5U);
  EXPECT_TRUE(run(ends.io, ends.near.readable()));
  std::string text(9, '\0');
  const auto got = ends.near.try_read(asio::buffer(text));
  ASSERT_TRUE(got && *got);
  EXPECT_EQ(text.substr(0, **got), "hello");

  ends.far.shutdown_send();
  EXPECT_TRUE(run(ends.io, ends.near.readable()));
  const auto end = ends.near.try_read(asio::buffer(text));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error(), asio::error::eof);
}

TEST(Stream, TellsTheEndAsOftenAsItIsAsked) {
  Ends ends;
  ASSERT_FALSE(run(ends.io, ends.far.write(asio::buffer("hello", 5))));
  ends.far.shutdown_send();
  ends.near.expires_after(1s);
  std::string text(9, '\0');
  EXPECT_EQ(run(ends.io, ends.near.read_some(asio::buffer(text))).value(), 5U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(ends.io, ends.near.read_some(asio::buffer(text))).error(), asio::error::eof) << i;
    ASSERT_FALSE(run(ends.io, ends.near.write(asio::buffer("hello", 5))));
  }
}

TEST(Stream, TellsHowMuchTheOtherSideHasAcknowledged) {
  Ends ends;
  const auto before = acknowledged(ends.near.descriptor());
  ASSERT_TRUE(before);
  ASSERT_FALSE(run(ends.io, ends.near.write(asio::buffer("hello", 5))));
  EXPECT_TRUE(support::await([&] { return acknowledged(ends.near.descriptor()) == *before + 5; }));
}

TEST(Stream, TriesToWriteAsMuchAsFits) {
  Ends ends;
  const std::string block(1 << 20, 'x');
  const std::array one{asio::buffer(block)};
  std::size_t taken = 0;
  for (int i = 0; i < 64; ++i) taken += ends.near.try_write(one).value();
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, 64 * block.size());
  EXPECT_EQ(ends.near.try_write(one).value(), 0U);
}

TEST(Stream, DeadlineEndsAReadAndAllUntilANewOne) {
  Ends ends;
  std::string text(9, '\0');
  ends.near.expires_after(20ms);
  EXPECT_EQ(run(ends.io, ends.near.read_some(asio::buffer(text))).error(), asio::error::timed_out);
  EXPECT_TRUE(ends.near.timed_out());
  EXPECT_FALSE(run(ends.io, ends.near.readable()));
  EXPECT_EQ(run(ends.io, ends.near.write(asio::buffer("x", 1))), asio::error::timed_out);

  ends.near.expires_after(10s);
  EXPECT_FALSE(run(ends.io, ends.far.write(asio::buffer("late", 4))));
  EXPECT_EQ(run(ends.io, ends.near.read_some(asio::buffer(text))).value(), 4U);
}

TEST(Stream, DeadlineEndsAWriteThatNobodyReads) {
  Ends ends;
  const std::string much(64 << 20, 'x');
  ends.near.expires_after(20ms);
  EXPECT_EQ(run(ends.io, ends.near.write(asio::buffer(much))), asio::error::timed_out);
}

TEST(Stream, IsQuietUntilTheOtherSideSpeaksOrCloses) {
  Ends spoken;
  EXPECT_TRUE(spoken.near.quiet());
  EXPECT_FALSE(run(spoken.io, spoken.far.write(asio::buffer("x", 1))));
  EXPECT_TRUE(run(spoken.io, spoken.near.readable()));
  EXPECT_FALSE(spoken.near.quiet());

  Ends closed;
  closed.far.close();
  EXPECT_TRUE(run(closed.io, closed.near.readable()));
  EXPECT_FALSE(closed.near.quiet());
}

TEST(Stream, IsQuietSoFarUntilAnEventTellsOfInput) {
  Ends ends;
  EXPECT_TRUE(ends.near.quiet_so_far());
  EXPECT_FALSE(run(ends.io, ends.far.write(asio::buffer("x", 1))));
  const auto is_told = [&] {
    ends.io.restart();
    ends.io.poll();
    return !ends.near.quiet_so_far();
  };
  EXPECT_TRUE(support::await(is_told));
  EXPECT_FALSE(ends.near.quiet());
}

TEST(Stream, IsNotQuietAfterItsDeadline) {
  Ends ends;
  ends.near.expires_after(10ms);
  EXPECT_FALSE(run(ends.io, ends.near.readable()));
  EXPECT_FALSE(ends.near.quiet());
  EXPECT_FALSE(ends.near.quiet_so_far());
}

// The other side reads nothing, so the write waits.
TEST(Stream, AnInterruptFailsTheOperationUnderWayAtOnce) {
  Ends ends;
  const std::string more_than_fits(32 << 20, 'x');
  ends.near.expires_after(1h);
  asio::post(ends.io, [&] { ends.near.interrupt(); });
  EXPECT_EQ(run(ends.io, ends.near.write(asio::buffer(more_than_fits))), asio::error::timed_out);
  EXPECT_TRUE(ends.near.timed_out());
}

TEST(Stream, TellsSinceWhenTheOtherSideReadsNothing) {
  Ends ends;
  EXPECT_FALSE(ends.near.stalled_since());
  const std::string more_than_fits(32 << 20, 'x');
  bool done = false;
  net::spawn(ends.io.get_executor(),
             support::task_of(ends.near.write(asio::buffer(more_than_fits))),
             [&](std::exception_ptr, error_code) { done = true; });
  ends.io.restart();
  ends.io.poll();
  auto since = ends.near.stalled_since();
  ASSERT_TRUE(since);
  EXPECT_TRUE(support::await([&] {  // the kernel takes some more meanwhile
    const auto before = std::exchange(since, ends.near.stalled_since());
    ends.io.run_for(3 * Deadlines::kTick);
    return before == ends.near.stalled_since();
  }));
  std::string taken(16 << 20, '\0');
  EXPECT_TRUE(run(ends.io, read_all(ends.far, taken)));
  EXPECT_GT(ends.near.stalled_since(), since) << "it has read some";
  ends.near.interrupt();
  ends.io.restart();
  ends.io.poll();
  EXPECT_TRUE(done);
  EXPECT_FALSE(ends.near.stalled_since());
}

// Reads a piece now and then, until it has read `pieces`.
Task<void> read_steadily(Stream& stream, std::size_t pieces, std::size_t& taken) {
  std::string piece(4096, '\0');
  Timer timer(co_await ThisExecutor());
  for (; pieces > 0; --pieces) {
    timer.expires_after(40ms);
    co_await timer.async_wait(as_result);
    const auto n = co_await stream.read_some(asio::buffer(piece));
    if (!n) co_return;
    taken += *n;
  }
}

struct SlowEnds : Ends {
  SlowEnds() {
    support::set_send_buffer(near.descriptor(), 4 << 20);
    support::set_receive_buffer(far.descriptor(), 16 << 10);
  }
};

// The kernel reports room only when much is free, which takes far longer than the deadline here.
TEST(Stream, AReaderThatIsSlowButSteadyKeepsAWriteAlive) {
  SlowEnds ends;
  const std::string much(8 << 20, 'x');
  constexpr auto kPatience = 400ms;
  constexpr std::size_t kPieces = 50;
  ends.near.expires_after(kPatience);
  std::size_t taken = 0;
  std::optional<error_code> written;
  net::spawn(ends.io.get_executor(), support::task_of(ends.near.write(asio::buffer(much))),
             [&](std::exception_ptr, error_code error) { written = error; });
  run(ends.io, read_steadily(ends.far, kPieces, taken));
  EXPECT_FALSE(written) << written->message();
  EXPECT_GT(taken, kPieces * 1000);
  const auto stopped = Deadlines::Clock::now();
  EXPECT_TRUE(support::await([&] {
    ends.io.restart();
    ends.io.run_for(Deadlines::kTick);
    return written.has_value();
  }));
  EXPECT_EQ(written, asio::error::timed_out) << "it has stopped to read";
  EXPECT_GT(Deadlines::Clock::now() - stopped, kPatience / 2);
}

TEST(Stream, KeepsLittleUnsentInTheKernelForASlowReader) {
  SlowEnds ends;
  const std::string much(16 << 20, 'x');
  ends.near.expires_after(20s);
  net::spawn(ends.io.get_executor(), support::task_of(ends.near.write(asio::buffer(much))));
  std::size_t taken = 0;
  run(ends.io, read_steadily(ends.far, 1, taken));
  const auto unsent = [&] {
    int bytes = 0;
    EXPECT_EQ(::ioctl(ends.near.descriptor(), SIOCOUTQNSD, &bytes), 0);
    return bytes;
  };
  EXPECT_GT(unsent(), Stream::kMostUnsent) << "as much as the send buffer has room for";
  ends.io.restart();
  ends.io.run_for(1s + 3 * Deadlines::kTick);
  std::string most(12 << 20, '\0');
  EXPECT_TRUE(run(ends.io, read_all(ends.far, most)));
  ends.io.restart();
  ends.io.poll();
  EXPECT_GT(unsent(), 0);
  EXPECT_LE(unsent(), Stream::kMostUnsent + (64 << 10));
  ends.near.interrupt();
}

TEST(Stream, MayEndBeforeAWriteThatWaits) {
  auto ends = std::make_unique<Ends>();
  const std::string more_than_fits(32 << 20, 'x');
  std::optional pair(support::connected_pair(ends->io));
  std::optional<Stream> stream(std::in_place, std::move(pair->first), ends->deadlines);
  net::spawn(ends->io.get_executor(),
             support::task_of(stream->write(asio::buffer(more_than_fits))));
  ends->io.restart();
  ends->io.poll();
  EXPECT_TRUE(stream->stalled_since());
  stream.reset();
  pair.reset();
  ends.reset();  // and with it the coroutine, under ASan
}

}  // namespace
}  // namespace proxy::net
