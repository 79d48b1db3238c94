#include "proxy/cache/disk/contents.hpp"

#include "tests/proxy/cache/disk/scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

class StoppedCache : public ::testing::Test {
 protected:
  // The URLs of the entries found, in order; "?" for an entry that cannot be read.
  std::vector<std::string> urls() {
    Contents contents;
    unknown_ = contents.open(directory_.path());
    std::vector<std::string> found;
    contents.each([&](const Contents::Seen& seen) {
      found.emplace_back(seen.stored ? std::string(seen.stored->url()) : "?");
      return true;
    });
    return found;
  }

  const support::TemporaryDirectory directory_;
  Result<Contents::Unknown> unknown_ = Contents::Unknown{};
};

TEST_F(StoppedCache, TellsWhatAStartWouldFind) {
  {
    Scene disk(directory_.path());
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(disk.append(response(url_number(i), body_text(url_number(i), 100))));
    }
    ASSERT_TRUE(disk.append(response(url_number(1), "newer")));
    ASSERT_TRUE(disk.purge(key_for(url_number(2))));
    ASSERT_TRUE(disk.purge_prefix(url_number(3)));
    NewRecord head{.header = {.kind = RecordKind::head, .key = key_for(url_number(4))},
                   .url = url_number(4),
                   .head = "304"};
    const auto place = disk->find(key_for(url_number(4)), url_number(4));
    head.header.version = to_number(place->at);
    head.replaces = place->at;
    ASSERT_TRUE(disk.append(head));
  }
  EXPECT_EQ(urls(), (std::vector{url_number(0), url_number(1), url_number(4)}));
  EXPECT_EQ(unknown_->damaged + unknown_->unreadable + unknown_->other_version, 0U);
}

TEST_F(StoppedCache, IsAsItWasAfterALook) {
  {
    Scene disk(directory_.path());
    ASSERT_TRUE(disk.append(response(url_number(1), "a")));
  }
  const auto newest = directory_ / "00000001.segment";
  const std::string before = support::read_file(newest) + "what a crash cut";
  support::write_file(newest, before);
  support::write_file(directory_ / "00000002.segment", "nothing of ours");
  EXPECT_EQ(urls(), std::vector{url_number(1)});
  EXPECT_EQ(unknown_->damaged, 2U);
  EXPECT_EQ(support::read_file(newest), before);
  EXPECT_EQ(support::read_file(directory_ / "00000002.segment"), "nothing of ours");
}

TEST_F(StoppedCache, IsNotLookedAtWhileItRuns) {
  Scene disk(directory_.path());
  urls();
  EXPECT_EQ(unknown_.error(), Error::in_use);
}

TEST_F(StoppedCache, MayBeLookedAtByManyAndIsTakenWhenTheyAreDone) {
  {
    Scene disk(directory_.path());
    ASSERT_TRUE(disk.append(response(url_number(1), "a")));
  }
  std::optional<Contents> one(std::in_place);
  std::optional<Contents> other(std::in_place);
  EXPECT_TRUE(one->open(directory_.path()));
  EXPECT_TRUE(other->open(directory_.path()));
  Disk disk(running_clock(), small_options(directory_.path()), digest::unpredictable());
  EXPECT_EQ(disk.start().error(), Error::being_read);
  EXPECT_EQ(disk.state().reason, Error::being_read);
  one.reset();
  EXPECT_EQ(Directory::open(directory_.path()).error(), Error::being_read);
  other.reset();
  EXPECT_TRUE(support::await([&] { return disk.state().working; }));
  EXPECT_TRUE(disk.find(key_for(url_number(1)), url_number(1)));
}

TEST_F(StoppedCache, IsNotMadeByLooking) {
  urls();
  EXPECT_EQ(unknown_.error(), Error::no_directory);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "lock"));
}

TEST_F(StoppedCache, SaysWhichEntryCannotBeRead) {
  {
    Scene disk(directory_.path());
    ASSERT_TRUE(disk.append(response(url_number(1), "a")));
    ASSERT_TRUE(disk.append(response(url_number(2), "b")));
  }
  const auto path = directory_ / "00000001.segment";
  std::string bytes = support::read_file(path);
  bytes[bytes.find(url_number(1))] ^= 1;
  support::write_file(path, bytes);
  EXPECT_EQ(urls(), (std::vector{std::string("?"), url_number(2)}));
}

}  // namespace
}  // namespace proxy::cache::disk
