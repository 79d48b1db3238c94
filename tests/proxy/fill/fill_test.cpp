#include "proxy/fill/fill.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/support/run.hpp"

namespace proxy::fill {
namespace {

using support::run;

constexpr upstream::Failure kCut{
    upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};
const std::string kMegabyte(1 << 20, 'm');

struct FillScene {
  machine::Clock clock;
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 30};
  std::shared_ptr<Fill> fill =
      std::make_shared<Fill>("http://a/", FillPlace{io.get_executor(), &clock});

  std::unique_ptr<FillReader> attach() { return FillReader::attach(fill, io.get_executor()); }
  void append(std::string_view text) { append_block(*fill, budget, text); }
  std::string rest(FillReader& reader) { return run(io, rest_of(reader)).value(); }
  // Runs the handlers that are ready, and waits for none.
  void settle() {
    io.restart();
    io.poll();
  }
};

// Runs a task that may have to wait. The result is empty while it waits.
template <class T>
std::shared_ptr<std::optional<T>> start(FillScene& scene, net::Task<T> task) {
  auto result = std::make_shared<std::optional<T>>();
  net::spawn(scene.io.get_executor(), std::move(task),
             [result](std::exception_ptr, T value) { result->emplace(std::move(value)); });
  scene.settle();
  return result;
}

TEST(Fill, AReaderGetsAllThatIsAppendedInOrder) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  const auto got = start(scene, rest_of(*reader));
  const auto growing = block_of(scene.budget, "abcdef");
  for (const std::uint32_t filled : {1U, 4U, 6U}) {
    scene.fill->append(growing, filled);
    scene.settle();
  }
  scene.append("gh");
  scene.fill->finish();
  scene.settle();
  ASSERT_TRUE(*got);
  EXPECT_EQ((*got)->value(), "abcdefgh");
  EXPECT_EQ(scene.fill->received(), 8U);
}

TEST(Fill, AFollowerReadsFromTheBeginning) {
  FillScene scene;
  const auto first = scene.attach();
  scene.fill->publish({});
  scene.append("one ");
  EXPECT_EQ(text_of(first->at_hand()), "one ");
  scene.append("two");
  const auto second = scene.attach();
  scene.fill->finish();
  EXPECT_EQ(scene.rest(*second), "one two");
  EXPECT_EQ(scene.rest(*first), "two");
}

TEST(Fill, HidesWhatIsAppendedUntilItIsPublished) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.append("from one source");
  EXPECT_TRUE(reader->at_hand().empty());
  scene.fill->restart();
  scene.append("from another");
  scene.fill->publish({});
  EXPECT_EQ(text_of(reader->at_hand()), "from another");
}

TEST(Fill, InterimHeadsComeInOrderBeforeTheFinalOne) {
  FillScene scene;
  const auto reader = scene.attach();
  const auto is_nothing = [](const FillReader::News& news) { return !news.interim && !news.head; };
  EXPECT_TRUE(is_nothing(reader->news()));
  scene.fill->interim("102");
  scene.fill->interim("103");
  FillHead final;
  final.length = 5;
  scene.fill->publish(final);
  EXPECT_EQ(reader->news().interim, "102");
  EXPECT_EQ(reader->news().interim, "103");
  EXPECT_EQ(reader->news().head->value()->length, 5U);
  EXPECT_EQ(run(scene.io, reader->head()).value()->length, 5U);
}

TEST(Fill, AFailureBeforeTheHeadReachesAllReaders) {
  FillScene scene;
  const auto one = scene.attach();
  const auto other = scene.attach();
  const auto head = start(scene, one->head());
  scene.fill->fail(kCut);
  scene.settle();
  ASSERT_TRUE(*head);
  EXPECT_EQ((*head)->error().what, upstream::Failure::What::cut);
  EXPECT_EQ(other->news().head->error().what, upstream::Failure::What::cut);
}

TEST(Fill, ACutBodyEndsInAFailureNeverInAnEnd) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.append("half");
  scene.fill->fail(kCut);
  const auto half = run(scene.io, reader->next());
  EXPECT_EQ(text_of(half.value()), "half");
  EXPECT_EQ(run(scene.io, reader->next()).error().what, upstream::Failure::What::cut);
}

TEST(Fill, TakesNoReadersOnceItHasFailedOrDroppedBytesOrWasGivenUp) {
  FillScene failed;
  failed.fill->fail(kCut);
  EXPECT_EQ(failed.attach(), nullptr);
  FillScene passing;
  passing.fill->keep_window();
  EXPECT_EQ(passing.attach(), nullptr);
  FillScene unread;
  EXPECT_TRUE(unread.fill->close_if_unread());
  EXPECT_EQ(unread.attach(), nullptr);
}

