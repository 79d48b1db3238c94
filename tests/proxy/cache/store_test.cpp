#include "proxy/cache/store.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

class MemoryStore : public ::testing::Test {
 protected:
  ~MemoryStore() override {
    store_.reset();
    EXPECT_EQ(budget_.used(), 0U);
  }

  static std::string url(int number) { return "http://a/" + std::to_string(number); }

  Stored put(const Stock& stock) {
    return store_->put(key_of(stock.url), {entry_of(budget_, stock)}, kStart);
  }
  Stored put(const std::string& url, std::uint32_t body) {
    Stock stock;
    stock.url = url;
    stock.body = body;
    return put(stock);
  }
  Stored put_variant(const std::string& vary, const std::string& request,
                     const std::string& tag = "\"e\"") {
    Stock stock;
    stock.lines += "Vary: " + vary + "\r\nETag: " + tag + "\r\n";
    stock.request = request;
    return put(stock);
  }

  Found find(const std::string& url = "http://a/", const std::string& request = "") {
    return store_->find(key_of(url), url, Request(request).head.fields);
  }

  Departure departure_of(const std::string& url) {
    return departure(store_->departed(key_of(url), url));
  }

  Budget budget_{4 << 20};
  std::unique_ptr<Store> store_ =
      std::make_unique<Store>(budget_, StoreLimits{.max_object = 2 << 20, .variants = 4});
};

TEST_F(MemoryStore, CountsHowOftenAResponseWasFound) {
  const auto hits = [this] {
    std::vector<Store::Response> held;
    store_->look(key_of("http://a/"), held);
    return held.at(0).hits;
  };
  Stock stock;
  stock.body = 10;
  put(stock);
  EXPECT_EQ(hits(), 0U);
  const auto old = find().entry;
  find();
  EXPECT_EQ(hits(), 2U);
  const Request asked;
  EXPECT_EQ(store_->peek(key_of("http://a/"), "http://a/", asked.head.fields).entry, old);
  EXPECT_EQ(store_->peek(key_of("http://b/"), "http://b/", asked.head.fields).entry, nullptr);
  EXPECT_EQ(hits(), 2U) << "a peek is no use";
  const Request request;
  const Response response(stock.lines);
  const auto newer =
      Entry::make(budget_, Received{old->url(), request.head.fields, response.head, kAtOnce, "us"});
  newer->body = old->body;
  store_->put(key_of(old->url()), {newer}, kStart, old.get());
  EXPECT_EQ(hits(), 2U) << "the same response, validated";
  put(stock);
  EXPECT_EQ(hits(), 0U) << "another one";
}

TEST_F(MemoryStore, FindsWhatWasPut) {
  EXPECT_EQ(put("http://a/", 10), Stored::yes);
  EXPECT_EQ(find().entry->body.size, 10U);
  EXPECT_EQ(find("http://a/other").entry, nullptr);
  EXPECT_EQ(store_->entries(), 1U);
  EXPECT_GE(store_->totals().bytes, 10U);
}

TEST_F(MemoryStore, CollidingKeyFindsNothingAndGivesWay) {
  const digest::Key key = key_of("http://a/");
  put("http://a/", 10);
  EXPECT_EQ(store_->find(key, "http://evil/", http::Fields{}).entry, nullptr);
  EXPECT_FALSE(store_->find(key, "http://evil/", http::Fields{}).varies);
  EXPECT_EQ(store_->invalidate(key, "http://evil/"), 0U);
  Stock other;
  other.url = "http://evil/";
  store_->put(key, {entry_of(budget_, other)}, kStart);
  EXPECT_EQ(find().entry, nullptr);
  EXPECT_EQ(store_->entries(), 1U);
}

