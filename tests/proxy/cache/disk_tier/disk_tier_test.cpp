// Memory and disk together: which entries are found, and which keys are claimed.
#include "proxy/cache/disk_tier/disk_tier.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/proxy/cache/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace proxy::cache {
namespace {

class TwoTiers : public ::testing::Test {
 protected:
  TwoTiers() { EXPECT_TRUE(disk_.start()); }

  static Stock stock_of(const std::string& url, int max_age, Time now) {
    Stock stock;
    stock.url = url;
    stock.lines = "Cache-Control: max-age=" + std::to_string(max_age) + "\r\n";
    stock.body = 2000;
    stock.times = {now, now};
    return stock;
  }
  void put(const Stock& stock) {
    const auto response = kept(entry_of(budget_, stock));
    ASSERT_EQ(store_.put(key_of(stock.url), response, now_), Stored::yes);
    EXPECT_TRUE(disk_.put(key_of(stock.url), response, {}, [] { return true; }));
  }
  void settle() { ASSERT_TRUE(disk_.disk().queue().settle(10s)); }
  Kept read_kept(const std::string& url, const std::string& lines = "") {
    const Request request(lines);
    const auto found = disk_.read({key_of(url), url, request.head.fields}, store_, disk::Wait::yes);
    return found ? Kept{found->entry, found->on_disk} : Kept{};
  }
  Ref<const Entry> read(const std::string& url, const std::string& lines = "") {
    return read_kept(url, lines).entry;
  }

  const support::TemporaryDirectory home_;
  Budget budget_{2 << 20};
  machine::Clock clock_;
  DiskTier disk_{budget_,
                 clock_,
                 {.path = home_.path(), .bytes = 8 << 20},
                 disk::PurgeRules::as_prefix,
                 digest::unpredictable()};
  Store store_{budget_, {}, &disk_.disk().catalog().index};
  Time now_ = std::chrono::floor<seconds>(std::chrono::system_clock::now());
};

TEST_F(TwoTiers, RingForAClaimThatIsNewAndNotForWhatTheDiskClaimsToo) {
  threads::Alarm alarm;
  Store store(budget_, {}, &disk_.disk().catalog().index, &alarm);
  alarm.set();
  const auto response = kept(entry_of(budget_, stock_of("http://a/", 100, now_)));
  EXPECT_EQ(store.put(key_of("http://a/"), response, now_), Stored::yes);
  EXPECT_TRUE(alarm.rang());

  put(stock_of("http://b/", 100, now_));
  settle();
  alarm.set();
  const auto read_again = read_kept("http://b/");
  ASSERT_TRUE(read_again.entry);
  store.adopt(key_of("http://b/"), read_again, now_);
  EXPECT_FALSE(alarm.rang());
}

TEST_F(TwoTiers, DoNotCountAKeyAsGoneThatTheDiskStillHolds) {
  const auto key = key_of("http://a/");
  const auto departed = [&] { return departure(store_.departed(key, "http://a/")); };
  std::vector<digest::Claim> claimed;
  store_.list_claimed(now_, claimed);  // the disk claims nothing before somebody follows its claims
  put(stock_of("http://a/", 100, now_));
  settle();
  EXPECT_EQ(store_.remove(key), 1U);
  EXPECT_EQ(departed(), Departure::none) << "our digest still claims it";
}

TEST_F(TwoTiers, ClaimWhatARuleKeepsForThoseWhoHaveTheRule) {
  Stock ruled = stock_of("http://a/", 0, now_);
  ruled.bounds.least = 1000s;
  ruled.rule = 0x50007;
  const digest::Claim claim{key_of("http://a/"), 7};
  const auto listed = [this] {
    std::vector<digest::Claim> claimed;
    store_.list_claimed(now_, claimed);
    return claimed;
  };
  put(ruled);
  settle();
  EXPECT_EQ(listed(), std::vector{claim}) << "both tiers do";
  store_.remove(claim.key);
  EXPECT_EQ(listed(), std::vector{claim}) << "the disk does alone";
  const auto entry = read("http://a/");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->rule(), 0x50007U);
  put(stock_of("http://a/", 100, now_));
  settle();
  std::vector<KeyChange> changes;
  store_.collect(now_, changes);
  const std::vector<KeyChange> passed{{claim.key, KeyChange::What::added},
                                      {claim.key, KeyChange::What::removed, 7}};
  EXPECT_EQ(changes, passed);
}

