#include <gtest/gtest.h>

#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/support/run.hpp"

namespace proxy::fill {
namespace {

using namespace std::chrono_literals;

// Two readers of a fill that keeps a window. One has read all, and the other nothing.
struct HeldUp {
  HeldUp() {
    fill->publish({});
    fill->keep_window();
    append_block(*fill, budget, std::string(Fill::kWindow, 'm'));
    append_block(*fill, budget, "x");
    while (!ahead->at_hand().empty()) continue;
  }
  // Whether the writer has room after this time, which is longer than a reader may hold up others.
  std::optional<Fill::Room> room_after(std::chrono::milliseconds time) {
    net::spawn(io.get_executor(), fill->room(),
               [this](const std::exception_ptr&, Fill::Room found) { room = found; });
    io.run_for(time);
    return room;
  }

  machine::Clock clock;
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 30};
  std::shared_ptr<Fill> fill =
      std::make_shared<Fill>("http://a/", FillPlace{io.get_executor(), &clock});
  std::unique_ptr<FillReader> behind = FillReader::attach(fill, io.get_executor());
  std::unique_ptr<FillReader> ahead = FillReader::attach(fill, io.get_executor());
  std::optional<Fill::Room> room;
};

TEST(HeldBackReader, IsNotDetachedForHoldingUpOthers) {
  HeldUp scene;
  scene.behind->held_back(FillReader::HeldBack::yes);
  EXPECT_EQ(scene.room_after(5'500ms), std::nullopt);
  while (!scene.behind->at_hand().empty()) continue;
  scene.io.restart();
  scene.io.run_for(10ms);
  EXPECT_EQ(scene.room, Fill::Room::some);
}

TEST(HeldBackReader, IsLikeOthersOnceNoLimitHoldsItBack) {
  HeldUp scene;
  scene.behind->held_back(FillReader::HeldBack::yes);
  scene.behind->held_back(FillReader::HeldBack::no);
  EXPECT_EQ(scene.room_after(5'500ms), Fill::Room::some) << "the reader was detached";
}

}  // namespace
}  // namespace proxy::fill
