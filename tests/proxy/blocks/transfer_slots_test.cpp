#include "proxy/blocks/transfer_slots.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "proxy/crowd/client_table.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/run.hpp"

namespace proxy::blocks {
namespace {

using For = TransferSlots::For;
using namespace std::chrono_literals;
using support::run;

struct Queueing {
  explicit Queueing(std::size_t count) : slots(count) {}

  // Starts to wait for a slot. The slot appears in `got` at the returned index, which is empty
  // before.
  std::size_t come(For what, std::chrono::milliseconds at_most = TransferSlots::kPatience,
                   const crowd::ClientShare* client = nullptr) {
    got.emplace_back();
    const auto number = got.size() - 1;
    net::spawn(io.get_executor(), wait(what, at_most, client, number));
    look();
    return number;
  }
  net::Task<void> wait(For what, std::chrono::milliseconds at_most,
                       const crowd::ClientShare* client, std::size_t number) {
    got[number] = co_await slots.take(what, io.get_executor(), at_most, client);
  }
  bool has(std::size_t number) {
    look();
    return got[number] && *got[number];
  }
  void look() {
    io.restart();
    io.poll();
  }

  TransferSlots slots;
  std::vector<std::optional<TransferSlots::Slot>> got;
  net::asio::io_context io{1};
};

TEST(TransferSlots, AreBounded) {
  TransferSlots slots(4);
  std::vector<TransferSlots::Slot> taken;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(taken.emplace_back(slots.try_take(For::stored)));
  EXPECT_FALSE(slots.try_take(For::stored));
  taken.pop_back();
  EXPECT_TRUE(slots.try_take(For::stored));
  EXPECT_EQ(TransferSlots::slots_in(std::uint64_t{28} << 20), 10U);
  EXPECT_TRUE(TransferSlots(0).try_take(For::fetched)) << "one, or nothing would ever be sent";
}

TEST(TransferSlots, AreGivenInTheOrderOfAsking) {
  Queueing queue(1);
  auto first = queue.slots.try_take(For::stored);
  const auto second = queue.come(For::stored);
  const auto third = queue.come(For::fetched);
  const auto fourth = queue.come(For::stored);
  EXPECT_FALSE(queue.has(second));
  first.release();
  EXPECT_TRUE(queue.has(second));
  EXPECT_FALSE(queue.has(third) || queue.has(fourth));
  EXPECT_FALSE(queue.slots.try_take(For::stored)) << "others came before";
  queue.got[second]->release();
  EXPECT_TRUE(queue.has(third));
  EXPECT_FALSE(queue.has(fourth));
}

TEST(TransferSlots, KeepOneForStoredBlocks) {
  Queueing queue(4);
  std::vector<TransferSlots::Slot> taken;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(taken.emplace_back(queue.slots.try_take(For::fetched)));
  const auto fetched = queue.come(For::fetched);
  EXPECT_FALSE(queue.has(fetched));
  auto held = queue.slots.try_take(For::stored);
  EXPECT_TRUE(held) << "though another waits for a slot of the other kind";
  EXPECT_TRUE(held.serves(For::stored) && !held.serves(For::fetched));
  held.release();
  EXPECT_FALSE(queue.has(fetched));
  taken.pop_back();
  EXPECT_TRUE(queue.has(fetched));
  EXPECT_TRUE(queue.got[fetched]->serves(For::stored));
}

TEST(TransferSlots, AreAwaitedNoLongerThanTheLimit) {
  Queueing queue(1);
  auto slot = queue.slots.try_take(For::stored);
  const auto none = run(queue.io, queue.slots.take(For::stored, queue.io.get_executor(), 1ms));
  EXPECT_FALSE(none);
  slot.release();
  EXPECT_TRUE(queue.slots.try_take(For::stored)) << "nobody waits any more";
}

TEST(TransferSlots, OfAWaiterThatLeavesGoToOthers) {
  TransferSlots slots(1);
  auto slot = slots.try_take(For::stored);
  auto left = std::make_unique<Queueing>(1);
  const auto take = [&](net::asio::io_context& io) {
    return slots.take(For::stored, io.get_executor());
  };
  net::spawn(left->io.get_executor(), take(left->io));
  left->look();
  auto leaving_with_its_turn = std::make_unique<Queueing>(1);
  net::spawn(leaving_with_its_turn->io.get_executor(), take(leaving_with_its_turn->io));
  leaving_with_its_turn->look();
  left.reset();
  slot.release();  // the other waiter has it now, but was not resumed yet
  EXPECT_FALSE(slots.try_take(For::stored));
  leaving_with_its_turn.reset();
  EXPECT_TRUE(slots.try_take(For::stored));
}

TEST(TransferSlots, AreSpareWhileThereIsPlenty) {
  Queueing queue(4);
  auto first = queue.slots.spare();
  auto second = queue.slots.spare();
  auto third = queue.slots.spare();
  EXPECT_TRUE(first && second && third);
  EXPECT_FALSE(queue.slots.spare()) << "the last one is for who waits";
  EXPECT_TRUE(queue.slots.try_take(For::stored));
  EXPECT_TRUE(TransferSlots(1).spare());
}

TEST(TransferSlots, AreWantedByAsManyAsWait) {
  Queueing queue(3);
  std::vector<TransferSlots::Slot> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(queue.slots.try_take(For::stored));
  EXPECT_FALSE(taken[0].is_wanted());
  const auto waiting = queue.come(For::stored);
  EXPECT_TRUE(taken[0].is_wanted());
  EXPECT_FALSE(taken[1].is_wanted()) << "one is enough";
  EXPECT_TRUE(taken[0].is_wanted());
  taken[0].release();
  EXPECT_TRUE(queue.has(waiting));
  EXPECT_FALSE(taken[1].is_wanted());
  queue.come(For::stored);
  EXPECT_TRUE(taken[1].is_wanted());
}

// Four slots, and two clients.
struct TwoReaders : Queueing {
  TwoReaders() : Queueing(4) {}