TEST_F(TwoTiers, ReadBackWhatWasStored) {
  put(stock_of("http://a/", 100, now_));
  settle();
  const auto entry = read("http://a/");
  ASSERT_TRUE(entry);
  const auto held = store_.find(key_of("http://a/"), "http://a/", {}).entry;
  EXPECT_EQ(entry->head(), held->head());
  EXPECT_EQ(entry->body.size, 2000U);
  EXPECT_TRUE(std::equal(entry->body.slices[0].block->data(),
                         entry->body.slices[0].block->data() + 2000,
                         held->body.slices[0].block->data()));
  EXPECT_FALSE(read("http://b/"));
}

TEST_F(TwoTiers, StoreNothingThatWasPurgedWhileItWasFetched) {
  const auto response = kept(entry_of(budget_, stock_of("http://a/", 100, now_)));
  EXPECT_FALSE(disk_.put(key_of("http://a/"), response, {}, [] { return false; }));
  settle();
  EXPECT_FALSE(disk_.may_have(key_of("http://a/")));
}

TEST_F(TwoTiers, DropTheOldWhereTheNewIsTooLarge) {
  put(stock_of("http://a/", 100, now_));
  settle();
  Stock large = stock_of("http://a/", 100, now_);
  large.body = 1 << 20;  // in a segment of half a MiB
  put(large);
  EXPECT_FALSE(disk_.may_have(key_of("http://a/")));
  settle();
  EXPECT_FALSE(read("http://a/"));
}

TEST_F(TwoTiers, KeepAFreshenedHeadByItself) {
  put(stock_of("http://a/", 100, now_));
  settle();
  const auto found = store_.find(key_of("http://a/"), "http://a/", {});
  const Kept old{found.entry, found.on_disk};
  const Stock newer = stock_of("http://a/", 200, now_);
  const Request request;
  const Response response(newer.lines);
  const auto fresh = Entry::make(
      budget_, Received{newer.url, request.head.fields, response.head, newer.times, "us"});
  fresh->body = old.entry->body;
  const auto newest = kept(fresh);
  store_.put(key_of("http://a/"), newest, now_, old.entry.get());
  const auto written = disk_.disk().catalog().counters.stored_bytes.load();
  disk_.put(key_of("http://a/"), newest, old, [] { return true; });
  settle();
  EXPECT_LT(disk_.disk().catalog().counters.stored_bytes - written, 500U);
  const auto [entry, on_disk] = read_kept("http://a/");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->freshness().lifetime, 200s);
  EXPECT_EQ(entry->body.size, 2000U);
  EXPECT_EQ(on_disk->body(), old.on_disk->body());
  EXPECT_NE(on_disk->front(), old.on_disk->front());
  EXPECT_EQ(on_disk->front(), newest.on_disk->front());
  EXPECT_EQ(on_disk->body(), newest.on_disk->body());
}

TEST_F(TwoTiers, TellOfAReadThatWasOvertaken) {
  put(stock_of("http://a/", 100, now_));
  settle();
  const Request request;
  const auto found =
      disk_.read({key_of("http://a/"), "http://a/", request.head.fields}, store_, disk::Wait::yes);
  ASSERT_TRUE(found && found->entry);
  EXPECT_TRUE(disk_.still_found(*found, "http://a/"));
  disk_.purge(key_of("http://a/"), {});
  EXPECT_FALSE(disk_.still_found(*found, "http://a/"));
}

