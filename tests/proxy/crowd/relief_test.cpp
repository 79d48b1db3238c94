#include "proxy/crowd/relief.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;

// A request that waits for memory, which three times as many bytes fill as may. Time stands until
// the test lets it pass.
struct FullMemory : client::ServeScene {
  FullMemory() {
    net::Wakeup::follow(io, clock);
    transit.set_limit(1000);
    held.emplace(transit, 3000);
    net::spawn(io.get_executor(), ask());
    settle();
  }
  ~FullMemory() { io.end_coroutines(); }

  net::Task<void> ask() {
    const bool room = co_await crowd_of_thread.relief.await_room(io.get_executor());
    has_room = room;
  }
  void pass(std::chrono::milliseconds time) {
    clock.pass(time);
    net::Wakeup::look(io);
    settle();
  }

  std::optional<cache::Charge> held;
  std::optional<bool> has_room;
};

TEST(AwaitRoom, GoesOnSoonAfterEnoughMemoryIsReleased) {
  FullMemory scene;
  scene.transit.release(500);
  scene.pass(4ms);
  EXPECT_FALSE(scene.has_room) << "2500 bytes are still too many";
  scene.transit.release(500);
  scene.pass(4ms);
  EXPECT_EQ(scene.has_room, true);
  scene.transit.charge(1000);
}

TEST(AwaitRoom, IsInVainAfterASecond) {
  FullMemory scene;
  for (auto time = 0ms; time < 1s; time += 4ms) {
    EXPECT_FALSE(scene.has_room);
    scene.pass(4ms);
  }
  EXPECT_EQ(scene.has_room, false);
}

TEST(AwaitRoom, IsNotNeededUnlessMemoryIsFull) {
  FullMemory scene;
  scene.held.reset();
  scene.has_room.reset();
  net::spawn(scene.io.get_executor(), scene.ask());
  scene.settle();
  EXPECT_EQ(scene.has_room, true);
}

}  // namespace
}  // namespace proxy::crowd
