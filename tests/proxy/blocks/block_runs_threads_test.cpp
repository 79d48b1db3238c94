// Runs of one object that several threads join, write, cut and leave at once.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/use_future.hpp>
#include <future>
#include <random>
#include <thread>

#include "proxy/blocks/block_runs.hpp"
#include "tests/proxy/blocks/object_of.hpp"

namespace proxy::blocks {
namespace {

namespace asio = net::asio;

constexpr std::uint32_t kBlocksOfIt = 48;
constexpr std::uint32_t kBytesOfOne = 64;  // stands for a block's MiB
constexpr int kReadersPerThread = 4;

char byte_of(std::uint32_t block) {
  return static_cast<char>('a' + block % 26);
}

class Crew {
 public:
  explicit Crew(std::uint32_t seed) : random_(seed) {}

  // The state of one thread of the crew.
  struct Hand {
    asio::io_context io{1};
    std::vector<std::future<bool>> readers;
  };

  void start(Hand& hand) {
    for (int i = 0; i < kReadersPerThread; ++i) {
      const auto first = static_cast<std::uint32_t>(random_() % kBlocksOfIt);
      const bool patient = random_() % 3 != 0;
      const auto last = patient ? kBlocksOfIt - 1 : first + 2;
      const auto outcome = std::make_shared<std::promise<bool>>();
      hand.readers.push_back(outcome->get_future());
      net::spawn(hand.io.get_executor(), read(hand, first, last),
                 [outcome](std::exception_ptr, bool good) { outcome->set_value(good); });
    }
  }

  std::atomic<int> begun = 0;
  BlockRuns runs{6};  // fewer slots than readers

 private:
  using Begin = BlockRuns::Wanted::Begin;

  BlockRuns::Taken take(Hand& hand, std::uint32_t block, std::uint32_t last, Begin begin) {
    auto taken = runs.take({object_, block, last, begin}, is_stored_, hand.io.get_executor());
    if (taken.begun) {
      const bool fails = begun++ % 5 == 4;
      net::spawn(hand.io.get_executor(), bring(hand, taken.use.run(), fails));
    }
    return taken;
  }

  // The writer of a run. Some writers are cut in the middle of a block, or continue with another
  // source.
  net::Task<void> bring(Hand& hand, std::shared_ptr<BlockRun> run, bool fails) {
    BlockRuns::Ending ending(runs, run);
    run->on_unwanted([] {});
    if (fails && run->early()) runs.decline(*run);
    for (int fetched = 0; !run->declined(); ++fetched) {
      const auto step = co_await runs.next(run, is_stored_);
      if (!step.fill) break;
      const auto bytes = cache::Block::make(budget_, kBytesOfOne);
      std::fill_n(bytes->data(), kBytesOfOne, byte_of(step.block));
      step.fill->append(bytes, kBytesOfOne / 2);
      co_await asio::post(hand.io, net::use_task);
      if (fails && fetched == 1) {
        run->begin_again();
        continue;
      }
      if (fails && fetched == 4) break;
      step.fill->append(bytes, kBytesOfOne);
      stored_[step.block] = true;
      step.fill->finish();
      runs.done(*run);
    }
    ending.end = {RunEnd::How::finished};
    run->on_unwanted(nullptr);
  }

  // Returns whether all received bytes were right.
  net::Task<bool> read(Hand& hand, std::uint32_t first, std::uint32_t last) {
    BlockRuns::Use use;
    for (auto block = first; block <= std::min(last, kBlocksOfIt - 1);) {
      const auto slot =
          co_await runs.slots().take(TransferSlots::For::fetched, hand.io.get_executor());
      if (!slot) co_return false;
      if (use.run()) use.run()->ask(block);
      auto taken = take(hand, block, kBlocksOfIt - 1, Begin::needed);
      if (!taken.block) {  // stored by now
        if (evictions_++ % 4 == 0) stored_[block] = false;
        ++block;
        continue;
      }
      use = std::move(taken.use);
      const auto far = std::min(block + BlockRuns::kLead, kBlocksOfIt - 1);
      const auto ahead = take(hand, far, kBlocksOfIt - 1, Begin::early);
      std::string text;
      for (;;) {
        const auto pieces = co_await taken.block->next();
        if (!pieces) break;  // the block was begun again
        if (pieces->empty()) {
          if (text != std::string(kBytesOfOne, byte_of(block))) co_return false;
          ++block;
          break;
        }
        for (const auto& piece : *pieces)
          text.append(piece.block->data() + piece.offset, piece.size);
      }
    }
    co_return true;
  }

  std::mt19937 random_;
  std::atomic<int> evictions_ = 0;
  cache::Budget budget_{1 << 30};
  cache::Ref<const cache::Entry> object_ = object_of(budget_, kBlocksOfIt << 20);
  std::array<std::atomic<bool>, kBlocksOfIt> stored_{};
  const BlockRuns::IsStored is_stored_ = [this](std::uint32_t block) {
    return stored_[block].load();
  };
};

TEST(BlockRunsThreads, SupplyEveryReaderHoweverTheyEnd) {
  for (std::uint32_t round = 0; round < 20; ++round) {
    Crew crew(round);
    std::array<Crew::Hand, 4> hands;
    for (auto& hand : hands) crew.start(hand);
    {
      std::vector<std::jthread> threads;
      for (auto& hand : hands) threads.emplace_back([&hand] { hand.io.run(); });
    }
    for (auto& hand : hands) {
      for (auto& reader : hand.readers) EXPECT_TRUE(reader.get());
    }
    EXPECT_GT(crew.begun, 1);
  }
}

}  // namespace
}  // namespace proxy::blocks
