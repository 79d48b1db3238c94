#include <filesystem>
#include <map>
#include <random>

#include "no_space.hpp"
#include "scene.hpp"
#include "tests/support/await.hpp"
#include "tests/support/space_taken.hpp"

namespace proxy::cache::disk {
namespace {

using support::space_taken;
using support::TemporaryDirectory;

// A full cache has as many files as fit and no more, whatever is appended.
TEST(DiskLimit, IsNeverPassedNotEvenForAMoment) {
  const TemporaryDirectory directory;
  const Options options = small_options(directory.path());
  Alone alone(options);
  std::mt19937 random(1);
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::string url = url_number(random() % 400);
    ASSERT_TRUE(alone.log.append(response(url, body_text(url, random() % 9000))));
    if (i % 3 == 0) {
      ASSERT_TRUE(alone.log.flush());
    }
    if (random() % 2 == 0) alone.index.use(key_for(url));
    const std::uint64_t taken = space_taken(directory.path());
    ASSERT_LE(taken, options.log.bytes) << i;
    ASSERT_LE(taken, alone.log.used_bytes()) << i;
    most = std::max(most, taken);
  }
  EXPECT_GT(alone.counters.reclaimed, 20U);
  EXPECT_GT(alone.counters.reinserted, 20U);
  EXPECT_GT(most, options.log.bytes * 3 / 4);
}

TEST(DiskLimit, HoldsFromTheStartWhereItWasLowered) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  Scene scene(options);
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(scene->append(response(url_number(i), body_text(url_number(i), 4000))));
  }
  scene.stop();
  options.log.bytes /= 2;
  Scene again(options);
  EXPECT_LE(space_taken(directory.path()), options.log.bytes);
  EXPECT_EQ(again.body(url_number(0)).error(), Error::gone);
  EXPECT_EQ(*again.body(url_number(199)), body_text(url_number(199), 4000));
}

TEST(DiskLimit, FollowsAnotherSizeWhileTheDiskRuns) {
  using std::chrono::seconds;
  const TemporaryDirectory directory;
  const Options options = small_options(directory.path());
  const auto whole = options.log.bytes;
  Scene scene(options);
  const auto fill = [&](std::uint64_t first) {
    for (std::uint64_t i = first; i < first + 400; ++i) {
      EXPECT_TRUE(scene->append(response(url_number(i), body_text(url_number(i), 4000))));
      EXPECT_TRUE(scene->queue().settle(seconds(5)));
    }
    return space_taken(directory.path());
  };
  EXPECT_GT(fill(0), whole / 2);
  ASSERT_TRUE(scene->resize(whole / 4, options.log.entries));
  EXPECT_TRUE(support::await([&] { return space_taken(directory.path()) <= whole / 4; }));
  EXPECT_EQ(*scene.body(url_number(399)), body_text(url_number(399), 4000)) << "the newest";
  EXPECT_EQ(scene.body(url_number(0)).error(), Error::gone);
  EXPECT_LE(fill(400), whole / 4);
  ASSERT_TRUE(scene->resize(whole, options.log.entries));
  const auto full = fill(800);
  EXPECT_GT(full, whole / 2);
  EXPECT_LE(full, whole);
  EXPECT_EQ(scene->resize(1, 1).error(), Error::too_small);
}

// As with a quota that others use up: half of the segments stay, however often the disk tries
// again.
TEST(DiskLimit, YieldsHalfAtMostToAFileSystemThatStaysFull) {
  const TemporaryDirectory directory;
  const Options options = small_options(directory.path());
  Alone alone(options);
  const auto append = [&alone](std::uint64_t number) {
    const std::string url = url_number(number);
    return alone.log.append(response(url, body_text(url, 4000)));
  };
  std::uint64_t number = 0;
  while (alone.segments.count() < 8) ASSERT_TRUE(append(number++));
  {
    const NoSpace full(16);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(alone.log.probe().error(), Error::no_space);
    EXPECT_EQ(alone.segments.count(), 4U);
    EXPECT_EQ(alone.counters.squeezed_out, 4U);
  }
  EXPECT_TRUE(alone.log.probe());
  EXPECT_EQ(alone.segments.count(), 5U);
  EXPECT_TRUE(append(number));
}

