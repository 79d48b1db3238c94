// A fill written on one thread and read on others, and fills entered by many.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <boost/asio/executor_work_guard.hpp>
#include <future>
#include <thread>
#include <vector>

#include "proxy/fill/fills.hpp"

namespace proxy::fill {
namespace {

namespace asio = net::asio;

constexpr std::uint32_t kBlock = 64 * 1024;
constexpr std::uint64_t kBody = 96 * kBlock;  // 6 MiB: several windows

char byte_at(std::uint64_t position) {
  return static_cast<char>((position * 31) >> 7);
}

class Thread {
 public:
  template <class T>
  std::future<T> start(net::Task<T> task) {
    auto promise = std::make_shared<std::promise<T>>();
    auto result = promise->get_future();
    net::spawn(io_.get_executor(), std::move(task),
               [promise](std::exception_ptr, T value) { promise->set_value(std::move(value)); });
    return result;
  }
  net::Executor executor() { return io_.get_executor(); }
  std::thread::id id() const { return thread_.get_id(); }
  // Returns when nothing is left to do.
  void join() {
    work_.reset();
    thread_.join();
  }

 private:
  asio::io_context io_{1};
  asio::executor_work_guard<net::Executor> work_{io_.get_executor()};
  std::jthread thread_{[this] { io_.run(); }};
};

struct Scene {
  cache::Budget budget{1 << 30};
  Thread writer;
  Thread one;
  Thread other;
  machine::Clock clock;  // by which a slow reader is found
  std::shared_ptr<Fill> fill =
      std::make_shared<Fill>("http://a/", FillPlace{writer.executor(), &clock});