TEST_F(TwoTiers, RememberWhatLeftTheDiskAlone) {
  const auto response = kept(entry_of(budget_, stock_of("http://a/", 100, now_)));
  EXPECT_TRUE(disk_.put(key_of("http://a/"), response, {}, [] { return true; }));
  settle();
  std::vector<digest::Claim> claimed;
  store_.list_claimed(now_, claimed);
  ASSERT_EQ(claimed.size(), 1U);
  const auto departed = [this] {
    return departure(store_.departed(key_of("http://a/"), "http://a/"));
  };
  EXPECT_EQ(departed(), Departure::none);
  disk_.purge(key_of("http://a/"), {});
  settle();
  std::vector<KeyChange> changes;
  store_.collect(now_, changes);
  EXPECT_EQ(departed(), Departure::lately);
}

TEST_F(TwoTiers, ClaimAUrlAsLongAsTheVariantThatLastsLongest) {
  const auto put_variant = [this](const std::string& language, int max_age) {
    Stock stock = stock_of("http://a/", max_age, now_);
    stock.lines += "Vary: Accept-Language\r\n";
    stock.request = "Accept-Language: " + language + "\r\n";
    EXPECT_TRUE(
        disk_.put(key_of(stock.url), kept(entry_of(budget_, stock)), {}, [] { return true; }));
    settle();
  };
  const auto is_claimed_after = [this](int passed) {
    std::vector<digest::Claim> claimed;
    const auto then = (now_ + seconds(passed)).time_since_epoch();
    disk_.disk().catalog().index.list_claims(
        static_cast<std::uint32_t>(std::chrono::floor<seconds>(then).count()), claimed);
    return std::find(claimed.begin(), claimed.end(), digest::Claim{key_of("http://a/")}) !=
           claimed.end();
  };
  put_variant("en", 1000);
  EXPECT_TRUE(is_claimed_after(900));
  put_variant("de", 100);
  EXPECT_TRUE(is_claimed_after(900)) << "the other is there yet";
  put_variant("fr", 2000);
  EXPECT_TRUE(is_claimed_after(1900));
  put_variant("fr", 500);
  EXPECT_TRUE(is_claimed_after(400));
  EXPECT_FALSE(is_claimed_after(600)) << "that variant lasts no longer now";
  const Request french("Accept-Language: fr\r\n");
  const auto found =
      disk_.read({key_of("http://a/"), "http://a/", french.head.fields}, store_, disk::Wait::yes);
  ASSERT_TRUE(found && found->variant);
  disk_.disk().purge(found->variant->key, {});
  settle();
  EXPECT_FALSE(read("http://a/", "Accept-Language: fr\r\n"));
  EXPECT_FALSE(is_claimed_after(0)) << "what was claimed is gone";
  EXPECT_TRUE(read("http://a/", "Accept-Language: en\r\n"));
}

TEST_F(TwoTiers, FreshenAVariantThoughAnotherUrlTookItsPlaceInMemory) {
  const auto vary = [this](const std::string& url, const std::string& language) {
    Stock stock = stock_of(url, 100, now_);
    stock.lines += "Vary: Accept-Language\r\n";
    stock.request = "Accept-Language: " + language + "\r\n";
    return stock;
  };
  const auto place_of = [](const std::string& url) {
    const auto key = key_of(url);
    return (key.bytes[2] | key.bytes[3] << 8) % 4096;
  };
  std::string other = "http://b/";
  while (place_of(other) != place_of("http://a/")) other += 'b';
  put(vary("http://a/", "en"));
  put(vary("http://a/", "de"));
  put(vary(other, "en"));
  settle();
  put(vary("http://a/", "fr"));
  settle();
  for (const char* language : {"en", "de", "fr"}) {
    EXPECT_TRUE(read("http://a/", "Accept-Language: " + std::string(language) + "\r\n"))
        << language;
  }
}

TEST_F(TwoTiers, HaveNoPurgeToWaitForWhereThereIsNothing) {
  EXPECT_EQ(disk_.purge(key_of("http://a/"), {}), DiskTier::Purge::nothing);
  put(stock_of("http://a/", 100, now_));
  EXPECT_EQ(disk_.purge(key_of("http://a/"), {}), DiskTier::Purge::queued) << "it is on its way";
  settle();
  EXPECT_EQ(disk_.purge(key_of("http://a/"), {}), DiskTier::Purge::nothing);
}

