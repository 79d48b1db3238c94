#include "proxy/cache/disk/disk.hpp"

#include <atomic>

#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::await;
using support::TemporaryDirectory;

TEST(Disk, GivesBackWhatWasAppended) {
  const TemporaryDirectory directory;
  Scene scene(directory / "cache");
  NewRecord record = response("http://test.example/", "hello, world");
  record.header.flags = 7;
  record.header.claimable_until = 4'000'000'000;
  record.header.response_time = 1'700'000'000'123;
  record.header.request_took = 42;
  ASSERT_TRUE(scene.append(record));
  const auto place = scene->find(record.header.key, record.url);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->kind, RecordKind::whole);
  const auto stored = scene->open(record.header.key, *place, Wait::yes);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->url(), "http://test.example/");
  EXPECT_EQ(stored->head(), "200 OK");
  EXPECT_EQ(stored->header().flags, 7);
  EXPECT_EQ(stored->header().claimable_until, 4'000'000'000);
  EXPECT_EQ(stored->header().response_time, 1'700'000'000'123);
  EXPECT_EQ(stored->header().request_took, 42);
  EXPECT_EQ(*scene.body("http://test.example/"), "hello, world");
}

// Sizes around that of the first read, and around that of the pieces into which a body is read.
TEST(Disk, ReadsBodiesOfAllSizesIntoPieces) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (const std::size_t size : {0, 1, 4096, 16266, 16284, 16285, 16300, 16384, 20000, 30000}) {
    const std::string url = url_number(size);
    const std::string body = body_text(url, size);
    ASSERT_TRUE(scene.append(response(url, body)));
    const auto place = scene->find(key_for(url), url);
    const auto stored = scene->open(key_for(url), *place, Wait::yes);
    ASSERT_TRUE(stored) << size;
    std::string read(size, '\0');
    auto* bytes = reinterpret_cast<std::uint8_t*>(read.data());
    const std::size_t half = size / 2;
    const std::span<std::uint8_t> pieces[] = {{bytes, half}, {bytes + half, size - half}};
    ASSERT_TRUE(scene->read_body(*stored, pieces, Wait::yes)) << size;
    EXPECT_EQ(read, body);
  }
}

TEST(Disk, ReadsALongHeadInFull) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  NewRecord record = response(url_number(1), "body");
  record.head = body_text("head", 25'000);
  ASSERT_TRUE(scene.append(record));
  EXPECT_EQ(*scene.head(url_number(1)), record.head);
  EXPECT_EQ(*scene.body(url_number(1)), "body");
}

TEST(Disk, ReadsFromThePageCacheWithoutWaiting) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), body_text("x", 30'000))));
  const auto place = scene->find(key_for(url_number(1)), url_number(1));
  const auto stored = scene->open(key_for(url_number(1)), *place, Wait::no);
  // On a file system that cannot tell, the error is would_block and no other.
  if (!stored) {
    EXPECT_EQ(stored.error(), Error::would_block);
    return;
  }
  EXPECT_EQ(stored->body_bytes(), 30'000U);
}

TEST(Disk, TheNewestRecordOfAKeyCounts) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (int edition = 1; edition <= 3; ++edition) {
    ASSERT_TRUE(scene.append(response(url_number(1), "edition " + std::to_string(edition))));
  }
  EXPECT_EQ(*scene.body(url_number(1)), "edition 3");
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.body(url_number(1)), "edition 3");
  EXPECT_EQ(again.loaded.entries, 1U);
}

TEST(Disk, HoldsBlocksOfALargeObjectByVersionAndNumber) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  const std::string url = url_number(1);
  const Key key = key_for(url);
  const std::uint64_t version = scene->new_version();
  EXPECT_NE(version, scene->new_version());
  NewRecord object = response(url, "");
  object.header.kind = RecordKind::object;
  object.header.version = version;
  ASSERT_TRUE(scene.append(object));
  for (std::uint32_t number = 0; number < 3; ++number) {
    NewRecord block{
        .header = {.kind = RecordKind::block, .key = key, .version = version, .block = number},
        .url = url,
        .head = "",
        .body = body_of("block " + std::to_string(number))};
    ASSERT_TRUE(scene.append(std::move(block)));
  }
  EXPECT_EQ(*scene.body(block_key(key, version, 2), url), "block 2");
  EXPECT_EQ(scene.body(block_key(key, version, 3), url).error(), Error::gone);
  EXPECT_EQ(scene.body(block_key(key, version + 1, 2), url).error(), Error::gone);
  EXPECT_EQ(*scene.head(url), "200 OK");
}

