// What I/O threads and the control thread share, used by both at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "peers/directory.hpp"
#include "peers/publisher.hpp"
#include "peers/snapshot.hpp"
#include "tests/peers/listed_holdings.hpp"
#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;

const SteadyTime kNow{1000s};

// Runs `read` on two threads while `write` runs here `times` times.
template <class Read, class Write>
void together(int times, Read read, Write write) {
  std::atomic<bool> done{false};
  std::latch all_read(2);
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      read();
      all_read.count_down();
      while (!done.load(std::memory_order_relaxed)) read();
    });
  }
  all_read.wait();
  for (int i = 0; i < times; ++i) write(i);
  done.store(true);
}

TEST(SnapshotThreads, AReaderSeesOneValueWholeWhileItIsReplaced) {
  using Pair = std::pair<int, std::vector<int>>;
  Snapshot<Pair> snapshot(std::make_unique<const Pair>(0, std::vector<int>{0, 0}));
  std::atomic<int> torn{0};
  together(
      1000,
      [&] {
        snapshot.read([&](const Pair& pair) {
          for (const int part : pair.second) torn += part != pair.first;
        });
      },
      [&](int i) {
        snapshot.replace(std::make_unique<const Pair>(i, std::vector<int>{i, i}));
      });
  EXPECT_EQ(torn.load(), 0);
}

TEST(AccuracyThreads, LosesNoCount) {
  Accuracy accuracy;
  constexpr std::uint64_t kEach = 10'000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        for (std::uint64_t n = 0; n < kEach; ++n) {
          accuracy.record({ClaimOutcome::true_hit, 1ms, 2}, kNow);
          accuracy.record({ClaimOutcome::refused, std::nullopt, 0}, kNow);
        }
      });
    }
  }
  EXPECT_EQ(accuracy.books().true_hits, 3 * kEach);
  EXPECT_EQ(accuracy.books().failures, 3 * kEach);
  EXPECT_EQ(accuracy.books().bytes_saved, 6 * kEach);
  EXPECT_EQ(accuracy.books().first_byte, 1ms);
}

TEST(DirectoryThreads, ClaimsAreReadAndNotedWhileDigestsChange) {
  const std::vector<config::PeerSettings> settings{samples::peer("b"), samples::peer("c")};
  PeerDirectory directory(settings);
  std::atomic<int> wrong{0};
  together(
      200,
      [&] {
        const auto claimants = directory.claimants(samples::key("x"), kNow);
        for (const PeerRef& peer : claimants) {
          wrong += peer->id != 0;
          directory.record(peer, {ClaimOutcome::true_hit, 1ms, 1}, kNow);
        }
        wrong += directory.status(kNow).size() != 2;
      },
      [&](int i) {
        directory.update(0, i % 2 == 0 ? samples::report_of({"x"}, kNow) : PollReport{});
        directory.update(1, samples::report_of({"y"}, kNow));
      });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(PublisherThreads, DeltasAreMadeWhileTheNextGenerationIsClosed) {
  samples::ListedHoldings holdings;
  WallTime now{};
  Publisher publisher(holdings, {}, now, digest::unpredictable());
  std::atomic<int> wrong{0};
  together(
      200,
      [&] {
        const auto held = digest::decode_native(publisher.native(0, 0)->body, nullptr, 1 << 20);
        if (!held) return void(++wrong);
        const auto form = publisher.native(held->epoch, held->generation);
        wrong += !digest::decode_native(form->body, &*held, 1 << 20);
        wrong += !digest::decode_native(publisher.native(1, 1)->body, nullptr, 1 << 20);
      },
      [&](int i) {
        holdings.add(samples::key(std::to_string(i)));
        publisher.tick(now += 1s);
      });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(PublisherThreads, WhatIsHeldStaysWholeWhileTheNextIsClosed) {
  samples::ListedHoldings holdings;
  WallTime now{};
  Publisher publisher(holdings, {}, now, digest::unpredictable());
  std::atomic<int> wrong{0};
  together(
      200, [&] { wrong += !digest::decode(publisher.current()->squid->body); },
      [&](int i) {
        holdings.add(samples::key(std::to_string(i)));
        publisher.tick(now += 1s);
      });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace peers