// New records must get room without the loss of used ones.
TEST(DiskLimit, LoweredBeforeAStartLeavesRoomForUsedEntries) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  const auto append = [](Scene& scene, std::uint64_t number) {
    return scene.append(response(url_number(number), body_text(url_number(number), 4000)));
  };
  Scene scene(options);
  std::uint64_t number = 0;
  while (scene->catalog().segments.count() < 11)
    ASSERT_TRUE(append(scene, number++));  // the last segment is nearly empty
  scene.stop();
  options.log.segment_bytes = 16 * 1024;
  options.log.bytes =
      space_of(options.log.segment_bytes) + 1024;  // room for exactly one more segment
  for (std::uint32_t segment = 4; segment <= 11; ++segment) {
    options.log.bytes += space_of(std::filesystem::file_size(directory / name_of(segment)));
  }
  Scene again(options);
  ASSERT_EQ(again->catalog().segments.count(), 8U);
  std::uint64_t oldest = 0;
  while (!again->catalog().index.find(key_for(url_number(oldest)))) ++oldest;
  ASSERT_TRUE(again.body(url_number(oldest)));
  while (again->catalog().counters.reclaimed < 5) ASSERT_TRUE(append(again, number++));
  EXPECT_TRUE(again.body(url_number(oldest)));
}

void fill(Scene& scene, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = first; i < first + count; ++i) {
    ASSERT_TRUE(scene->append(response(url_number(i), body_text(url_number(i), 4000))));
  }
  ASSERT_TRUE(scene->queue().settle(kPatience));
}

TEST(DiskReclaim, ReclaimsTheOldestAndKeepsUsedEntries) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  fill(scene, 0, 10);
  for (std::uint64_t begin = 10; begin < 1000; begin += 50) {
    ASSERT_TRUE(scene.body(url_number(3))) << begin;  // a hit now and then
    fill(scene, begin, 50);
  }
  EXPECT_EQ(*scene.body(url_number(3)), body_text(url_number(3), 4000));
  EXPECT_EQ(scene.body(url_number(4)).error(), Error::gone);
  EXPECT_EQ(*scene.body(url_number(999)), body_text(url_number(999), 4000));
  EXPECT_GE(scene->catalog().counters.reinserted, 2U);
  EXPECT_GT(scene->catalog().counters.reinserted_bytes, 8000U);
  EXPECT_GT(scene->catalog().counters.evicted, 500U);
}

TEST(DiskReclaim, ForgetsAUseOnceItsEntryWasCopied) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  fill(scene, 0, 10);
  ASSERT_TRUE(scene.body(url_number(3)));
  fill(scene, 10, 1000);
  EXPECT_EQ(scene->catalog().counters.reinserted, 1U);
  EXPECT_EQ(scene.body(url_number(3)).error(), Error::gone);
}

// Copies take at most half of each new segment, so that it has room for new records.
TEST(DiskReclaim, CannotBeStoppedByUsingEverything) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.keep = [](const Key&, const Location&) { return true; };
  Scene scene(options);
  fill(scene, 0, 2000);
  EXPECT_GT(scene->catalog().counters.reinserted, 100U);
  const Counters& counters = scene->catalog().counters;
  EXPECT_LE(counters.reinserted_bytes, counters.stored_bytes + 64 * 1024);
  EXPECT_TRUE(scene.body(url_number(1999)));
}

TEST(DiskReclaim, CopiesNothingThatIsKeptElsewhere) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  const Key kept = key_for(url_number(1));
  const Key duplicate = key_for(url_number(2));
  options.log.keep = [=](const Key& key, const Location&) {
    return key == kept || key == duplicate;
  };
  options.log.kept_elsewhere = [=](const digest::Claim& claim) { return claim.key == duplicate; };
  Scene scene(options);
  fill(scene, 0, 3);
  fill(scene, 10, 1000);
  EXPECT_TRUE(scene.body(url_number(1)));
  EXPECT_EQ(scene.body(url_number(2)).error(), Error::gone);
  EXPECT_EQ(scene->catalog().counters.duplicates, 1U);
}

TEST(DiskReclaim, LargeRecordsFitBesideCopies) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.keep = [](const Key&, const Location&) { return true; };
  Scene scene(options);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::string body = body_text(url_number(i), i % 2 == 0 ? 65'000 : 3'000);
    ASSERT_TRUE(scene.append(response(url_number(i), body))) << i;
    EXPECT_EQ(*scene.body(url_number(i)), body);
  }
}

TEST(DiskReclaim, CopiesANewerHeadWithItsBody) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  const Key kept = key_for(url_number(1));
  options.log.keep = [kept](const Key& key, const Location&) { return key == kept; };
  Scene scene(options);
  fill(scene, 0, 3);
  const auto place = scene->find(kept, url_number(1));
  ASSERT_TRUE(scene.append(
      {.header = {.kind = RecordKind::head, .key = kept, .version = to_number(place->at)},
       .url = url_number(1),
       .head = "304",
       .replaces = place->at}));
  fill(scene, 10, 1000);
  EXPECT_EQ(*scene.head(url_number(1)), "304");
  EXPECT_EQ(*scene.body(url_number(1)), body_text(url_number(1), 4000));
  EXPECT_EQ(scene->find(kept, url_number(1))->kind, RecordKind::whole);
}

