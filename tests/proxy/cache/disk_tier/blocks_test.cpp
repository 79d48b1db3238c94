// Large objects on the disk below memory: their heads and blocks are read back.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <random>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/revalidation.hpp"
#include "tests/proxy/cache/messages.hpp"
#include "tests/proxy/cache/store_over_disk.hpp"

namespace proxy::cache {
namespace {

class ObjectsBelow : public StoreOverDisk {
 protected:
  static constexpr std::uint64_t kLength = 4 * kBlockBytes + 1000;
  static inline const std::string kUrl = "http://a/";
  static inline const digest::Key kKey = key_of(kUrl);

  ObjectsBelow() : StoreOverDisk(disk::PurgeRules::as_prefix) {}

  Ref<const Entry> object(const std::string& more = "", const Request& request = Request()) {
    const Response response("Cache-Control: max-age=100\r\nETag: \"e\"\r\n" + more);
    return object_entry(budget_, {kUrl, request.head.fields, response.head, {now_, now_}, "us"},
                        Object{disk_->disk().new_version()}, kLength);
  }
  void put(const Ref<const Entry>& entry, const Ref<const Entry>& superseded = nullptr) {
    EXPECT_TRUE(disk_->put(kKey, kept(entry), {superseded}, [] { return true; }));
  }
  // Stores a block whose bytes tell its number.
  void put_block(const Entry& object, std::uint32_t number) {
    const auto size = static_cast<std::uint32_t>(bytes_of_block(number, kLength).size());
    const auto bytes = Block::make(budget_, size);
    std::fill_n(bytes->data(), size, static_cast<char>('a' + number));
    const auto block = block_entry(budget_, object, {{{bytes, size}}, size});
    EXPECT_EQ(disk_->blocks().put(kKey, number, object, block), DiskBlocks::Taken::yes);
  }
  void put_blocks(const Entry& object) {
    for (std::uint32_t number = 0; number < blocks_in(kLength); ++number) put_block(object, number);
    settle();
  }
  Ref<const Entry> read(const Request& request = Request()) {
    const auto found = disk_->read({kKey, kUrl, request.head.fields}, *store_, disk::Wait::yes);
    return found ? found->entry : nullptr;
  }
  disk::Result<Ref<const Entry>> block(const Entry& object, std::uint32_t number) {
    return disk_->blocks().read(kKey, number, object, *store_, disk::Wait::yes);
  }
  bool is_good(const Entry& object, std::uint32_t number) {
    const auto read = block(object, number);
    if (!read || !*read) return false;
    std::uint64_t good = 0;
    for (const Slice& slice : (*read)->body.slices) {
      const std::string_view text(slice.block->data(), slice.size);
      good += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), 'a' + number));
    }
    return good == (*read)->body.size && good == bytes_of_block(number, kLength).size();
  }
  bool has_block(const Entry& object, std::uint32_t number) {
    return disk_->has_block(disk::block_key(kKey, object.object()->version, number));
  }

  bool is_claimed() {
    std::vector<digest::Claim> claimed;
    store_->list_claimed(now_, claimed);
    return claimed == std::vector{digest::Claim{kKey}};
  }
  // Damages the block in its segment, 500 kB after the beginning of its record.
  void damage(const Entry& object, std::uint32_t number) {
    const auto key = disk::block_key(kKey, object.object()->version, number);
    const auto place = disk_->disk().catalog().index.find(key);
    ASSERT_TRUE(place);
    for (const auto& file : std::filesystem::directory_iterator(home_.path())) {
      if (file.path().extension() != ".segment") continue;
      const auto out = disk::File::open(AT_FDCWD, file.path().c_str(), O_WRONLY);
      const std::uint8_t wrong[] = {'?'};
      ASSERT_TRUE(out->write(wrong, place->at.offset + 500'000));
    }
  }
};

TEST_F(ObjectsBelow, HaveTheirBlocksGivenUpByMemoryOnceTheyAreWritten) {
  disk_->sit_under(*store_);
  const auto entry = object();
  put(entry);
  const auto key = disk::block_key(kKey, entry->object()->version, 0);
  const auto size = static_cast<std::uint32_t>(kBlockBytes);
  const auto block = block_entry(budget_, *entry, {{{Block::make(budget_, size), size}}, size});
  EXPECT_EQ(store_->put(key, {block}, now_), Stored::yes);
  EXPECT_EQ(disk_->blocks().put(kKey, 0, *entry, block), DiskBlocks::Taken::yes);
  settle();
  EXPECT_FALSE(store_->holds(key));
  EXPECT_TRUE(disk_->has_block(key));
}

TEST_F(ObjectsBelow, AreReadBackHeadAndBlocksApart) {
  const auto entry = object();
  put(entry);
  put_block(*entry, 1);
  put_block(*entry, 4);
  settle();
  restart();
  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object(), entry->object());
  EXPECT_EQ(found->head(), entry->head());
  EXPECT_EQ(found->body.size, kLength);
  EXPECT_TRUE(found->body.slices.empty());
  for (const std::uint32_t number : {0U, 1U, 2U, 3U, 4U}) {
    const bool there = number == 1 || number == 4;
    EXPECT_EQ(has_block(*found, number), there) << number;
    EXPECT_EQ(is_good(*found, number), there) << number;
  }
}

