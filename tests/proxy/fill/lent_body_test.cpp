// Fill::lend() and the reader that borrows.
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>

#include "proxy/fill/fill.hpp"
#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/support/run.hpp"

namespace proxy {
namespace {

using support::run;

class NoBody final : public LentBody {
 public:
  net::Task<Outcome<std::size_t>> next(net::Pipe& /*into*/) override { co_return std::size_t{0}; }
};

struct LendingScene {
  boost::asio::io_context io{1};
  cache::Budget budget{1 << 30};
  std::shared_ptr<Fill> fill = std::make_shared<Fill>("http://a/", io.get_executor());
  std::unique_ptr<FillReader> reader = FillReader::attach(fill, io.get_executor());
  NoBody body;
  bool back = false;  // the writer has the body again

  LendingScene() {
    fill->publish({});
    append_block(*fill, budget, "first ");
  }
  void lend() {
    boost::asio::co_spawn(io, fill->lend(body), [this](std::exception_ptr) { back = true; });
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
  scene.reader->borrows(true);
  scene.lend();
  EXPECT_FALSE(scene.back);
  EXPECT_EQ(text_of(run(scene.io, scene.reader->next()).value()), "first ");
  EXPECT_TRUE(run(scene.io, scene.reader->next()).value().empty());
  ASSERT_TRUE(scene.reader->is_lent());
  EXPECT_EQ(&scene.reader->borrow()->body(), &scene.body);
  scene.settle();
  EXPECT_TRUE(scene.back);
  EXPECT_FALSE(scene.reader->is_lent());
}

TEST(LentBody, CountsAsReceived) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(true);
  scene.lend();
  scene.reader->borrow()->note(100);
  EXPECT_EQ(scene.fill->received(), 106U);
  append_block(*scene.fill, scene.budget, "last");
  EXPECT_EQ(scene.fill->received(), 110U);
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
  scene.reader->borrows(true);
  scene.lend();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, IsNotLentWhileFurtherReadersMayCome) {
  LendingScene scene;
  scene.reader->borrows(true);
  scene.lend();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, IsNotLentToAnotherThread) {
  LendingScene scene;
  boost::asio::io_context other;
  scene.reader = FillReader::attach(scene.fill, other.get_executor());
  scene.fill->keep_window();
  scene.reader->borrows(true);
  scene.lend();
  EXPECT_TRUE(scene.back);
  scene.reader.reset();  // before its thread
}

TEST(LentBody, ComesBackIfTheReaderLeavesBeforeItBorrows) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(true);
  scene.lend();
  scene.reader->leave();
  scene.settle();
  EXPECT_TRUE(scene.back);
}

TEST(LentBody, StaysWithAReaderThatLeavesUntilItIsDone) {
  LendingScene scene;
  scene.fill->keep_window();
  scene.reader->borrows(true);
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
}  // namespace proxy