TEST(Fill, IsNotGivenUpWhileSomebodyReads) {
  FillScene scene;
  auto reader = scene.attach();
  EXPECT_FALSE(scene.fill->close_if_unread());
  reader.reset();
  EXPECT_NE(reader = scene.attach(), nullptr);
}

TEST(Fill, TellsTheWriterEachTimeTheLastReaderLeaves) {
  FillScene scene;
  int left = 0;
  scene.fill->on_abandoned([&] { ++left; });
  auto one = scene.attach();
  auto other = scene.attach();
  one.reset();
  scene.settle();
  EXPECT_EQ(left, 0);
  other.reset();
  EXPECT_EQ(left, 0) << "on the writer's executor, not where the reader is";
  scene.settle();
  EXPECT_EQ(left, 1);
  scene.attach().reset();
  scene.settle();
  EXPECT_EQ(left, 2);
  scene.fill->finish();
  scene.attach().reset();
  scene.settle();
  EXPECT_EQ(left, 2) << "of no interest any more";
}

TEST(Fill, CallsTheNewestHookEvenForAnEarlierDeparture) {
  FillScene scene;
  int earlier = 0;
  int later = 0;
  scene.fill->on_abandoned([&] { ++earlier; });
  scene.attach().reset();
  scene.fill->on_abandoned([&] { ++later; });
  scene.settle();
  EXPECT_EQ(earlier, 0);
  EXPECT_EQ(later, 1);
}

TEST(Fill, GivesTheWholeBodyToTheStore) {
  FillScene scene;
  scene.append("abc");
  scene.append("de");
  const auto body = scene.fill->body();
  EXPECT_EQ(body.size, 5U);
  ASSERT_EQ(body.slices.size(), 2U);
  EXPECT_EQ(body.slices[1].size, 2U);
}

TEST(FillWindow, DropsBytesThatEveryReaderHas) {
  FillScene scene;
  const auto one = scene.attach();
  const auto other = scene.attach();
  scene.fill->publish({});
  scene.append(kMegabyte);
  scene.append("last");
  scene.fill->keep_window();
  const auto take = [](FillReader& reader) {
    while (!reader.at_hand().empty()) continue;
  };
  take(*one);
  EXPECT_GT(scene.budget.used(), kMegabyte.size());
  take(*other);
  EXPECT_LT(scene.budget.used(), kMegabyte.size());
  scene.append(" words");
  scene.fill->finish();
  EXPECT_EQ(scene.rest(*one), " words");
  EXPECT_EQ(scene.rest(*other), " words");
}

TEST(FillWindow, AReaderThatLeavesReleasesItsUnreadBytes) {
  FillScene scene;
  auto behind = scene.attach();
  const auto ahead = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  scene.append(kMegabyte);
  scene.append("x");
  while (!ahead->at_hand().empty()) continue;
  EXPECT_GT(scene.budget.used(), kMegabyte.size());
  behind.reset();
  EXPECT_LT(scene.budget.used(), kMegabyte.size());
}

TEST(FillWindow, AReaderThatLeavesByItsWriterReleasesItsUnreadBytesAndFails) {
  FillScene scene;
  auto reader = scene.attach();
  int abandoned = 0;
  scene.fill->on_abandoned([&] { ++abandoned; });
  scene.fill->publish({});
  scene.fill->keep_window();
  scene.append("first");
  EXPECT_FALSE(reader->at_hand().empty());
  const auto next = start(scene, reader->next());
  EXPECT_FALSE(*next);
  EXPECT_TRUE(reader->waits_since());
  reader->leave();
  scene.settle();
  ASSERT_TRUE(*next);
  EXPECT_EQ((*next)->error().what, upstream::Failure::What::overload);
  EXPECT_FALSE(reader->waits_since());
  EXPECT_EQ(abandoned, 1);
  reader.reset();
  scene.settle();
  EXPECT_EQ(abandoned, 1);
}

TEST(Fill, AReaderThatLeavesWaitsForNoHead) {
  FillScene scene;
  auto reader = scene.attach();
  const auto head = start(scene, reader->head());
  EXPECT_FALSE(*head);
  reader->leave();
  scene.settle();
  ASSERT_TRUE(*head);
  EXPECT_EQ((*head)->error().what, upstream::Failure::What::overload);
  EXPECT_EQ(reader->news().head->error().what, upstream::Failure::What::overload);
}

TEST(FillWindow, AReaderHoldsTheBytesThatItHasNotTakenAndThoseTakenLast) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  const auto before = scene.budget.used();
  scene.append(kMegabyte);
  EXPECT_EQ(reader->held(scene.budget).bytes, scene.budget.used() - before);
  scene.append("x");
  while (!reader->at_hand().empty()) continue;
  EXPECT_LT(reader->held(scene.budget).bytes, 1000U);
  scene.append(kMegabyte);
  scene.append("y");
  reader->leave();
  EXPECT_EQ(reader->held(scene.budget).bytes, 0U);
  EXPECT_LT(scene.budget.used(), kMegabyte.size());
}