TEST_F(ObjectsBelow, KeepTheirBlocksWhenTheyAreFreshened) {
  const auto entry = object();
  put(entry);
  put_block(*entry, 0);
  settle();
  const Request request;
  const Response response("Cache-Control: max-age=900\r\nETag: \"e\"\r\n", 304);
  const auto fresh = freshen(budget_, *entry, request.facts,
                             {kUrl, request.head.fields, response.head, {now_, now_}, "us"});
  put(fresh.entry, entry);
  EXPECT_TRUE(disk_->may_have(kKey)) << "until the new head is there";
  settle();
  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->freshness().lifetime, 900s);
  EXPECT_TRUE(is_good(*found, 0));
}

TEST_F(ObjectsBelow, LoseTheirBlocksToANewVersion) {
  const auto old = object();
  put(old);
  put_blocks(*old);
  put(object());
  settle();
  const auto found = read();
  ASSERT_TRUE(found);
  EXPECT_NE(found->object(), old->object());
  EXPECT_FALSE(has_block(*found, 0));
}

TEST_F(ObjectsBelow, AreSelectedByVary) {
  const Request gzip("Accept-Encoding: gzip\r\n");
  const auto entry = object("Vary: Accept-Encoding\r\n", gzip);
  put(entry);
  put_block(*entry, 2);
  settle();
  restart();
  EXPECT_FALSE(read());
  const auto found = read(gzip);
  ASSERT_TRUE(found);
  EXPECT_TRUE(is_good(*found, 2));
}

TEST_F(ObjectsBelow, DoNotWaitForABlockOnAThreadThatMayNot) {
  const auto entry = object();
  put(entry);
  put_blocks(*entry);
  const auto read = disk_->blocks().read(kKey, 0, *entry, *store_, disk::Wait::no);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), disk::Error::would_block);
}

TEST_F(ObjectsBelow, DropADamagedBlockForGood) {
  const auto entry = object();
  put(entry);
  put_blocks(*entry);
  damage(*entry, 3);
  EXPECT_EQ(block(*entry, 3).error(), disk::Error::corrupt);
  EXPECT_EQ(disk_->disk().catalog().counters.corrupt, 1U);
  EXPECT_FALSE(has_block(*entry, 3));
  EXPECT_TRUE(is_good(*entry, 2));
  settle();
  restart();
  EXPECT_FALSE(has_block(*entry, 3)) << "the start found it again";
  EXPECT_TRUE(is_good(*entry, 4));
  put_block(*entry, 3);
  settle();
  EXPECT_TRUE(is_good(*entry, 3));
}

TEST_F(ObjectsBelow, AreClaimedWhileAllTheirBlocksAreThere) {
  const auto entry = object();
  put(entry);
  store_->put(kKey, {entry}, now_);
  EXPECT_FALSE(is_claimed());
  put_blocks(*entry);
  EXPECT_FALSE(is_claimed());
  disk_->disk().queue().doubt(kKey, entry->object()->version);
  settle();
  EXPECT_TRUE(is_claimed());
  damage(*entry, 2);
  EXPECT_FALSE(is_good(*entry, 2));
  EXPECT_FALSE(is_claimed());
  restart();
  EXPECT_FALSE(is_claimed());
}

