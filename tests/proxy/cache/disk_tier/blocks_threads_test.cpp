// Large objects and whole responses of the same URLs, stored, read back and purged by several
// threads while segments are reclaimed.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache {
namespace {

class SharedBlocks : public ::testing::Test {
 protected:
  static constexpr std::size_t kObjects = 4;
  static constexpr int kTurns = 120;
  static constexpr std::uint64_t kObjectBytes = kBlockBytes + 40'000;
  static constexpr std::uint64_t kMostQueued = std::uint64_t{4} << 20;
  static constexpr char kWholeByte = 'w';

  SharedBlocks() {
    EXPECT_TRUE(disk_.start());
    disk_.sit_under(store_);
  }
  ~SharedBlocks() override { (void)disk_.stop(); }

  static std::string name_of(std::size_t number) {
    return "http://large/" + std::to_string(number);
  }
  // The value of every byte of a block.
  static char byte_of(const Entry& object, std::uint32_t number) {
    return static_cast<char>('0' + (object.object()->version + number) % 32);
  }
  static bool is_all(const Entry& entry, char byte) {
    return std::all_of(entry.body.slices.begin(), entry.body.slices.end(), [&](const Slice& slice) {
      const char* data = slice.block->data();
      return *data == byte && std::memcmp(data, data + 1, slice.size - 1) == 0;
    });
  }
  Body filled(char byte, std::uint32_t size) {
    const auto bytes = Block::make(budget_, size);
    std::memset(bytes->data(), byte, size);
    return {{{bytes, size}}, size};
  }

  Ref<const Entry> current(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return objects_[number];
  }
  void keep(std::size_t number, const Ref<const Entry>& entry) {
    const auto key = key_of(entry->url());
    const auto response = kept(entry);
    disk_.put(key, response, {}, [&] {
      if (store_.put(key, response, now_) != Stored::yes) return false;
      const std::lock_guard lock(mutex_);
      objects_[number] = entry->object() ? entry : nullptr;
      return true;
    });
  }
  void keep_object(std::size_t number) {
    const Request request;
    const Response response("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
    keep(number,
         object_entry(budget_,
                      {name_of(number), request.head.fields, response.head, {now_, now_}, "us"},
                      Object{disk_.disk().new_version()}, kObjectBytes));
  }
  void keep_whole(std::size_t number) {
    Stock stock;
    stock.url = name_of(number);
    stock.times = {now_, now_};
    const auto entry = boost::const_pointer_cast<Entry>(entry_of(budget_, stock));
    entry->body = filled(kWholeByte, 20'000);
    keep(number, entry);
  }
  void store_block(std::size_t number, std::uint32_t block) {
    const auto object = current(number);
    if (!object) return;
    const auto size = static_cast<std::uint32_t>(bytes_of_block(block, kObjectBytes).size());
    const auto bytes = block_entry(budget_, *object, filled(byte_of(*object, block), size));
    while (disk_.disk().queue().bytes() > kMostQueued)
      std::this_thread::yield();  // or it is refused
    const auto taken = disk_.blocks().put(key_of(object->url()), block, *object, bytes);
    if (taken == DiskBlocks::Taken::yes) kept_ += 1;
    disk_.disk().queue().doubt(key_of(object->url()), object->object()->version);
  }
  void read(std::size_t number) {
    const Request request;
    const auto url = name_of(number);
    const auto found = disk_.read({key_of(url), url, request.head.fields}, store_, disk::Wait::yes);
    if (!found || !found->entry) return;
    const auto entry = found->entry;
    if (!entry->object()) {
      EXPECT_TRUE(is_all(*entry, kWholeByte));
      return;
    }
    for (std::uint32_t block = 0; block < blocks_in(kObjectBytes); ++block) {
      const auto bytes = disk_.blocks().read(key_of(url), block, *entry, store_, disk::Wait::yes);
      if (!bytes || !*bytes) continue;
      EXPECT_EQ((*bytes)->body.size, bytes_of_block(block, kObjectBytes).size());
      EXPECT_TRUE(is_all(**bytes, byte_of(*entry, block)));
      read_ += 1;
    }
  }
  void purge(std::size_t number) {
    disk_.purge(key_of(name_of(number)), {});
    store_.remove(key_of(name_of(number)));
  }
  void step(std::mt19937& random) {
    const std::size_t number = random() % kObjects;
    switch (random() % 16) {
      case 0:
        return purge(number);
      case 1:
        return static_cast<void>(disk_.purge_all(name_of(number), {}));
      case 2:
        return keep_whole(number);
      case 3:
      case 4:
        return keep_object(number);
      case 5:
      case 6:
      case 7:
      case 8:
        return read(number);
      default:
        return store_block(number, random() % 2);
    }
  }

  const support::TemporaryDirectory home_;
  Budget budget_{64 << 20};
  machine::Clock clock_;
  DiskTier disk_{budget_,
                 clock_,
                 {.path = home_.path(), .bytes = 24 << 20},
                 disk::PurgeRules::as_prefix,
                 digest::unpredictable()};
  Store store_{budget_, {}, &disk_.disk().catalog().index};
  const Time now_ = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  std::mutex mutex_;
  std::array<Ref<const Entry>, kObjects> objects_;  // guarded
  std::atomic<int> kept_ = 0;
  std::atomic<int> read_ = 0;
};

TEST_F(SharedBlocks, AreWholeAndOfTheirObjectWhileSegmentsGo) {
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 3; ++i) {
      threads.emplace_back([this, i] {
        std::mt19937 random(i);
        for (int turn = 0; turn < kTurns; ++turn) step(random);
      });
    }
    std::vector<KeyChange> changes;
    for (int i = 0; i < 100; ++i) {
      if (store_.collect(now_, changes) == Collected::overflowed) {
        std::vector<digest::Claim> all;
        store_.list_claimed(now_, all);
      }
      disk_.charge();
      std::this_thread::yield();
    }
  }
  ASSERT_TRUE(disk_.disk().queue().settle(20s));
  EXPECT_EQ(disk_.disk().catalog().counters.corrupt, 0U);
  EXPECT_TRUE(disk_.disk().state().working);
  EXPECT_GT(disk_.disk().catalog().counters.reclaimed, 0U);
  EXPECT_GT(kept_, 20);
  for (std::size_t i = 0; i < kObjects; ++i) {
    keep_object(i);
    store_block(i, 0);
    ASSERT_TRUE(disk_.disk().queue().settle(20s));
    read(i);
  }
  EXPECT_GE(read_, static_cast<int>(kObjects));
}

}  // namespace
}  // namespace proxy::cache
