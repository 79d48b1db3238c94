// The search for entries that purges by prefix cover: its steps, its records, its bounds, and the
// claims meanwhile.
#include "no_space.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::TemporaryDirectory;

constexpr std::uint32_t kLongFromNow = 4'000'000'000;

void ban(Alone& alone, const std::string& prefix) {
  ASSERT_EQ(alone.rules.add(prefix), PurgeRules::Added::yes);
  ASSERT_TRUE(
      alone.log.append({.header = {.kind = RecordKind::purge_prefix}, .url = prefix, .head = {}}));
  ASSERT_TRUE(alone.log.flush());
}

void search_all(Alone& alone) {
  for (auto more = alone.log.search_purged(); *more;) more = alone.log.search_purged();
}

bool finds(const Alone& alone, const std::string& url) {
  const auto place = alone.index.find(key_for(url));
  return place && !alone.rules.purged(url, place->at);
}

void append_some(Alone& alone, std::uint64_t count, std::size_t bytes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(alone.log.append(response(url_number(i), body_text("x", bytes))));
  }
}

void store_fifty_and_ban_eleven(Alone& alone) {
  append_some(alone, 50, 4000);
  ban(alone, url_number(1));  // it is a prefix of ten other URLs, too
}

// How many of the first `count` URLs are found.
std::size_t found_of(const Alone& alone, std::uint64_t count) {
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < count; ++i) found += finds(alone, url_number(i)) ? 1 : 0;
  return found;
}

TEST(DiskSearch, IsNotRepeatedOnceItIsComplete) {
  const TemporaryDirectory directory;
  {
    Alone alone(small_options(directory.path()));
    store_fifty_and_ban_eleven(alone);
    search_all(alone);
    EXPECT_EQ(alone.index.entries(), 39U);
    EXPECT_EQ(alone.counters.purged, 11U);
  }  // as a crash leaves it
  Alone again(small_options(directory.path()));
  EXPECT_EQ(again.rules.count(), 0U);
  EXPECT_EQ(again.index.entries(), 39U);
  EXPECT_FALSE(finds(again, url_number(10)));
  EXPECT_TRUE(finds(again, url_number(20)));
}

TEST(DiskSearch, IsRepeatedIfItWasNotComplete) {
  const TemporaryDirectory directory;
  {
    Alone alone(small_options(directory.path()));
    append_some(alone, 1000, 10);
    ban(alone, url_number(9));  // and of 110 others, in all segments
    ASSERT_TRUE(*alone.log.search_purged());
  }
  Alone again(small_options(directory.path()));
  EXPECT_EQ(again.rules.count(), 1U);
  EXPECT_LT(again.index.entries(), 1000U);
  EXPECT_EQ(found_of(again, 1000), 889U);
  search_all(again);
  EXPECT_EQ(again.index.entries(), 889U);
}

// Even of one segment: records that are stored meanwhile wait for the step to end.
TEST(DiskSearch, ReadsFewEntriesInAStep) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.bytes = 16 << 20;
  options.log.segment_bytes = 1 << 20;
  Alone alone(options);
  append_some(alone, 3000, 10);
  ban(alone, "");
  for (std::uint64_t left = 3000; left > 0;) {
    ASSERT_TRUE(alone.log.search_purged());
    ASSERT_LT(alone.index.entries(), left);
    ASSERT_LE(left - alone.index.entries(), Step::kEntries);
    left = alone.index.entries();
  }
  search_all(alone);
  EXPECT_EQ(alone.rules.count(), 0U);
}

// Reclaims segments that the search has passed, that it is in, and that it has not reached.
TEST(DiskSearch, GoesOnWhileSegmentsAreReclaimed) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.log.keep = [](const Key&, const Location&) { return true; };
  std::uint64_t reclaimed = 0;
  {
    Alone alone(options);
    append_some(alone, 3000, 10);
    ban(alone, url_number(1));  // and of 1110 others
    for (std::uint64_t i = 0; *alone.log.search_purged(); ++i) {
      for (std::uint64_t more = 0; more < 40; ++more) {
        const std::string url = "http://more.example/" + std::to_string(40 * i + more);
        ASSERT_TRUE(alone.log.append(response(url, body_text("x", 4000))));
      }
      EXPECT_LE(found_of(alone, 3000), 1889U);
    }
    reclaimed = alone.counters.reclaimed;
    EXPECT_EQ(alone.rules.count(), 0U);
    EXPECT_GT(found_of(alone, 3000), 0U) << "some were copied";
    EXPECT_EQ(alone.index.find(key_for(url_number(1))), std::nullopt);
  }
  EXPECT_GT(reclaimed, 2U);
  Alone again(options);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    EXPECT_FALSE(url_number(i).starts_with(url_number(1)) && finds(again, url_number(i))) << i;
  }
}

// Otherwise the entries that the record would have listed would be back after the next start.
TEST(DiskSearch, LooksAgainAtEntriesThatItCouldNotRecord) {
  const TemporaryDirectory directory;
  {
    Alone alone(small_options(directory.path()));
    append_some(alone, 1000, 10);
    ban(alone, url_number(9));
    {
      const NoSpace full(100);
      EXPECT_EQ(alone.log.search_purged().error(), Error::no_space);
    }
    search_all(alone);
    EXPECT_EQ(alone.rules.count(), 0U);
    EXPECT_EQ(alone.index.entries(), 889U);
  }
  Alone again(small_options(directory.path()));
  EXPECT_EQ(again.rules.count(), 0U);
  EXPECT_EQ(found_of(again, 1000), 889U);
  EXPECT_EQ(again.index.entries(), 889U);
}