TEST(FillWindow, AReaderHoldsTheBlockThatIsExpected) {
  FillScene scene;
  cache::Budget other{1 << 20};
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  scene.append("abc");
  EXPECT_FALSE(reader->at_hand().empty());
  const auto expected = cache::Block::make(scene.budget, 4096);
  scene.fill->expect(expected);
  EXPECT_EQ(scene.budget.used(), expected->charged()) << "all that was taken is dropped";
  EXPECT_EQ(reader->held(scene.budget).bytes, expected->charged() + 3);
  EXPECT_EQ(reader->held(scene.budget).to_budget, expected->charged() + 3);
  EXPECT_EQ(reader->held(other).to_budget, 0U);
  EXPECT_TRUE(reader->at_hand().empty());
  std::copy_n("de", 2, expected->data());
  scene.fill->append(expected, 2);
  EXPECT_EQ(text_of(reader->at_hand()), "de");
}

// One reader has left the last slice for the block that is expected, the other one is within it.
TEST(FillWindow, AReaderThatCatchesUpFindsItsPlace) {
  FillScene scene;
  const auto ahead = scene.attach();
  const auto behind = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  const auto first = cache::Block::make(scene.budget, 4);
  std::copy_n("abcd", 4, first->data());
  scene.fill->append(first, 2);
  EXPECT_EQ(text_of(behind->at_hand()), "ab");
  scene.fill->append(first, 4);
  EXPECT_EQ(text_of(ahead->at_hand()), "abcd");
  const auto second = cache::Block::make(scene.budget, 4);
  scene.fill->expect(second);
  EXPECT_EQ(text_of(behind->at_hand()), "cd");
  EXPECT_EQ(behind->held(scene.budget).bytes, (second->charged() + 2) / 2) << "shared by two";
  std::copy_n("ef", 2, second->data());
  scene.fill->append(second, 2);
  EXPECT_EQ(text_of(behind->at_hand()), "ef");
  EXPECT_EQ(text_of(ahead->at_hand()), "ef");
}

TEST(Fill, ABlockThatStaysEmptyIsNoPartOfTheBody) {
  FillScene scene;
  scene.fill->publish({});
  scene.append("abc");
  scene.fill->expect(cache::Block::make(scene.budget, 4096));
  scene.fill->finish();
  EXPECT_EQ(scene.fill->body().slices.size(), 1U);
  EXPECT_EQ(scene.fill->body().size, 3U);
}

TEST(FillWindow, ASourceIsSlowUntilItHasFilledABlock) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  const auto block = cache::Block::make(scene.budget, 8);
  std::fill_n(block->data(), 8, 'x');
  scene.fill->expect(block);
  auto next = start(scene, reader->next());
  const auto since = reader->waits_since();
  ASSERT_TRUE(since);
  for (std::uint32_t size = 1; size < 8; ++size) {
    scene.fill->append(block, size);
    scene.settle();
    EXPECT_FALSE(reader->waits_since()) << "it has bytes in hand";
    next = start(scene, reader->next());
    EXPECT_EQ(reader->waits_since(), since) << size;
  }
  scene.fill->append(block, 8);
  scene.settle();
  next = start(scene, reader->next());
  EXPECT_GT(reader->waits_since(), since);
}

TEST(FillWindow, TheWriterWaitsWhileItsOnlyReaderIsAWindowBehind) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  EXPECT_EQ(run(scene.io, scene.fill->room()), Fill::Room::some);
  scene.append(kMegabyte);
  const auto room = start(scene, scene.fill->room());
  EXPECT_FALSE(*room);
  EXPECT_FALSE(reader->at_hand().empty());
  scene.settle();
  EXPECT_EQ(*room, Fill::Room::some);
}

TEST(FillWindow, IsAsLargeAsTheWriterSays) {
  FillScene scene;
  const auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  scene.append("12345678");
  EXPECT_EQ(run(scene.io, scene.fill->room(9)), Fill::Room::some);
  const auto room = start(scene, scene.fill->room(8));
  EXPECT_FALSE(*room);
}

TEST(FillWindow, TheWriterIsToldWhenNobodyReadsAnyMore) {
  FillScene scene;
  auto reader = scene.attach();
  scene.fill->publish({});
  scene.fill->keep_window();
  scene.append(kMegabyte);
  const auto room = start(scene, scene.fill->room());
  EXPECT_FALSE(*room);
  reader.reset();
  scene.settle();
  EXPECT_EQ(*room, Fill::Room::no_reader);
}

}  // namespace
}  // namespace proxy::fill