TEST_F(MemoryStore, VariantsAreSelectedByVary) {
  put_variant("X-A", "X-A: 1\r\n", "\"1\"");
  put_variant("X-A", "X-A: 2\r\n", "\"2\"");
  EXPECT_EQ(find("http://a/", "X-A: 1\r\n").entry->quotes().etag, "\"1\"");
  EXPECT_EQ(find("http://a/", "X-A: 2\r\n").entry->quotes().etag, "\"2\"");
  const Found missed = find("http://a/", "X-A: 3\r\n");
  EXPECT_EQ(missed.entry, nullptr);
  EXPECT_TRUE(missed.varies);
}

TEST_F(MemoryStore, NewestMatchingVariantWins) {
  put_variant("X-A", "X-A: 1\r\nX-B: 1\r\n", "\"old\"");
  put_variant("X-B", "X-A: 1\r\nX-B: 1\r\n", "\"new\"");
  EXPECT_EQ(find("http://a/", "X-A: 1\r\nX-B: 1\r\n").entry->quotes().etag, "\"new\"");
}

TEST_F(MemoryStore, LaterDateWinsWhicheverCameFirst) {  // RFC 9111 4
  Stock stock;
  stock.request = "X-A: 1\r\nX-B: 1\r\n";
  stock.lines = "Vary: X-A\r\nETag: \"new\"\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
  put(stock);
  stock.lines = "Vary: X-B\r\nETag: \"old\"\r\nDate: Sun, 31 Dec 2023 23:59:00 GMT\r\n";
  put(stock);
  EXPECT_EQ(find("http://a/", stock.request).entry->quotes().etag, "\"new\"");
}

TEST_F(MemoryStore, VariantIsChosenBeforeOneThatForgotVary) {  // RFC 9111 4.1
  put_variant("X-A", "X-A: 1\r\n", "\"1\"");
  Stock without;
  without.lines += "ETag: \"any\"\r\n";
  put(without);
  EXPECT_EQ(find("http://a/", "X-A: 1\r\n").entry->quotes().etag, "\"1\"");
  EXPECT_EQ(find("http://a/", "X-A: 2\r\n").entry->quotes().etag, "\"any\"");
}

TEST_F(MemoryStore, AnswerToAValidationReplacesWhatWasAskedAbout) {  // RFC 9111 4.3.3
  put_variant("X-A", "X-A: 1\r\n", "\"old\"");
  put_variant("X-A", "X-A: 2\r\n", "\"other\"");
  const auto old = find("http://a/", "X-A: 1\r\n").entry;
  Stock now_without;
  now_without.lines += "ETag: \"new\"\r\n";
  for (int round = 0; round < 2; ++round) {  // first in its place, then beside its own kind
    store_->put(key_of(now_without.url), {entry_of(budget_, now_without)}, kStart, old.get());
    EXPECT_EQ(store_->entries(), 2U);
    EXPECT_EQ(find("http://a/", "X-A: 1\r\n").entry->quotes().etag, "\"new\"");
    EXPECT_EQ(find("http://a/", "X-A: 2\r\n").entry->quotes().etag, "\"other\"");
    store_->put(key_of(old->url()), {old}, kStart);
  }
}

TEST_F(MemoryStore, SameSelectionReplaces) {
  put_variant("X-A", "X-A: 1\r\n", "\"old\"");
  put_variant("X-A", "X-A: 2\r\n", "\"other\"");
  put_variant("x-a", "X-A: 1\r\n", "\"new\"");
  EXPECT_EQ(store_->entries(), 2U);
  EXPECT_EQ(find("http://a/", "X-A: 1\r\n").entry->quotes().etag, "\"new\"");
  EXPECT_EQ(find("http://a/", "X-A: 2\r\n").entry->quotes().etag, "\"other\"");
}

TEST_F(MemoryStore, VariantsOfOneUrlAreBounded) {
  for (int i = 0; i < 10; ++i) put_variant("X-A", "X-A: " + std::to_string(i) + "\r\n");
  EXPECT_EQ(store_->entries(), 4U);
  EXPECT_EQ(find("http://a/", "X-A: 5\r\n").entry, nullptr);
  EXPECT_NE(find("http://a/", "X-A: 6\r\n").entry, nullptr);
}