NewRecord newer_head(Scene& scene, const std::string& url, std::string head) {
  const auto place = scene->find(key_for(url), url);
  const auto stored = scene->open(key_for(url), *place, Wait::yes);
  return {.header = {.kind = RecordKind::head,
                     .key = key_for(url),
                     .version = to_number(stored->body_at())},
          .url = url,
          .head = std::move(head),
          .replaces = place->at};
}

TEST(Disk, AppendsANewerHeadWithoutTheBody) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  const std::string url = url_number(1);
  const std::string body = body_text(url, 20'000);
  ASSERT_TRUE(scene.append(response(url, body)));
  const auto before = scene->catalog().counters.stored_bytes.load();
  ASSERT_TRUE(scene.append(newer_head(scene, url, "first")));
  ASSERT_TRUE(scene.append(newer_head(scene, url, "second")));
  EXPECT_LT(scene->catalog().counters.stored_bytes - before, 1000U);
  EXPECT_EQ(*scene.head(url), "second");
  EXPECT_EQ(*scene.body(url), body);
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.head(url), "second");
  EXPECT_EQ(*again.body(url), body);
}

TEST(Disk, ANewerHeadOfAReplacedEntryDoesNotCount) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  const std::string url = url_number(1);
  ASSERT_TRUE(scene.append(response(url, "old")));
  const NewRecord late = newer_head(scene, url, "late");
  ASSERT_TRUE(scene.append(response(url, "new")));
  EXPECT_EQ(scene.append(late).error(), Error::gone);
  ASSERT_TRUE(scene.purge(key_for(url)));
  EXPECT_EQ(scene.append(late).error(), Error::gone);
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(again.body(url).error(), Error::gone);
}

TEST(Disk, APurgeRemovesEarlierEntriesAndNoLaterOnes) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  ASSERT_TRUE(scene.append(response(url_number(2), "two")));
  ASSERT_TRUE(scene.purge(key_for(url_number(1))));
  ASSERT_TRUE(scene.purge(key_for(url_number(2))));
  ASSERT_TRUE(scene.append(response(url_number(2), "two again")));
  EXPECT_EQ(scene.body(url_number(1)).error(), Error::gone);
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(again.body(url_number(1)).error(), Error::gone);
  EXPECT_EQ(*again.body(url_number(2)), "two again");
}

TEST(Disk, FindsNoEntryWhosePurgeIsQueued) {
  const support::TemporaryDirectory directory;
  Scene disk(directory.path());
  Halt first, before, written;
  ASSERT_TRUE(disk->append(first.at(response("http://first/", "1"))));
  first.await();  // so that the next two are written together
  ASSERT_TRUE(disk->append(before.at(response("http://before/", "1"))));
  ASSERT_TRUE(disk->append(written.at(response("http://a/", "old"))));
  first.release();
  before.await();
  disk->purge(key_for("http://a/"), {});
  before.release();
  written.await();
  const auto place = disk->catalog().index.find(key_for("http://a/"));
  ASSERT_TRUE(place);  // it was added to the index after the purge had erased the key
  EXPECT_FALSE(disk->find(key_for("http://a/"), "http://a/"));
  EXPECT_FALSE(disk->holds(key_for("http://a/"), "http://a/", place->at));
  written.release();
  ASSERT_TRUE(disk->queue().settle(kPatience));
  EXPECT_EQ(disk.body("http://a/").error(), Error::gone);
  EXPECT_TRUE(disk.append(response("http://a/", "new")));
  EXPECT_EQ(disk.body("http://a/").value(), "new");
}