// Follows the claims by their changes only, whatever happens in the two tiers.
class FollowedClaims : public TwoTiers {
 protected:
  static constexpr int kUrls = 400;

  std::string some_url() { return "http://a/" + std::to_string(random_() % kUrls); }

  void step() {
    now_ += std::chrono::milliseconds(random_() % 10);
    const auto url = some_url();
    const auto key = key_of(url);
    switch (random_() % 24) {
      case 0:
        store_.remove(key);
        disk_.purge(key, {});
        break;
      case 1: {
        const Charge burst(budget_, budget_.limit() / 2);
        store_.make_room();
        break;
      }
      case 2:
        if (random_() % 50 != 0) break;
        store_.remove_if([&](const Entry& entry) { return entry.url().starts_with(url); });
        EXPECT_TRUE(disk_.purge_all(url, {}));
        break;
      case 3:
      case 4:
        if (const auto both = read_kept(url, "X-A: 1\r\n"); both.entry) {
          store_.adopt(key, both, now_);
        }
        break;
      default: {
        Stock stock = stock_of(url, static_cast<int>(random_() % 40), now_);
        stock.shared = random_() % 10 != 0;
        if (random_() % 4 == 0) stock.lines += "Vary: X-A\r\n";
        stock.request = "X-A: " + std::to_string(random_() % 2) + "\r\n";
        put(stock);
      }
    }
  }

  void follow() {
    std::vector<KeyChange> changes;
    if (store_.collect(now_, changes) == Collected::overflowed) {
      std::vector<digest::Claim> all;
      store_.list_claimed(now_, all);
      claimed_ = {all.begin(), all.end()};
      EXPECT_EQ(claimed_.size(), all.size()) << "a key was listed twice";
      relisted_ += 1;
      return;
    }
    for (const auto& [key, what, rule] : changes) {
      const bool changed = what == KeyChange::What::added ? claimed_.insert({key, rule}).second
                                                          : claimed_.erase({key, rule}) > 0;
      EXPECT_TRUE(changed) << "added or removed twice";
    }
  }

  // Claims of entries on disk that end within a turn may be dropped early.
  void expect_what_is_held() {
    for (int i = 0; i < kUrls; ++i) {
      const auto key = key_of("http://a/" + std::to_string(i));
      const auto until = claimable_above("http://a/" + std::to_string(i));
      const auto place = disk_.disk().catalog().index.find(key);
      const Time below{seconds(place ? place->claimable_until : 0)};
      const bool must = until > now_ + kClaimAhead || below > now_ + kClaimAhead + 10s;
      const bool may = until > now_ + kClaimAhead || below > now_ + kClaimAhead;
      const bool is = claimed_.contains({key});
      EXPECT_TRUE((!must || is) && (may || !is)) << i << " is " << is;
    }
  }
  Time claimable_above(const std::string& url) {
    Time latest = Time::min();
    for (const char* lines : {"", "X-A: 0\r\n", "X-A: 1\r\n"}) {
      const Request request(lines);
      const auto entry = store_.find(key_of(url), url, request.head.fields).entry;
      if (entry) latest = std::max(latest, entry->claimable_until());
    }
    return latest;
  }

  std::mt19937 random_{7};
  std::set<digest::Claim> claimed_;
  int relisted_ = 0;
};

TEST_F(FollowedClaims, AreThoseOfBothAddedAndRemovedInTurn) {
  for (int period = 0; period < 100 && !testing::Test::HasFailure(); ++period) {
    for (int i = 0; i < 100; ++i) step();
    settle();
    follow();
    expect_what_is_held();
  }
  EXPECT_EQ(relisted_, 1) << "the first time";
  EXPECT_GT(disk_.disk().catalog().counters.reclaimed, 0U);
  EXPECT_GT(disk_.disk().catalog().counters.evicted, 0U);
}

}  // namespace
}  // namespace proxy::cache