TEST_F(MemoryStore, AVariantInUseOutlastsAllThatNobodyAsksForAgain) {
  put_variant("X-A", "X-A: used\r\n");
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == 0) {
      EXPECT_NE(find("http://a/", "X-A: used\r\n").entry, nullptr) << i;
    }
    put_variant("X-A", "X-A: " + std::to_string(i) + "\r\n");
  }
  EXPECT_EQ(store_->entries(), 4U);
}

TEST_F(MemoryStore, AVariantThatWasUsedOnceUponATimeGivesWayToThoseInUse) {
  const auto variant = [](int i) { return "X-A: " + std::to_string(i) + "\r\n"; };
  for (int i = 0; i < 12; ++i) {
    put_variant("X-A", variant(i));
    for (int uses = 0; uses < 5; ++uses) EXPECT_NE(find("http://a/", variant(i)).entry, nullptr);
  }
  EXPECT_EQ(store_->entries(), 4U);
  EXPECT_EQ(find("http://a/", variant(0)).entry, nullptr);
  EXPECT_NE(find("http://a/", variant(11)).entry, nullptr);
}

TEST_F(MemoryStore, DropsOfAUrlTheVariantThatMatches) {
  put_variant("X-A", "X-A: 1\r\n");
  Stock given{.lines = "Cache-Control: max-age=100\r\nVary: X-A\r\n", .request = "X-A: 2\r\n"};
  given.giver = {7};
  put(given);
  EXPECT_EQ(store_->remove_if([](const Entry& entry) { return entry.giver().tag == 7; }), 1U);
  EXPECT_NE(find("http://a/", "X-A: 1\r\n").entry, nullptr);
  EXPECT_EQ(find("http://a/", "X-A: 2\r\n").entry, nullptr);
  EXPECT_EQ(store_->entries(), 1U);
}

