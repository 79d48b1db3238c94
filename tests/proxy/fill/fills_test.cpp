#include "proxy/fill/fills.hpp"

#include <gtest/gtest.h>

namespace proxy::fill {
namespace {

using namespace std::chrono_literals;
using Turn = Fills::Turn;

const Fills::Time kNow{1000s};
const std::string kUrl = "http://a/x";
const auto kKey = digest::key_of(digest::Method::get, kUrl);

struct FillsScene {
  boost::asio::io_context io{1};
  Fills fills;

  Fills::Entered enter(Fills::Time now = kNow, const std::string& url = kUrl) {
    return fills.enter(kKey, url, io.get_executor(), now);
  }
};

TEST(Fills, TheFirstFetchesAndTheOthersJoin) {
  FillsScene scene;
  const auto first = scene.enter();
  EXPECT_EQ(first.turn, Turn::first);
  EXPECT_EQ(first.fill->url(), kUrl);
  const auto second = scene.enter();
  EXPECT_EQ(second.turn, Turn::join);
  EXPECT_EQ(second.fill, first.fill);
}

TEST(Fills, AKeyThatCollidesIsFetchedAlone) {
  FillsScene scene;
  const auto first = scene.enter();
  const auto other = scene.enter(kNow, "http://b/y");
  EXPECT_EQ(other.turn, Turn::alone);
  EXPECT_NE(other.fill, first.fill);
  EXPECT_EQ(other.fill->url(), "http://b/y");
}

TEST(Fills, AfterAFillHasLeftTheNextIsFirstAgain) {
  FillsScene scene;
  const auto old = scene.enter().fill;
  scene.fills.leave(kKey, *old);
  const auto next = scene.enter();
  EXPECT_EQ(next.turn, Turn::first);
  scene.fills.leave(kKey, *old);
  EXPECT_EQ(scene.enter().fill, next.fill) << "who has left cannot make another one leave";
}

TEST(Fills, AFillThatDoesNotAnswerGivesWayToOneForAllWhomItDoesNotAnswer) {
  FillsScene scene;
  const auto enter_after = [&](const Fill& unfit) {
    return scene.fills.enter(kKey, kUrl, scene.io.get_executor(), kNow, &unfit);
  };
  const auto old = scene.enter().fill;
  const auto next = enter_after(*old);
  EXPECT_EQ(next.turn, Turn::first);
  EXPECT_NE(next.fill, old);
  EXPECT_TRUE(next.fill->was_listed());
  EXPECT_EQ(enter_after(*old).fill, next.fill) << "which joins it";
  EXPECT_EQ(scene.enter().fill, next.fill);
  scene.fills.leave(kKey, *old);
  EXPECT_EQ(scene.enter().turn, Turn::join);
  scene.fills.leave(kKey, *next.fill);
  EXPECT_EQ(enter_after(*next.fill).turn, Turn::first);
}

TEST(Fills, AnUnsharedUrlIsNotAwaitedForAWhile) {
  FillsScene scene;
  scene.fills.leave_unshared(kKey, *scene.enter().fill, kNow);
  const auto one = scene.enter(kNow + Fills::kNotShared - 1ms);
  const auto two = scene.enter(kNow + Fills::kNotShared - 1ms);
  EXPECT_TRUE(scene.fills.recently_unshared(kKey, kNow + Fills::kNotShared - 1ms));
  EXPECT_FALSE(scene.fills.recently_unshared(kKey, kNow + Fills::kNotShared));
  EXPECT_EQ(one.turn, Turn::alone);
  EXPECT_EQ(two.turn, Turn::alone);
  EXPECT_NE(one.fill, two.fill);
  EXPECT_EQ(scene.enter(kNow + Fills::kNotShared).turn, Turn::first);
}

TEST(Fills, AnUnsharedResponseWithoutAFillCountsLikewise) {
  FillsScene scene;
  scene.fills.record_unshared(kKey, kNow);
  EXPECT_TRUE(scene.fills.recently_unshared(kKey, kNow + Fills::kNotShared - 1ms));
  EXPECT_FALSE(scene.fills.recently_unshared(kKey, kNow + Fills::kNotShared));
  EXPECT_EQ(scene.enter().turn, Turn::alone);
}

TEST(Fills, AnInvalidationLeavesAFillToItsReaders) {
  FillsScene scene;
  const auto old = scene.enter().fill;
  scene.fills.invalidate(kKey, kNow);
  const auto next = scene.enter();
  EXPECT_EQ(next.turn, Turn::first);
  EXPECT_NE(next.fill, old);
  EXPECT_TRUE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated - 1ms));
  EXPECT_FALSE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated));
}

