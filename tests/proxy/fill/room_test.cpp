#include "proxy/fill/room.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "tests/support/run.hpp"

namespace proxy {
namespace {

using For = Room::For;
using namespace std::chrono_literals;
using support::run;

struct Queueing {
  explicit Queueing(std::size_t places) : room(places) {}

  // What it gets lies there, in the order of asking; empty while it waits.
  std::size_t come(For what, std::chrono::milliseconds at_most = Room::kPatience) {
    got.emplace_back();
    const auto number = got.size() - 1;
    net::asio::co_spawn(io, wait(what, at_most, number), net::asio::detached);
    look();
    return number;
  }
  net::Task<void> wait(For what, std::chrono::milliseconds at_most, std::size_t number) {
    got[number] = co_await room.take(what, io.get_executor(), at_most);
  }
  bool has(std::size_t number) {
    look();
    return got[number] && *got[number];
  }
  void look() {
    io.restart();
    io.poll();
  }

  Room room;
  std::vector<std::optional<Room::Place>> got;
  net::asio::io_context io{1};
};

TEST(Room, HasSoManyPlacesAndNoMore) {
  Room room(4);
  std::vector<Room::Place> places;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(places.emplace_back(room.try_take(For::held)));
  EXPECT_FALSE(room.try_take(For::held));
  places.pop_back();
  EXPECT_TRUE(room.try_take(For::held));
  EXPECT_EQ(Room::places_in(std::uint64_t{28} << 20), 10U);
  EXPECT_TRUE(Room(0).try_take(For::fetched)) << "one, or nothing would ever be sent";
}

TEST(Room, IsGivenInTheOrderOfAsking) {
  Queueing queue(1);
  auto first = queue.room.try_take(For::held);
  const auto second = queue.come(For::held);
  const auto third = queue.come(For::fetched);
  const auto fourth = queue.come(For::held);
  EXPECT_FALSE(queue.has(second));
  first.release();
  EXPECT_TRUE(queue.has(second));
  EXPECT_FALSE(queue.has(third) || queue.has(fourth));
  EXPECT_FALSE(queue.room.try_take(For::held)) << "others came before";
  queue.got[second]->release();
  EXPECT_TRUE(queue.has(third));
  EXPECT_FALSE(queue.has(fourth));
}

TEST(Room, KeepsAPlaceForWhatIsHeld) {
  Queueing queue(4);
  std::vector<Room::Place> places;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(places.emplace_back(queue.room.try_take(For::fetched)));
  const auto fetched = queue.come(For::fetched);
  EXPECT_FALSE(queue.has(fetched));
  auto held = queue.room.try_take(For::held);
  EXPECT_TRUE(held) << "though another waits for a place of the other kind";
  EXPECT_TRUE(held.serves(For::held) && !held.serves(For::fetched));
  held.release();
  EXPECT_FALSE(queue.has(fetched));
  places.pop_back();
  EXPECT_TRUE(queue.has(fetched));
  EXPECT_TRUE(queue.got[fetched]->serves(For::held));
}

TEST(Room, IsWaitedForNoLongerThanTold) {
  Queueing queue(1);
  auto place = queue.room.try_take(For::held);
  const auto none = run(queue.io, queue.room.take(For::held, queue.io.get_executor(), 1ms));
  EXPECT_FALSE(none);
  place.release();
  EXPECT_TRUE(queue.room.try_take(For::held)) << "nobody waits any more";
}

TEST(Room, TurnsOfWhoLeavesGoToOthers) {
  Room room(1);
  auto place = room.try_take(For::held);
  auto left = std::make_unique<Queueing>(1);
  const auto take = [&](net::asio::io_context& io) {
    return room.take(For::held, io.get_executor());
  };
  net::asio::co_spawn(left->io, take(left->io), net::asio::detached);
  left->look();
  auto leaving_with_its_turn = std::make_unique<Queueing>(1);
  net::asio::co_spawn(leaving_with_its_turn->io, take(leaving_with_its_turn->io),
                      net::asio::detached);
  leaving_with_its_turn->look();
  left.reset();
  place.release();  // the other one has it now, and does not know yet
  EXPECT_FALSE(room.try_take(For::held));
  leaving_with_its_turn.reset();
  EXPECT_TRUE(room.try_take(For::held));
}

TEST(Room, IsSpareWhileThereIsPlenty) {
  Queueing queue(4);
  auto first = queue.room.spare();
  auto second = queue.room.spare();
  auto third = queue.room.spare();
  EXPECT_TRUE(first && second && third);
  EXPECT_FALSE(queue.room.spare()) << "the last one is for who waits";
  EXPECT_TRUE(queue.room.try_take(For::held));
  EXPECT_TRUE(Room(1).spare());
}

TEST(Room, IsWantedByAsManyAsWait) {
  Queueing queue(3);
  std::vector<Room::Place> places;
  for (int i = 0; i < 3; ++i) places.push_back(queue.room.try_take(For::held));
  EXPECT_FALSE(places[0].is_wanted());
  const auto waiting = queue.come(For::held);
  EXPECT_TRUE(places[0].is_wanted());
  EXPECT_FALSE(places[1].is_wanted()) << "one is enough";
  EXPECT_TRUE(places[0].is_wanted());
  places[0].release();
  EXPECT_TRUE(queue.has(waiting));
  EXPECT_FALSE(places[1].is_wanted());
  queue.come(For::held);
  EXPECT_TRUE(places[1].is_wanted());
}

}  // namespace
}  // namespace proxy