// As while the disk hangs: the queue stays bounded, and no purged entry is found, now or later.
TEST(Disk, MorePurgesThanMayWaitPurgeEverything) {
  const support::TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.queue_bytes = 2'500;
  {
    Scene disk(options);
    ASSERT_TRUE(disk.append(response(url_number(1), "1")));
    ASSERT_TRUE(disk.append(response(url_number(2), "2")));
    Halt halt;
    ASSERT_TRUE(disk->append(halt.at(response("http://first/", "1"))));
    halt.await();
    std::atomic<int> refused = 0;
    for (std::uint64_t i = 10; i < 1'000; ++i) {
      disk->purge(key_for(url_number(i)), [&](Result<void> done) { refused += done ? 0 : 1; });
      EXPECT_TRUE(disk->purge_prefix("http://other/", {}));
    }
    EXPECT_LE(disk->queue().bytes(), 8 * options.queue_bytes);
    EXPECT_GT(refused, 900);
    EXPECT_FALSE(disk->find(key_for(url_number(2)), url_number(2))) << "which of them is unknown";
    halt.release();
    ASSERT_TRUE(disk->queue().settle(kPatience));
    ASSERT_TRUE(disk.append(response(url_number(3), "3")));
    EXPECT_EQ(disk.body(url_number(3)).value(), "3");
  }
  Scene again(options);
  EXPECT_FALSE(again.body(url_number(2)));
  EXPECT_EQ(again.body(url_number(3)).value(), "3");
}

TEST(Disk, AReplacedEntryStaysGoneIfItsSuccessorFails) {
  const support::TemporaryDirectory directory;
  {
    Scene disk(directory.path());
    ASSERT_TRUE(disk.append(response("http://a/", "old")));
    ASSERT_TRUE(disk->replace(response("http://a/", std::string(70'000, 'x'))));  // too large
    ASSERT_TRUE(disk->queue().settle(kPatience));
  }
  EXPECT_EQ(Scene(directory.path()).body("http://a/").error(), Error::gone);
}

TEST(Disk, AnOlderHeadStaysGoneIfTheNewerOneFails) {
  const TemporaryDirectory directory;
  {
    Scene scene(directory.path());
    ASSERT_TRUE(scene.append(response("http://a/", "body")));
    NewRecord head = newer_head(scene, "http://a/", std::string(70'000, 'x'));  // too large
    ASSERT_TRUE(scene->freshen(std::move(head)));
    ASSERT_TRUE(scene->queue().settle(kPatience));
    EXPECT_FALSE(scene.head("http://a/"));
  }
  EXPECT_EQ(Scene(directory.path()).body("http://a/").error(), Error::gone);
}

TEST(Disk, APurgeByPrefixActsAtOnceThenFindsItsEntries) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (const char* url : {"http://a.example/1", "http://a.example/2", "http://b.example/1"}) {
    ASSERT_TRUE(scene.append(response(url, url)));
  }
  ASSERT_TRUE(scene->purge_prefix("http://a.example/", {}));
  EXPECT_EQ(scene.body("http://a.example/1").error(), Error::gone);
  EXPECT_EQ(*scene.body("http://b.example/1"), "http://b.example/1");
  ASSERT_TRUE(scene->queue().settle(kPatience));
  EXPECT_EQ(scene->catalog().index.entries(), 1U);
  EXPECT_EQ(scene->catalog().counters.purged, 2U);
  ASSERT_TRUE(scene.append(response("http://a.example/1", "later")));
  EXPECT_EQ(*scene.body("http://a.example/1"), "later");
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.body("http://a.example/1"), "later");
  EXPECT_EQ(again.body("http://a.example/2").error(), Error::gone);
  EXPECT_EQ(*again.body("http://b.example/1"), "http://b.example/1");
}

TEST(Disk, LocksASecondUserOut) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  Disk second(running_clock(), small_options(directory.path()), digest::unpredictable());
  const auto started = second.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), Error::in_use);
  scene.stop();
  EXPECT_TRUE(second.start());
}

TEST(Disk, RefusesASizeThatHoldsNothing) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.bytes = 10'000;
  Disk disk(running_clock(), options, digest::unpredictable());
  EXPECT_EQ(disk.start().error(), Error::too_small);
}