TEST(Fills, ARequestFromBeforeAnInvalidationStaysOutdated) {
  FillsScene scene;
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow));
  scene.fills.invalidate(kKey, kNow);
  EXPECT_TRUE(scene.fills.outdated(kKey, kUrl, kNow - 1h));
  EXPECT_TRUE(scene.fills.outdated(kKey, kUrl, kNow));
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow + Fills::Time::duration(1)));
}

TEST(Fills, APurgeOfManyUrlsInvalidatesEachThatItCovers) {
  FillsScene scene;
  const auto old = scene.enter().fill;
  const std::string other = "http://b/x";
  const auto other_key = digest::key_of(digest::Method::get, other);
  const auto elsewhere = scene.fills.enter(other_key, other, scene.io.get_executor(), kNow).fill;
  scene.fills.invalidate(cache::PurgePattern("http://a/"), kNow);
  EXPECT_EQ(scene.enter().turn, Turn::first);
  EXPECT_EQ(scene.fills.enter(other_key, other, scene.io.get_executor(), kNow).fill, elsewhere);
  EXPECT_TRUE(scene.fills.outdated(kKey, kUrl, kNow - 1h));
  EXPECT_TRUE(scene.fills.outdated(kKey, kUrl, kNow));
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow + Fills::Time::duration(1)));
  EXPECT_FALSE(scene.fills.outdated(other_key, other, kNow - 1h));
  EXPECT_TRUE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated - 1ms));
  EXPECT_FALSE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated));
  EXPECT_FALSE(scene.fills.recently_invalidated(other_key, other, kNow));
}

TEST(Fills, APurgeOfAGiverOutdatesWhatItGaveAndNothingElse) {
  FillsScene scene;
  scene.fills.invalidate(cache::PurgePattern(cache::Giver{7}), kNow);
  EXPECT_TRUE(scene.fills.outdated(kKey, kUrl, kNow, 7));
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow + Fills::Time::duration(1), 7));
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow, 8));
  EXPECT_FALSE(scene.fills.outdated(kKey, kUrl, kNow));
  EXPECT_FALSE(scene.fills.recently_invalidated(kKey, kUrl, kNow)) << "others may be asked";
}

// Otherwise a neighbour would be asked for a purged URL once enough others have been purged.
TEST(Fills, EveryInvalidationIsKnownForAMinuteHoweverMany) {
  FillsScene scene;
  scene.fills.invalidate(kKey, kNow);
  for (int i = 0; i < 100'000; ++i) {
    const std::string url = kUrl + std::to_string(i);
    scene.fills.invalidate(digest::key_of(digest::Method::get, url), kNow + 1s);
  }
  EXPECT_TRUE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated - 1ms));
  EXPECT_FALSE(scene.fills.recently_invalidated(kKey, kUrl, kNow + Fills::kInvalidated + 1s));
}

TEST(Fills, OfOneKeyOneRefreshRunsAtATime) {  // RFC 5861 3
  FillsScene scene;
  const auto refresh = [&] {
    return scene.fills.begin_refresh(kKey, kUrl, scene.io.get_executor());
  };
  const auto first = refresh();
  ASSERT_TRUE(first);
  EXPECT_FALSE(refresh());
  EXPECT_EQ(scene.enter().fill, first) << "who may not have it stale joins";
  scene.fills.leave_unshared(kKey, *first, kNow);
  EXPECT_FALSE(refresh()) << "it still runs";
  scene.fills.end_refresh(kKey);
  EXPECT_TRUE(refresh()) << "and also where nobody waits for each other";
}

TEST(Fills, AKeyThatIsBeingFetchedIsNotRefreshed) {
  FillsScene scene;
  const auto fetched = scene.enter().fill;
  EXPECT_FALSE(scene.fills.begin_refresh(kKey, kUrl, scene.io.get_executor()));
  scene.fills.leave(kKey, *fetched);
  EXPECT_TRUE(scene.fills.begin_refresh(kKey, kUrl, scene.io.get_executor()));
}

TEST(Fills, RefreshesAreBounded) {
  FillsScene scene;
  std::size_t running = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string url = kUrl + std::to_string(i);
    const auto key = digest::key_of(digest::Method::get, url);
    if (scene.fills.begin_refresh(key, url, scene.io.get_executor())) ++running;
  }
  EXPECT_EQ(running, 16 * Fills::kMostRefreshes);
}

}  // namespace
}  // namespace proxy::fill
