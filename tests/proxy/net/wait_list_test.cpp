#include "proxy/net/wait_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy::net {
namespace {

using Waiting = WaitList::Waiting;

// Coroutines that wait twice, and add their names to a text each time when they are woken.
class Line {
 public:
  Line() { Wakeup::prepare(io_); }
  ~Line() { io_.shutdown_now(); }

  void add(char name) {
    spawn(io_.get_executor(), wait_twice(name));
    settle();
  }
  std::string wake_one() {
    list_.wake_one();
    return settle();
  }
  std::string wake_all() {
    list_.wake_all();
    return settle();
  }
  std::size_t next_place() {
    Wakeup wakeup(io_.get_executor());
    return Waiting(list_, wakeup).place();
  }

 private:
  struct Io : asio::io_context {
    void shutdown_now() { shutdown(); }
  };

  Task<void> wait_twice(char name) {
    Wakeup wakeup(io_.get_executor());
    const Waiting waiting(list_, wakeup);
    for (int times = 0; times < 2; ++times) {
      co_await wakeup.wait();
      woken_ += name;
    }
  }
  std::string settle() {
    io_.restart();
    io_.poll();
    return std::exchange(woken_, {});
  }

  Io io_;
  WaitList list_;
  std::string woken_;
};

TEST(WaitList, WakesInTurnOneForEachCall) {
  Line line;
  for (const char name : {'A', 'B'}) line.add(name);
  for (const auto* const woken : {"A", "B", "A", "B", ""}) EXPECT_EQ(line.wake_one(), woken);
  EXPECT_EQ(line.next_place(), 1U) << "the others have left";
}

TEST(WaitList, WakesAllAtOnce) {
  Line line;
  for (const char name : {'A', 'B', 'C'}) line.add(name);
  EXPECT_EQ(line.wake_all(), "ABC");
  EXPECT_EQ(line.next_place(), 4U);
}

}  // namespace
}  // namespace proxy::net