TEST(Disk, RefusesARecordThatNoSegmentHasRoomFor) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  EXPECT_EQ(scene.append(response(url_number(1), body_text("x", 64 * 1024))).error(),
            Error::too_large);
  EXPECT_TRUE(scene->state().working);
}

TEST(Disk, RefusesMoreThanItsQueueHolds) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.queue_bytes = 500;
  Scene scene(options);
  Halt halt;
  ASSERT_TRUE(scene->append(halt.at(response("http://first/", "1"))));
  halt.await();
  EXPECT_TRUE(scene->append(response(url_number(1), body_text("x", 1000))));
  EXPECT_EQ(scene->append(response(url_number(2), body_text("x", 1500))).error(), Error::busy);
  EXPECT_EQ(scene->catalog().counters.refused_busy, 1U);
  auto object = response(url_number(3), "");
  object.header = {.kind = RecordKind::object, .key = object.header.key, .version = 7, .block = 1};
  object.body = {};
  object.head = std::string(1500, ' ');
  EXPECT_TRUE(scene->append(object)) << "its blocks would be lost with it";
  halt.release();
  ASSERT_TRUE(scene->queue().settle(kPatience));
  EXPECT_EQ(scene->queue().bytes(), 0U);
  EXPECT_TRUE(scene.append(response(url_number(4), body_text("x", 5000)))) << "alone";
}

// A write that takes long shows that the disk is slow now, though it was fast before.
TEST(Disk, AcceptsOnlyRecordsThatItWritesSoon) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.bytes = std::uint64_t{64} << 20;
  options.log.segment_bytes = std::uint32_t{4} << 20;
  Scene scene(options);
  const auto large = response(url_number(1), body_text("x", 1'500'000));
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(scene.append(large));
  Halt halt;
  ASSERT_TRUE(scene->append(halt.at(response("http://first/", "1"))));
  halt.await();
  ASSERT_TRUE(scene->append(large));
  EXPECT_TRUE(await([&] { return !scene->append(response(url_number(2), "2")); }));
  EXPECT_GT(scene->catalog().counters.refused_busy, 0U);
  const auto place = scene->find(key_for(url_number(1)), {});
  ASSERT_TRUE(place);
  EXPECT_TRUE(scene->freshen({.header = {.kind = RecordKind::head,
                                         .key = key_for(url_number(1)),
                                         .version = to_number(place->at)},
                              .url = url_number(1),
                              .head = "200 fresh"}))
      << "or what is written of it would be lost";
  std::promise<void> taken;
  EXPECT_EQ(scene->queue().when_taken(options.queue_bytes, [&] { taken.set_value(); }),
            WriteQueue::Notice::follows);
  EXPECT_TRUE(scene->purge_prefix("http://other/", {})) << "which is never refused for that";
  halt.release();
  EXPECT_EQ(taken.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(scene->queue().settle(kPatience));
}

TEST(Disk, TellsWhenItsQueueHasDrained) {
  const TemporaryDirectory directory;
  Scene disk(directory.path());
  std::promise<void> taken;
  const auto told = [&] { taken.set_value(); };
  EXPECT_EQ(disk->queue().when_taken(0, told), WriteQueue::Notice::none) << "nothing waits";
  Halt halt;
  ASSERT_TRUE(disk->append(halt.at(response("http://first/", "1"))));
  halt.await();
  ASSERT_TRUE(disk->append(response(url_number(1), body_text("x", 20'000))));
  EXPECT_EQ(disk->queue().when_taken(30'000, told), WriteQueue::Notice::none) << "little does";
  EXPECT_EQ(disk->queue().when_taken(10'000, told), WriteQueue::Notice::follows);
  auto waiting = taken.get_future();
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  halt.release();
  EXPECT_EQ(waiting.wait_for(kPatience), std::future_status::ready);
}

TEST(Disk, WritesItsQueueBeforeItEnds) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(scene->append(response(url_number(i), body_text(url_number(i), 1000))));
  }
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(again.loaded.entries, 100U);
  EXPECT_EQ(again.loaded.replayed, 0U);
  EXPECT_EQ(*again.body(url_number(99)), body_text(url_number(99), 1000));
}

}  // namespace
}  // namespace proxy::cache::disk
