// Stream::send_file().
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "proxy/net/stream.hpp"
#include "tests/proxy/net/long_text.hpp"
#include "tests/support/await.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::net {
namespace {

using support::run;

// A file in memory.
class TestFile {
 public:
  explicit TestFile(const std::string& bytes) : descriptor_(::memfd_create("test", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(descriptor_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  ~TestFile() { ::close(descriptor_); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  FilePart part(std::uint64_t offset, std::uint64_t size) const {
    return {descriptor_, offset, size};
  }

 private:
  int descriptor_;
};

struct Connected : support::Loop {
  std::pair<Socket, Socket> pair = support::connected_pair(io);
  Stream near{std::move(pair.first), deadlines};
  Stream far{std::move(pair.second), deadlines};
};

Task<error_code> send_all(Stream& stream, FilePart part) {
  const std::array head{asio::buffer("head ", 5)};
  auto error = co_await stream.write(head, More::yes);
  while (!error && part.size > 0) {
    const auto sent = co_await stream.send_file(part);
    if (!sent) co_return sent.error();
    part.skip(*sent);
  }
  stream.shutdown_send();
  co_return error;
}

TEST(SendFile, SendsTheBytesInOrderOverASlowReader) {
  Connected both;
  support::set_send_buffer(both.near.descriptor(), 65536);
  const auto bytes = numbers(3'000'000);
  const TestFile file(bytes);
  net::spawn(both.io.get_executor(), send_all(both.near, file.part(1001, 2'500'000)),
             [](std::exception_ptr, error_code error) { EXPECT_FALSE(error); });
  EXPECT_TRUE(run(both.io, all_of(both.far)) == "head " + bytes.substr(1001, 2'500'000));
}

TEST(SendFile, TellsThatTheFileHasEnded) {
  Connected both;
  const TestFile file("0123456789");
  EXPECT_EQ(run(both.io, both.near.send_file(file.part(4, 100))).value(), 6U);
  EXPECT_EQ(run(both.io, both.near.send_file(file.part(10, 1))).value(), 0U);
}

TEST(SendFile, FailsAtTheDeadlineAndWhenInterrupted) {
  Connected both;
  const TestFile file(numbers(8'000'000));
  const auto until_error = [&]() -> Task<error_code> {
    for (;;) {
      const auto some = co_await both.near.send_file(file.part(0, 8'000'000));
      if (!some) co_return some.error();
    }
  };
  both.near.expires_after(std::chrono::milliseconds(100));
  EXPECT_EQ(run(both.io, until_error()), asio::error::timed_out);
  both.near.expires_never();
  asio::post(both.io, [&] { both.near.interrupt(); });
  EXPECT_EQ(run(both.io, until_error()), asio::error::timed_out);
}

}  // namespace
}  // namespace proxy::net