// The body and its old head were copied while the newer head waited.
TEST(DiskReclaim, WritesANewerHeadWithItsBodyIfThatWasCopied) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  const std::string url = url_number(1);
  const Key kept = key_for(url);
  options.log.keep = [kept](const Key& key, const Location&) { return key == kept; };
  const std::string body = body_text(url, 4000);
  {
    Scene scene(options);
    fill(scene, 0, 3);
    const auto place = scene->find(kept, url);
    fill(scene, 10, 1000);
    ASSERT_NE(scene->find(kept, url)->at, place->at);
    const NewRecord head{
        .header = {.kind = RecordKind::head, .key = kept, .version = to_number(place->at)},
        .url = url,
        .head = "304",
        .replaces = place->at,
        .body_if_moved = body_of(body)};
    ASSERT_TRUE(scene.append(head));
    EXPECT_EQ(*scene.head(url), "304");
    EXPECT_EQ(*scene.body(url), body);
  }
  Scene again(options);
  EXPECT_EQ(*again.head(url), "304");
  EXPECT_EQ(*again.body(url), body);
}

TEST(DiskReclaim, DropsANewerHeadWithItsBody) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  fill(scene, 0, 3);
  const Key key = key_for(url_number(1));
  const auto place = scene->catalog().index.find(key);
  fill(scene, 10, 100);  // so that the head lies in a later segment
  ASSERT_TRUE(scene.append(
      {.header = {.kind = RecordKind::head, .key = key, .version = to_number(place->at)},
       .url = url_number(1),
       .head = "304",
       .replaces = place->at}));
  while (scene->catalog().counters.reclaimed == 0) fill(scene, 200, 10);
  EXPECT_FALSE(scene->catalog().index.find(key));
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(again.body(url_number(1)).error(), Error::gone);
}

TEST(DiskReclaim, AReaderOfAReclaimedSegmentIsToldSo) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  const std::string url = url_number(0);
  ASSERT_TRUE(scene.append(response(url, body_text(url, 30'000))));
  const auto place = scene->catalog().index.find(key_for(url));
  const auto stored = scene->open(key_for(url), *place, Wait::yes);
  ASSERT_TRUE(stored);
  fill(scene, 1, 400);
  std::vector<std::uint8_t> body(stored->body_bytes());
  const std::span<std::uint8_t> into(body);
  EXPECT_EQ(scene->read_body(*stored, {&into, 1}, Wait::yes).error(), Error::gone);
  EXPECT_EQ(scene->open(key_for(url), *place, Wait::yes).error(), Error::gone);
  EXPECT_EQ(scene->catalog().counters.corrupt, 0U);
}

// Whatever was appended, replaced, used and purged, only the newest record of a key is found, now
// and after a start.
TEST(DiskReclaim, NeverFindsAnythingButTheNewest) {
  const TemporaryDirectory directory;
  std::map<std::string, std::string> newest;  // empty: purged
  std::mt19937 random(2);
  int edition = 0;
  for (int start = 0; start < 5; ++start) {
    Scene scene(directory.path());
    for (int step = 0; step < 800; ++step) {
      const std::string url = url_number(random() % 150);
      if (random() % 10 == 0) {
        ASSERT_TRUE(scene.purge(key_for(url)));
        newest[url].clear();
      } else if (random() % 2 == 0) {
        newest[url] = body_text(url, 1 + random() % 6000, ++edition);
        ASSERT_TRUE(scene.append(response(url, newest[url])));
      } else if (const auto found = scene.body(url)) {
        ASSERT_EQ(*found, newest[url]);
      }
    }
    for (const auto& [url, body] : newest) {
      const auto found = scene.body(url);
      EXPECT_EQ(found ? *found : body, body);
    }
    EXPECT_EQ(scene->catalog().counters.corrupt, 0U);
    EXPECT_GT(scene->catalog().index.entries(), 50U);
  }
}

// Each call tells the writer's watch that the disk does not hang (in_steps() in writer.cpp).
TEST(DiskReclaim, AsksWhetherToKeepEachEntryEvenWithoutRoom) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  std::map<Key, int> asked;
  options.log.keep = [&asked](const Key& key, const Location&) { return ++asked[key] > 0; };
  Alone alone(options);
  std::uint64_t in_first = 0;
  for (std::uint64_t i = 0; alone.counters.reclaimed == 0; ++i) {
    if (alone.segments.count() <= 1) in_first = i;
    ASSERT_TRUE(alone.log.append(response(url_number(i), body_text(url_number(i), 4000))));
  }
  EXPECT_GE(asked.size(), in_first);
  EXPECT_GT(alone.counters.evicted, 0U) << "there was no room for all";
}

}  // namespace
}  // namespace proxy::cache::disk