// Otherwise a search would never end if purges came faster than it takes.
TEST(DiskSearch, EndsThoughPurgesGoOn) {
  const TemporaryDirectory directory;
  Alone alone(small_options(directory.path()));
  append_some(alone, 1000, 10);
  std::size_t most = 0;
  for (int i = 0; i < 100; ++i) {
    ban(alone, "http://" + std::to_string(i) + ".example/");
    ASSERT_TRUE(alone.log.search_purged());
    most = std::max(most, alone.rules.count());
  }
  EXPECT_LT(most, 40U);
}

// At a start the rules whose search is not complete stay within their bounds: too many become one
// rule that covers everything.
TEST(DiskSearch, RulesAreBoundedWhenTheyAreLoaded) {
  for (const std::size_t bytes : {10, 10'000}) {
    const TemporaryDirectory directory;
    Options options = small_options(directory.path());
    options.log.bytes = 64 << 20;
    options.log.segment_bytes = 1 << 20;
    {
      Alone alone(options);
      ASSERT_TRUE(alone.log.append(response("http://before.example/", "1")));
      for (std::size_t i = 0; i < PurgeRules::kMost + 9; ++i) {
        const auto text = "http://" + std::to_string(i) + ".example/" + std::string(bytes, 'x');
        ASSERT_TRUE(alone.log.append(
            {.header = {.kind = RecordKind::purge_prefix}, .url = text, .head = {}}));
      }
      ASSERT_TRUE(alone.log.append(response("http://after.example/", "1")));
      ASSERT_TRUE(alone.log.flush());
    }
    Alone again(options);
    EXPECT_LE(again.rules.count(), PurgeRules::kMost);
    EXPECT_LE(again.rules.bytes(), 3 * PurgeRules::kMostBytes);
    EXPECT_FALSE(finds(again, "http://before.example/")) << "none of them covers it";
    EXPECT_TRUE(finds(again, "http://after.example/"));
    search_all(again);
    EXPECT_EQ(again.rules.count(), 0U);
    EXPECT_TRUE(finds(again, "http://after.example/"));
    EXPECT_FALSE(finds(again, "http://before.example/"));
  }
}

// Whatever is copied, reclaimed and read again, whether or not the search was complete.
TEST(DiskSearch, NoRecordOfAPurgeIsReclaimedBeforeWhatItCovers) {
  for (const bool searches : {false, true}) {
    const TemporaryDirectory directory;
    Options options = small_options(directory.path());
    options.log.keep = [](const Key&, const Location&) { return true; };
    std::uint64_t reclaimed = 0;
    {
      Alone alone(options);
      for (std::uint64_t i = 0; i < 20; ++i) {
        const std::string url = "http://old.example/" + std::to_string(i);
        ASSERT_TRUE(alone.log.append(response(url, body_text("x", 4000))));
      }
      ban(alone, "http://old.example/");
      ASSERT_TRUE(alone.log.append(response("http://old.example/new", "1")));
      ASSERT_TRUE(alone.log.flush());
    }
    bool kept = true;
    for (std::uint64_t round = 0; round < 30; ++round) {
      Alone alone(options);
      for (std::uint64_t i = 0; i < 20; ++i) {
        EXPECT_FALSE(finds(alone, "http://old.example/" + std::to_string(i))) << round;
      }
      kept = kept && finds(alone, "http://old.example/new");
      if (round == 2) {
        EXPECT_TRUE(kept);
      }
      for (std::uint64_t i = 0; i < 20; ++i) {
        const std::string url = url_number(100 * round + i);
        ASSERT_TRUE(alone.log.append(response(url, body_text("x", 4000))));
        if (searches && i == 10) search_all(alone);
      }
      ASSERT_TRUE(alone.log.flush());
      reclaimed += alone.counters.reclaimed;
    }
    EXPECT_GT(reclaimed, 16U) << "all of them and more";
  }
}

class ClaimedMeanwhile : public testing::Test {
 protected:
  void store(const std::string& url) {
    NewRecord record = response(url, url);
    record.header.claimable_until = kLongFromNow;
    ASSERT_TRUE(scene_.append(std::move(record)));
  }
  std::vector<digest::Claim> claims() {
    std::vector<digest::Claim> claimed;
    scene_->catalog().index.list_claims(1'800'000'000, claimed);
    return claimed;
  }

  const TemporaryDirectory directory_;
  Scene scene_{directory_.path()};
};

TEST_F(ClaimedMeanwhile, WhatIsAskedForAndPurgedIsNotAnyMore) {
  store("http://a.example/1");
  store("http://b.example/1");
  ASSERT_EQ(claims().size(), 2U);
  Halt halt;
  ASSERT_TRUE(scene_->append(halt.at(response("http://first/", "1"))));
  halt.await();  // so that no search runs
  ASSERT_TRUE(scene_->purge_prefix("http://a.example/", {}));
  EXPECT_EQ(claims().size(), 2U);
  EXPECT_FALSE(scene_->find(key_for("http://a.example/1"), "http://a.example/1"));
  EXPECT_EQ(claims(), std::vector<digest::Claim>{{key_for("http://b.example/1")}});
  halt.release();
}

TEST_F(ClaimedMeanwhile, NothingIsWhileTheSearchHasToWait) {
  store("http://a.example/1");
  store("http://b.example/1");
  {
    const NoSpace full(100);
    EXPECT_FALSE(scene_.purge_prefix("http://a.example/"));
    EXPECT_TRUE(support::await([&] { return claims().empty(); }));
  }
  ASSERT_TRUE(support::await([&] { return claims().size() == 1; }));
  EXPECT_EQ(claims(), std::vector<digest::Claim>{{key_for("http://b.example/1")}});
}

}  // namespace
}  // namespace proxy::cache::disk
