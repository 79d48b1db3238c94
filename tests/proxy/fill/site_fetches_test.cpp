#include "proxy/fill/site_fetches.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace proxy::fill {
namespace {

using namespace std::chrono_literals;

const SiteFetches::Time kAsked{1000s};

digest::Key site_key(int number) {
  return digest::key_of(digest::Method::get, "http://a/" + std::to_string(number));
}

TEST(SiteFetches, NameTheFirstAskerUntilItsTimeIsOver) {
  const auto fetches = std::make_unique<SiteFetches>();
  EXPECT_EQ(fetches->fetcher_of(site_key(1), kAsked), std::nullopt);
  EXPECT_EQ(fetches->enter(site_key(1), 7, kAsked), 7U);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + 900ms), 7U);
  EXPECT_EQ(fetches->fetcher_of(site_key(1), kAsked + 900ms), 7U);
  EXPECT_EQ(fetches->fetcher_of(site_key(2), kAsked + 900ms), std::nullopt);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + SiteFetches::kKept), 8U);
}

// The response that the first one fetched may be stale by then, here and there. The second one asks
// for it in vain and fetches it, and the third one asks the second.
TEST(SiteFetches, NameTheNextAskerOnceAFetchHasMostlyEnded) {
  const auto fetches = std::make_unique<SiteFetches>();
  fetches->enter(site_key(1), 7, kAsked);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + 2s), 7U) << "a long fetch may go on";
  EXPECT_EQ(fetches->enter(site_key(1), 9, kAsked + 2s), 8U);
  EXPECT_EQ(fetches->enter(site_key(1), 7, kAsked + 2900ms), 8U);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + 4s), 8U) << "it fetches again";
  EXPECT_EQ(fetches->enter(site_key(1), 9, kAsked + 4900ms), 8U) << "since the fourth second";
}

TEST(SiteFetches, PassToTheFirstAskerThatHasGivenTheFetcherUp) {
  const auto fetches = std::make_unique<SiteFetches>();
  fetches->enter(site_key(1), 7, kAsked);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked, {6}), 7U) << "another one is given up";
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked, {6, 7}), 8U);
  EXPECT_EQ(fetches->enter(site_key(1), 9, kAsked, {7}), 8U) << "that one is in its place";
  EXPECT_EQ(fetches->enter(site_key(1), 7, kAsked), 8U);
  EXPECT_EQ(fetches->fetcher_of(site_key(1), kAsked + SiteFetches::kKept - 1s), 8U);
}

TEST(SiteFetches, MayForgetAFetchButNeverMistakeItForAnother) {
  const auto fetches = std::make_unique<SiteFetches>();
  constexpr int kKeys = 3 * SiteFetches::kMost;
  for (int i = 0; i < kKeys; ++i) fetches->enter(site_key(i), static_cast<peers::Epoch>(i), kAsked);
  std::size_t known = 0;
  for (int i = 0; i < kKeys; ++i) {
    const auto fetcher = fetches->fetcher_of(site_key(i), kAsked);
    if (!fetcher) continue;
    EXPECT_EQ(*fetcher, static_cast<peers::Epoch>(i));
    ++known;
  }
  EXPECT_LE(known, SiteFetches::kMost);
  EXPECT_GT(known, SiteFetches::kMost / 2);
}

struct Answers {
  const char* claim;
  std::string answers;  // of one path, in their order: 's' could be shared, 'u' could not
  bool unshared;
};

TEST(UnsharedPaths, AreThoseWhoseLatestAnswersMostlyCouldNotBeShared) {
  for (const auto& [claim, answers, unshared] :
       {Answers{"nothing is known", "", false}, Answers{"two answers are too few", "uu", false},
        Answers{"three are enough", "uuu", true},
        Answers{"one among many that could be shared", "ssssssssusssss", false},
        Answers{"a few in turn", "usususususus", false},
        Answers{"one that could be shared among many", "uuuuuuuus", true},
        Answers{"the path has changed", "uuuuuuuuss", false},
        Answers{"it had shared before", "ssssssssuuuuuuu", true},
        Answers{"and had so lately", "ssssssssuuuuuu", false}}) {
    UnsharedPaths paths;
    int number = 0;
    for (const char one : answers) {
      const auto url = "http://a.test/news/" + std::to_string(++number);
      const auto answer =
          one == 's' ? UnsharedPaths::Answer::shared : UnsharedPaths::Answer::unshared;
      paths.record(url, answer, kAsked);
    }
    EXPECT_EQ(paths.has("http://a.test/news/next", kAsked), unshared) << claim;
  }
}

UnsharedPaths& learn(UnsharedPaths& paths, const std::string& url) {
  for (int i = 0; i < 3; ++i) paths.record(url, UnsharedPaths::Answer::unshared, kAsked);
  return paths;
}

TEST(UnsharedPaths, AreFoldersOrWhatAQueryIsSentTo) {
  UnsharedPaths paths;
  learn(paths, "http://a.test/folder/one");
  EXPECT_TRUE(paths.has("http://a.test/folder/two", kAsked));
  EXPECT_FALSE(paths.has("http://a.test/folder/below/two", kAsked));
  EXPECT_FALSE(paths.has("http://b.test/folder/two", kAsked));
  learn(paths, "http://a.test/search?q=/a");
  EXPECT_TRUE(paths.has("http://a.test/search?q=b", kAsked));
  EXPECT_FALSE(paths.has("http://a.test/found?q=b", kAsked));
  EXPECT_FALSE(paths.has("http://a.test/one", kAsked));
}

TEST(UnsharedPaths, AreForgottenAfterAWhileAndIfThereAreTooMany) {
  UnsharedPaths paths;
  learn(paths, "http://a.test/one");
  EXPECT_TRUE(paths.has("http://a.test/one", kAsked + UnsharedPaths::kKept - 1ms));
  EXPECT_FALSE(paths.has("http://a.test/one", kAsked + UnsharedPaths::kKept));
  for (std::size_t i = 0; i < UnsharedPaths::kMost; ++i)
    learn(paths, "http://a.test/" + std::to_string(i) + "/");
  EXPECT_FALSE(paths.has("http://a.test/one", kAsked));
}

}  // namespace
}  // namespace proxy::fill