TEST_F(MemoryStore, DropsWhatMatchesAndNothingElse) {
  for (int i = 0; i < 1000; ++i) put(url(i), 10);
  put_variant("X-A", "X-A: 1\r\n");
  put_variant("X-A", "X-A: 2\r\n");
  const auto drop = [&](const std::string& end) {
    return store_->remove_if([&](const Entry& entry) { return entry.url().ends_with(end); });
  };
  EXPECT_EQ(drop("/"), 2U) << "each variant counts";
  EXPECT_EQ(drop("7"), 100U);
  EXPECT_EQ(drop("7"), 0U);
  EXPECT_EQ(store_->entries(), 900U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(find(url(i)).entry == nullptr, i % 10 == 7) << i;
  std::vector<KeyChange> changes;
  store_->collect(kStart, changes);
  changes.clear();
  EXPECT_EQ(drop("8"), 100U);
  store_->collect(kStart, changes);
  EXPECT_EQ(changes.size(), 100U) << "the digest is told";
}

TEST_F(MemoryStore, KnowsForAMinuteWhatTheDigestCeasedToClaim) {
  std::vector<KeyChange> changes;
  const auto at = [&](Time now) { store_->collect(now, changes); };
  Stock brief;  // never claimed
  brief.url = "http://a/brief";
  brief.lines = "Cache-Control: max-age=4\r\n";
  put("http://a/", 10);
  put("http://a/kept", 10);
  put(brief);
  EXPECT_EQ(departure_of("http://a/never"), Departure::none);
  at(kStart + 10s);
  for (const std::string path : {"", "brief"}) store_->remove(key_of("http://a/" + path));
  EXPECT_EQ(departure_of("http://a/"), Departure::lately);
  EXPECT_EQ(departure_of("http://a/brief"), Departure::none);
  EXPECT_EQ(departure_of("http://a/kept"), Departure::none);
  at(kStart + 70s);
  EXPECT_EQ(departure_of("http://a/"), Departure::lately);
  at(kStart + 71s);
  EXPECT_EQ(departure_of("http://a/"), Departure::none);
}

TEST_F(MemoryStore, KnowsNotWhatLeftInAnEarlierRun) {
  std::vector<KeyChange> changes;
  store_->lose_departures(kStart);
  EXPECT_EQ(departure_of("http://a/"), Departure::unknown);
  put("http://a/", 10);
  store_->remove(key_of("http://a/"));
  EXPECT_EQ(departure_of("http://a/"), Departure::lately);
  store_->collect(kStart + 61s, changes);
  EXPECT_EQ(departure_of("http://a/never"), Departure::none);
}

TEST_F(MemoryStore, WhatExpiredBeforeItWasDroppedIsGoneToo) {
  put("http://a/", 10);
  std::vector<KeyChange> changes;
  store_->collect(kStart + 95s, changes);
  EXPECT_EQ(departure_of("http://a/"), Departure::none) << "stale, but held";
  store_->remove(key_of("http://a/"));
  EXPECT_EQ(departure_of("http://a/"), Departure::lately);
}

TEST_F(MemoryStore, InvalidationDropsEveryVariant) {
  put_variant("X-A", "X-A: 1\r\n");
  put_variant("X-A", "X-A: 2\r\n");
  EXPECT_EQ(store_->invalidate(key_of("http://a/"), "http://a/"), 2U);
  EXPECT_FALSE(find("http://a/", "X-A: 1\r\n").varies);
  put("http://a/", 1);
  EXPECT_EQ(store_->remove(key_of("http://a/")), 1U);
  EXPECT_EQ(store_->remove(key_of("http://a/")), 0U);
  EXPECT_EQ(store_->totals().bytes, 0U);
}

TEST_F(MemoryStore, LimitHoldsAfterEveryPut) {
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(put(url(i), static_cast<std::uint32_t>(i * 7919 % 20000)), Stored::yes);
    ASSERT_LE(budget_.used(), budget_.limit());
  }
  EXPECT_GT(budget_.used(), budget_.limit() / 10 * 9);
}

TEST_F(MemoryStore, ScanDoesNotWashOutWhatIsUsed) {
  const int used = 50;
  for (int i = 0; i < used; ++i) {
    put(url(i), 20000);
    find(url(i));
    find(url(i));
  }
  for (int i = 1000; i < 6000; ++i) put(url(i), 5000);
  int held = 0;
  for (int i = 0; i < used; ++i) held += find(url(i)).entry != nullptr;
  EXPECT_EQ(held, used);
}

TEST_F(MemoryStore, IsLeftAsItIsByAScanOfTheDisk) {
  const auto read_back = [this](int number) {
    Stock stock{.url = url(number)};
    stock.body = 10'000;
    const auto entry = entry_of(budget_, stock);
    const bool is_worth_room = store_->is_worth_room(key_of(stock.url), *entry);
    if (is_worth_room) store_->adopt(key_of(stock.url), {entry}, kStart);
    return is_worth_room;
  };
  int number = 0;
  while (read_back(number)) ++number;  // until memory is full
  EXPECT_GT(store_->totals().bytes, budget_.limit() * 9 / 10);
  EXPECT_EQ(store_->totals().evicted.load(), 0U);
  const int scanned = number + 1000;
  for (++number; number < scanned; ++number) EXPECT_FALSE(read_back(number)) << number;
  EXPECT_EQ(store_->totals().evicted.load(), 0U);
  EXPECT_TRUE(read_back(scanned - 1)) << "it returns";
  EXPECT_TRUE(find(url(scanned - 1)).entry);
}

