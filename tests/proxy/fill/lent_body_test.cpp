// Fill::lend() and the reader that borrows.
#include <gtest/gtest.h>

#include "proxy/fill/fill.hpp"
#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/support/run.hpp"

namespace proxy::fill {
namespace {

using support::run;

// Tells of `moved` bytes, without moving any, once `come` is set.
class ToldBody final : public LentBody {
 public:
  net::Task<upstream::Outcome<std::size_t>> next(net::Pipe& /*into*/) override {
    while (!come) co_await net::asio::post(co_await net::ThisExecutor(), net::use_task);
    co_return moved;
  }
  bool come = true;
  std::size_t moved = 0;
};

struct LendingScene {
  machine::Clock clock;
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 30};
  std::shared_ptr<Fill> fill =
      std::make_shared<Fill>("http://a/", FillPlace{io.get_executor(), &clock});
  std::unique_ptr<FillReader> reader = FillReader::attach(fill, io.get_executor());
  ToldBody body;
  std::unique_ptr<net::Pipe> pipe = net::Pipe::make();
  bool back = false;  // the writer has the body again

  LendingScene() {
    fill->publish({});
    append_block(*fill, budget, "first ");
  }
  void lend() {
    net::spawn(io.get_executor(), fill->lend(body), [this](std::exception_ptr) { back = true; });
    settle();
  }
  void settle() {
    io.restart();
    io.poll();
  }
};

TEST(LentBody, FollowsWhatTheReaderHasYetToTake) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  EXPECT_FALSE(scene.back);
  EXPECT_EQ(text_of(run(scene.io, scene.reader->next()).value()), "first ");
  EXPECT_TRUE(run(scene.io, scene.reader->next()).value().empty());
  ASSERT_TRUE(scene.reader->is_lent());
  EXPECT_TRUE(scene.reader->borrow());
  scene.settle();
  EXPECT_TRUE(scene.back);
  EXPECT_FALSE(scene.reader->is_lent());
}

TEST(LentBody, CountsAsReceived) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  scene.body.moved = 100;
  EXPECT_EQ(run(scene.io, scene.reader->borrow()->next(*scene.pipe)).value(), 100U);
  EXPECT_EQ(scene.fill->received(), 106U);
  append_block(*scene.fill, scene.budget, "last");
  EXPECT_EQ(scene.fill->received(), 110U);
}

TEST(LentBody, ShowsThatItsReaderWaitsForTheSource) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  const auto borrowed = scene.reader->borrow();
  scene.body.moved = 1;
  EXPECT_FALSE(scene.reader->waits_since());
  for (int byte = 0; byte < 2; ++byte) {
    scene.body.come = false;
    net::spawn(scene.io.get_executor(), borrowed->next(*scene.pipe));
    scene.io.restart();
    scene.io.run_one();
    const auto since = scene.reader->waits_since();
    EXPECT_TRUE(since) << byte;
    scene.body.come = true;
    scene.settle();
    EXPECT_FALSE(scene.reader->waits_since());
  }
}

TEST(LentBody, ASourceThatWasSlowBeforeIsSlowUntilItHasSentMuch) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  EXPECT_EQ(text_of(run(scene.io, scene.reader->next()).value()), "first ");
  net::spawn(scene.io.get_executor(), scene.reader->next());
  scene.settle();
  const auto since = scene.reader->waits_since();
  ASSERT_TRUE(since);
  scene.lend();
  const auto borrowed = scene.reader->borrow();
  scene.body.moved = 1;
  EXPECT_EQ(run(scene.io, borrowed->next(*scene.pipe)).value(), 1U);
  scene.body.come = false;
  net::spawn(scene.io.get_executor(), borrowed->next(*scene.pipe));
  scene.io.restart();
  scene.io.run_one();
  EXPECT_EQ(scene.reader->waits_since(), since);
  scene.body.come = true;
  scene.settle();
}

TEST(LentBody, IsLentOnlyToAReaderThatBorrows) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.lend();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, IsNotLentToOneOfSeveralReaders) {
  LendingScene scene;
  const auto second = FillReader::attach(scene.fill, scene.io.get_executor());
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, IsNotLentWhileFurtherReadersMayCome) {
  LendingScene scene;
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, IsNotLentToAnotherThread) {
  LendingScene scene;
  boost::asio::io_context other;
  scene.reader = FillReader::attach(scene.fill, other.get_executor());
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  EXPECT_TRUE(scene.back);
  scene.reader.reset();  // before its thread
}

TEST(LentBody, ComesBackIfTheReaderLeavesBeforeItBorrows) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  scene.reader->leave();
  scene.settle();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, StaysWithAReaderThatLeavesUntilItIsDone) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(FillReader::Borrows::yes);
  scene.lend();
  auto borrowed = scene.reader->borrow();
  scene.reader->leave();
  scene.settle();
  EXPECT_FALSE(scene.back);
  borrowed.reset();
  scene.settle();
  EXPECT_TRUE(scene.back);
}

}  // namespace
}  // namespace proxy::fill