  ~Scene() {
    for (auto* thread : {&one, &other, &writer}) thread->join();
  }
};

enum class Mode { storing, window };

// Writes each block in four steps, as bytes arrive. False: no reader wanted the rest.
net::Task<bool> write(Scene& scene, Mode mode) {
  auto& fill = *scene.fill;
  fill.publish({});
  if (mode == Mode::window) fill.keep_window();
  for (std::uint64_t at = 0; at < kBody; at += kBlock) {
    const auto block = cache::Block::make(scene.budget, kBlock);
    for (std::uint32_t done = 0; done < kBlock; done += kBlock / 4) {
      for (auto i = done; i < done + kBlock / 4; ++i) block->data()[i] = byte_at(at + i);
      fill.append(block, done + kBlock / 4);
      const bool wanted = co_await fill.room() == Fill::Room::some;
      if (!wanted) {
        fill.fail({upstream::Failure::Where::us, upstream::Failure::What::abandoned, {}});
        co_return false;
      }
    }
    co_await asio::post(scene.writer.executor(), net::use_task);
  }
  fill.finish();
  co_return true;
}

// Returns how many right bytes arrived before the end, or before the reader had enough.
net::Task<upstream::Outcome<std::uint64_t>> read(std::unique_ptr<FillReader> reader,
                                                 std::uint64_t enough = kBody + 1) {
  std::uint64_t position = 0;
  const auto head = co_await reader->head();
  if (!head) co_return head.error();
  while (position < enough) {
    const auto pieces = co_await reader->next();
    if (!pieces) co_return pieces.error();
    if (pieces->empty()) break;
    for (const auto& piece : *pieces) {
      for (std::uint32_t i = 0; i < piece.size; ++i, ++position) {
        if (piece.block->data()[piece.offset + i] != byte_at(position)) co_return position;
      }
    }
  }
  co_return position;
}

std::future<upstream::Outcome<std::uint64_t>> start_reading(Scene& scene, Thread& thread,
                                                            std::uint64_t enough = kBody + 1) {
  return thread.start(read(FillReader::attach(scene.fill, thread.executor()), enough));
}

class FillModes : public testing::TestWithParam<Mode> {};

TEST_P(FillModes, EveryReaderGetsEveryByte) {
  Scene scene;
  std::vector<std::future<upstream::Outcome<std::uint64_t>>> read;
  for (int i = 0; i < 2; ++i) {
    read.push_back(start_reading(scene, scene.one));
    read.push_back(start_reading(scene, scene.other));
  }
  auto written = scene.writer.start(write(scene, GetParam()));
  for (auto& reader : read) EXPECT_EQ(reader.get().value(), kBody);
  EXPECT_TRUE(written.get());
}

TEST_P(FillModes, AReaderThatLeavesEarlyTakesNothingFromTheOthers) {
  Scene scene;
  auto first = start_reading(scene, scene.one, 1);
  auto all = start_reading(scene, scene.other);
  auto half = start_reading(scene, scene.one, kBody / 2);
  auto written = scene.writer.start(write(scene, GetParam()));
  EXPECT_EQ(all.get().value(), kBody);
  EXPECT_LT(first.get().value(), kBody);
  EXPECT_GE(half.get().value(), kBody / 2);
  EXPECT_TRUE(written.get());
}

INSTANTIATE_TEST_SUITE_P(Threads, FillModes, testing::Values(Mode::storing, Mode::window),
                         [](const auto& mode) {
                           return mode.param == Mode::storing ? "Storing" : "Window";
                         });

TEST(FillThreads, AReaderThatArrivesLateGetsAllBytes) {
  Scene scene;
  const auto first = FillReader::attach(scene.fill, scene.one.executor());
  auto written = scene.writer.start(write(scene, Mode::storing));
  for (int i = 0; i < 8; ++i) {
    auto& thread = i % 2 == 0 ? scene.one : scene.other;
    EXPECT_EQ(start_reading(scene, thread).get().value(), kBody);
  }
  EXPECT_TRUE(written.get());
}

TEST(FillThreads, TheWriterIsToldOnItsThreadThatAllHaveLeftAndStops) {
  Scene scene;
  std::promise<std::thread::id> told;
  scene.fill->on_abandoned([&] { told.set_value(std::this_thread::get_id()); });
  auto one = start_reading(scene, scene.one, kBody / 3);
  auto other = start_reading(scene, scene.other, kBody / 2);
  auto written = scene.writer.start(write(scene, Mode::window));
  EXPECT_GE(one.get().value(), kBody / 3);
  EXPECT_GE(other.get().value(), kBody / 2);
  EXPECT_FALSE(written.get());
  EXPECT_EQ(told.get_future().get(), scene.writer.id());
}

// Takes five seconds, because a slow reader may hold up the others for so long.
TEST(FillThreads, ASlowReaderIsDetachedForTheOthersSake) {
  Scene scene;
  auto slow = FillReader::attach(scene.fill, scene.one.executor());
  auto quick = start_reading(scene, scene.other);
  auto written = scene.writer.start(write(scene, Mode::window));
  EXPECT_EQ(quick.get().value(), kBody);
  EXPECT_TRUE(written.get());
  const auto cut = scene.one.start(read(std::move(slow))).get();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().what, upstream::Failure::What::overload);
}

// Runs each function on a thread of its own, all at once.
template <class... Acts>
void at_once(Acts... acts) {
  std::barrier start(sizeof...(acts));
  std::vector<std::jthread> threads;
  (threads.emplace_back([&start, act = std::move(acts)] {
    start.arrive_and_wait();
    act();
  }),
   ...);
}

TEST(FillThreads, EitherAReaderJoinsOrTheFillIsGivenUp) {
  asio::io_context io(1);
  for (int i = 0; i < 300; ++i) {
    const auto fill = std::make_shared<Fill>("http://a/", io.get_executor());
    std::unique_ptr<FillReader> reader;
    bool closed = false;
    at_once([&] { reader = FillReader::attach(fill, io.get_executor()); },
            [&] { closed = fill->close_if_unread(); });
    ASSERT_NE(closed, reader != nullptr);
  }
}

digest::Key key_of(int number) {
  return digest::key_of(digest::Method::get, std::to_string(number));
}

TEST(FillsThreads, EachKeyHasOneFirstAtATime) {
  constexpr int kKeys = 8;
  asio::io_context io(1);
  Fills fills;
  std::array<std::atomic<int>, kKeys> firsts{};
  std::atomic<int> wrong{0};
  const auto enter_and_leave = [&] {
    for (int i = 0; i < 4000; ++i) {
      const auto key = key_of(i % kKeys);
      auto& count = firsts[static_cast<std::size_t>(i % kKeys)];
      const auto entered = fills.enter(key, std::to_string(i % kKeys), io.get_executor(), {});
      wrong += entered.turn == Fills::Turn::alone;
      if (entered.turn != Fills::Turn::first) continue;
      wrong += ++count > 1;
      --count;
      fills.leave(key, *entered.fill);
    }
  };
  at_once(enter_and_leave, enter_and_leave, enter_and_leave);
  EXPECT_EQ(wrong.load(), 0);
}

TEST(FillsThreads, AnInvalidationOutdatesEarlierRequests) {
  asio::io_context io(1);
  Fills fills;
  std::atomic<int> missed{0};
  const auto change = [&] {
    for (int i = 0; i < 2000; ++i) {
      const auto before = std::chrono::steady_clock::now();
      fills.enter(key_of(i), std::to_string(i), io.get_executor(), before);
      fills.invalidate(key_of(i), std::chrono::steady_clock::now());
      missed += !fills.outdated(key_of(i), {}, before);
    }
  };
  at_once(change, change);
  EXPECT_EQ(missed.load(), 0);
}

}  // namespace
}  // namespace proxy::fill