TEST_F(MemoryStore, GivesUpFirstWhatIsKeptElsewhere) {
  const auto is_elsewhere = [](const digest::Claim& claim) {
    for (int i = 0; i < 1000; i += 2) {
      if (claim.key == key_of(url(i))) return true;
    }
    return false;
  };
  const auto held = [this] {
    std::array<int, 2> count{};
    for (int i = 0; i < 1000; ++i) count[i % 2] += store_->holds(key_of(url(i))) ? 1 : 0;
    return count;
  };
  for (const bool asks : {false, true}) {
    StoreLimits limits;
    if (asks) limits.kept_elsewhere = is_elsewhere;
    store_ = std::make_unique<Store>(budget_, limits);
    for (int i = 0; i < 1000; ++i) put(url(i), 2000);
    for (int i = 0; i < 1000; ++i) find(url(i));
    for (int i = 1000; i < 2150; ++i) put(url(i), 2000);
    const auto [duplicates, others] = held();
    EXPECT_LT(duplicates + others, 800) << "some were evicted";
    if (asks) {
      EXPECT_LT(duplicates, others / 2);
      EXPECT_EQ(store_->totals().duplicates.load(), static_cast<std::uint64_t>(500 - duplicates));
    } else {
      EXPECT_GT(duplicates, others * 2 / 3);
      EXPECT_EQ(store_->totals().duplicates.load(), 0U);
    }
  }
}

TEST_F(MemoryStore, GivesUpNothingThatTheDiskHas) {
  StoreLimits limits;
  limits.kept_elsewhere = [](const digest::Claim& claim) { return claim.key == key_of(url(1)); };
  for (const bool is_on_disk : {false, true}) {
    store_ = std::make_unique<Store>(budget_, limits);
    Stock stock;
    stock.url = url(1);
    const auto on_disk = std::make_shared<OnDisk>();
    if (is_on_disk) on_disk->set(key_of(stock.url), 1, 1);
    store_->put(key_of(stock.url), {entry_of(budget_, stock), on_disk}, kStart);
    for (int uses = 0; uses < 3; ++uses) find(stock.url);
    for (int i = 2; i < 1900; ++i) put(url(i), 2000);
    for (int i = 2; i < 1900; ++i) put(url(i), 2000);
    EXPECT_EQ(store_->totals().duplicates.load(), is_on_disk ? 0U : 1U);
  }
}

TEST_F(MemoryStore, RefusesWhatIsTooLarge) {
  EXPECT_EQ(put("http://a/", 2 << 20), Stored::yes);
  EXPECT_EQ(put("http://a/", (2 << 20) + 1), Stored::too_large);
}

TEST_F(MemoryStore, LargeObjectFindsRoomAmongSmallOnes) {
  for (int i = 0; i < 2000; ++i) put(url(i), 3000);
  EXPECT_EQ(put("http://large/", 2 << 20), Stored::yes);
  EXPECT_LE(budget_.used(), budget_.limit());
  EXPECT_NE(find("http://large/").entry, nullptr);
}

TEST_F(MemoryStore, EvictedEntryLivesAndCountsWhileItIsSent) {
  put("http://a/", 1 << 20);
  const auto sent = find().entry;
  {
    const Charge elsewhere(budget_, budget_.limit());
    EXPECT_FALSE(store_->make_room());
    EXPECT_EQ(put("http://b/", 1), Stored::no_room);
  }
  EXPECT_EQ(store_->entries(), 0U);
  EXPECT_EQ(sent->body.size, 1U << 20);
  EXPECT_GE(budget_.used(), sent->footprint());
}

TEST_F(MemoryStore, MakesRoomForWhatOthersCharge) {
  for (int i = 0; i < 1000; ++i) put(url(i), 3000);
  const Charge fill(budget_, 3 << 20);
  EXPECT_TRUE(store_->make_room());
  EXPECT_LE(budget_.used(), budget_.limit());
  EXPECT_GT(store_->entries(), 0U);
}

}  // namespace
}  // namespace proxy::cache