  // Gives the greedy client so many slots of stored blocks.
  void take(int count) {
    for (int i = 0; i < count; ++i) taken.push_back(slots.try_take(For::stored, &greedy));
  }
  std::size_t come_for(const crowd::ClientShare& client) {
    return come(For::stored, TransferSlots::kPatience, &client);
  }

  const crowd::ClientShare greedy;
  const crowd::ClientShare other;
  std::vector<TransferSlots::Slot> taken;
};

TEST(TransferSlots, OfOneClientAreThreeQuartersAtMost) {
  TwoReaders queue;
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(queue.taken.emplace_back(queue.slots.try_take(For::stored, &queue.greedy)));
  EXPECT_FALSE(queue.slots.try_take(For::stored, &queue.greedy));
  EXPECT_FALSE(queue.slots.spare(&queue.greedy));
  EXPECT_TRUE(queue.slots.try_take(For::stored, &queue.other));
}

TEST(TransferSlots, AreGivenPastTheWaitersOfAClientThatHasItsShare) {
  TwoReaders queue;
  queue.take(3);
  const auto greedy_one = queue.come_for(queue.greedy);
  const auto others = queue.come_for(queue.other);
  EXPECT_TRUE(queue.has(others));
  EXPECT_FALSE(queue.has(greedy_one));
  queue.got[others]->release();
  EXPECT_FALSE(queue.has(greedy_one));
  queue.taken.pop_back();
  EXPECT_TRUE(queue.has(greedy_one));
}

TEST(TransferSlots, AreGivenFirstToTheClientThatHasFewest) {
  TwoReaders queue;
  queue.take(2);
  for (int i = 0; i < 2; ++i) queue.taken.push_back(queue.slots.try_take(For::stored, nullptr));
  const auto sooner = queue.come_for(queue.greedy);
  const auto later = queue.come_for(queue.other);
  queue.taken.pop_back();
  EXPECT_TRUE(queue.has(later));
  EXPECT_FALSE(queue.has(sooner));
  queue.taken.pop_back();
  EXPECT_TRUE(queue.has(sooner));
}

TEST(TransferSlots, OfOthersAreNotWantedByAClientThatHasItsShare) {
  TwoReaders queue;
  queue.take(3);
  auto others = queue.slots.try_take(For::stored, &queue.other);
  queue.come_for(queue.greedy);
  EXPECT_FALSE(others.is_wanted());
  EXPECT_TRUE(queue.taken[0].is_wanted());
}

TEST(TransferSlots, AreGivenToOthersWithoutASearchOfAGreedyClientsWaiters) {
  TwoReaders queue;
  queue.take(3);
  queue.got.reserve(20'000);
  for (int i = 0; i < 20'000; ++i) queue.come_for(queue.greedy);
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(queue.slots.try_take(For::stored, &queue.other))
        << "they do not wait for this slot";
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, support::allowed(500ms));
}

}  // namespace
}  // namespace proxy::blocks
