#include "proxy/cache/disk/segments.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/proxy/cache/disk/scene.hpp"

namespace proxy::cache::disk {
namespace {

class CountingUser : public SegmentUser {
 public:
  void save() override { saved += 1; }
  int saved = 0;
};

TEST(SegmentUsers, AreSavedOnceAndThenItIsTooLate) {
  SegmentUsers users;
  const auto one = std::make_shared<CountingUser>();
  const auto other = std::make_shared<CountingUser>();
  EXPECT_TRUE(users.add(one));
  EXPECT_TRUE(users.add(other));
  users.save_all();
  users.save_all();
  EXPECT_EQ(one->saved, 1);
  EXPECT_EQ(other->saved, 1);
  EXPECT_FALSE(users.add(one));
}

TEST(SegmentUsers, AreForgottenOnceTheyAreGone) {
  SegmentUsers users;
  const auto lasting = std::make_shared<CountingUser>();
  EXPECT_TRUE(users.add(lasting));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(users.add(std::make_shared<CountingUser>()));
  users.save_all();
  EXPECT_EQ(lasting->saved, 1);
}

// Reads its body when it is told to.
class Reader : public SegmentUser {
 public:
  explicit Reader(StoredRecord stored) : stored_(std::move(stored)) {}
  void save() override {
    std::string text(stored_.body_bytes(), '\0');
    auto* const bytes = reinterpret_cast<std::uint8_t*>(text.data());
    if (stored_.read_body({bytes, text.size()}, Wait::yes)) saved = text;
  }
  const StoredRecord& stored() const { return stored_; }
  std::string saved;  // written on the writer's thread; read after the disk has stopped

 private:
  StoredRecord stored_;
};

TEST(SegmentUsers, SaveTheirBodiesBeforeTheDiskEmptiesAFileOrLeavesIt) {
  const support::TemporaryDirectory home;
  std::map<std::string, std::shared_ptr<Reader>> readers;
  Scene disk(home.path());
  constexpr std::uint64_t kMany = 200;  // more than the disk holds
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const auto url = url_number(i);
    ASSERT_TRUE(disk.append(response(url, body_text(url, 10'000))));
    const auto location = disk->find(key_for(url), url);
    ASSERT_TRUE(location);
    auto stored = disk->open(key_for(url), *location, Wait::yes);
    ASSERT_TRUE(stored);
    const auto reader = std::make_shared<Reader>(std::move(*stored));
    ASSERT_TRUE(reader->stored().body_in_file().segment->users.add(reader));
    readers[url] = reader;
  }
  EXPECT_GT(disk->catalog().counters.reclaimed, 0U);
  disk.stop();
  for (const auto& [url, reader] : readers) EXPECT_EQ(reader->saved, body_text(url, 10'000)) << url;
}

}  // namespace
}  // namespace proxy::cache::disk