TEST_F(ObjectsBelow, AreClaimedByTheirSelectorWhereTheyVary) {
  const Request request("Cookie: a\r\n");
  const auto entry = object("Vary: Cookie\r\n", request);
  put(entry);
  put_blocks(*entry);
  EXPECT_FALSE(is_claimed());
  disk_->disk().queue().doubt(kKey, entry->object()->version);
  settle();
  EXPECT_TRUE(is_claimed());
  restart();
  EXPECT_TRUE(is_claimed());
  damage(*entry, 0);
  EXPECT_FALSE(is_good(*entry, 0));
  EXPECT_FALSE(is_claimed());
}

TEST_F(ObjectsBelow, EndAClaimThatTurnsOutWrong) {
  const auto entry = object();
  put(entry);
  put_blocks(*entry);
  put(entry, entry);
  settle();
  EXPECT_TRUE(is_claimed());
  disk_->disk().purge(disk::block_key(kKey, entry->object()->version, 1),
                      {});  // without any notice
  EXPECT_FALSE(is_good(*entry, 1));
  EXPECT_FALSE(is_claimed());
}

TEST_F(ObjectsBelow, HaveBlocksThatAreFoundBeforeTheyAreWritten) {
  const auto entry = object();
  put(entry);
  const auto key = disk::block_key(kKey, entry->object()->version, 4);
  for (int i = 0; i < 50; ++i) {
    put_block(*entry, 4);
    ASSERT_TRUE(has_block(*entry, 4)) << "neither waiting nor written";
  }
  settle();
  EXPECT_FALSE(disk_->blocks().unwritten(key));
  EXPECT_TRUE(has_block(*entry, 4));
}

// Whichever bit is flipped, every block found is right, and a lost block ends the claim.
TEST_F(ObjectsBelow, GiveNoWrongByteForAFlippedBit) {
  const auto entry = object();
  put(entry);
  put_blocks(*entry);
  put(entry, entry);
  (void)disk_->stop();
  std::map<std::filesystem::path, std::string> good;
  for (const auto& file : std::filesystem::directory_iterator(home_.path())) {
    good[file.path()] = support::read_file(file.path());
  }
  std::mt19937 random(9);
  int lost = 0;
  int whole = 0;
  for (int round = 0; round < 40; ++round) {
    for (const auto& file : std::filesystem::directory_iterator(home_.path())) {
      std::filesystem::remove(file);
    }
    for (const auto& [path, bytes] : good) support::write_file(path, bytes);
    const auto& [path, bytes] = *std::next(good.begin(), random() % good.size());
    if (!bytes.empty()) {
      std::string bad = bytes;
      const auto bit = random() % (bytes.size() * 8);
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
      support::write_file(path, bad);
    }
    store_.reset();
    begin();
    settle();
    const auto found = read();
    bool all = found != nullptr;
    for (std::uint32_t number = 0; found && number < blocks_in(kLength); ++number) {
      const auto there = block(*found, number);
      const bool is_there = there && *there;
      EXPECT_EQ(is_there, is_good(*found, number)) << round;
      all = all && is_there;
    }
    EXPECT_EQ(is_claimed(), all) << round;
    (all ? whole : lost) += 1;
    (void)disk_->stop();
  }
  EXPECT_GT(lost, 10);
  EXPECT_GT(whole, 5);
}

TEST_F(ObjectsBelow, TakeNoBlockOfAnotherSize) {
  const auto entry = object();
  const auto size = std::uint32_t{1000};
  const auto block = block_entry(budget_, *entry, {{{Block::make(budget_, size), size}}, size});
  ASSERT_EQ(disk_->blocks().put(kKey, 0, *entry, block), DiskBlocks::Taken::yes);
  settle();
  EXPECT_EQ(this->block(*entry, 0).error(), disk::Error::corrupt);
  EXPECT_FALSE(has_block(*entry, 0));
}

}  // namespace
}  // namespace proxy::cache
