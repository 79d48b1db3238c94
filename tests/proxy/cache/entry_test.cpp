#include "proxy/cache/entry.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

class StoredEntry : public ::testing::Test {
 protected:
  Ref<const Entry> entry(const std::string& lines, unsigned status = 200, bool shared = true) {
    Stock stock;
    stock.lines = lines;
    stock.status = status;
    stock.shared = shared;
    return entry_of(budget_, stock);
  }

  Budget budget_{1 << 20};
};

TEST_F(StoredEntry, HeadHasTheEndToEndFieldsAndOurVia) {
  const auto stored = entry(
      "Date: Sun, 31 Dec 2023 00:00:00 GMT\r\nContent-Length: 3\r\nAge: 4\r\nX-A: b\r\nX-Hop: c\r\n"
      "Connection: x-hop\r\nCache-Status: other; hit\r\nVia: 1.0 before\r\nETag: \"e\"\r\n");
  EXPECT_EQ(stored->head(),
            "HTTP/1.1 200 X\r\nDate: Sun, 31 Dec 2023 00:00:00 GMT\r\nX-A: b\r\nVia: 1.0 before\r\n"
            "ETag: \"e\"\r\nVia: 1.1 us\r\n");
  EXPECT_EQ(stored->quotes().etag, "\"e\"");
  EXPECT_EQ(stored->quotes().last_modified, "");
}

TEST_F(StoredEntry, OfAClockThatStoodApartFromWallTimeHasTheAgeOfItsDate) {
  Stock stock;
  stock.lines = "Cache-Control: max-age=100\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
  stock.times = {kStart + 24h, kStart + 24h, -24h};
  EXPECT_EQ(entry_of(budget_, stock)->age(kStart + 24h), 0s);
  EXPECT_EQ(entry_of(budget_, stock)->age(kStart + 24h + 5s), 5s);
  stock.times.ahead = -24h + 10s;
  EXPECT_EQ(entry_of(budget_, stock)->age(kStart + 24h), 10s);
  stock.lines = "Cache-Control: max-age=100\r\n";
  stock.times.ahead = -24h;
  EXPECT_NE(entry_of(budget_, stock)->head().find(kStartDate), std::string::npos);
}

TEST_F(StoredEntry, MissingDateIsSuppliedAWrongOneIsKept) {
  EXPECT_NE(entry("")->head().find("\r\nDate: " + std::string(kStartDate)), std::string::npos);
  const auto wrong = entry("Date: yesterday\r\n");
  EXPECT_NE(wrong->head().find("Date: yesterday\r\n"), std::string::npos);
  EXPECT_EQ(wrong->head().find(kStartDate), std::string::npos);
}

TEST_F(StoredEntry, LacksWhatIsForTheAskerAlone) {  // RFC 9111 3.1, 5.2.2.4, 5.2.2.7
  const Request request;
  const Response response(
      "Cache-Control: private=\"set-cookie\", no-cache=\"A, b\"\r\nConnection: b\r\nX: 1\r\n"
      "Set-Cookie: 2\r\na: 3\r\nB: 4\r\nProxy-Authenticate: 5\r\nProxy-Authentication-Info: 6\r\n"
      "Cache-Status: 7; hit\r\n");
  const Received received{"http://a/", request.head.fields, response.head, kAtOnce, "us"};
  const auto made = Entry::make(budget_, received);
  const Entry& stored = *made;
  for (const char* left_out : {"\nSet-Cookie", "\na:", "\nB:", "\nProxy-", "\nCache-Status"})
    EXPECT_EQ(stored.head().find(left_out), std::string::npos) << left_out;
  EXPECT_NE(stored.head().find("\nX: 1\r"), std::string::npos);
  EXPECT_FALSE(stored.no_cache);
  EXPECT_EQ(asker_fields(received),
            "Set-Cookie: 2\r\na: 3\r\nProxy-Authenticate: 5\r\nProxy-Authentication-Info: 6\r\n"
            "Cache-Status: 7; hit\r\n");
}

TEST_F(StoredEntry, ThatIsOnlyPassedOnHasTheSameHeadAndIsNeverFresh) {
  const Request request;
  const Response response("Cache-Control: max-age=60\r\nAge: 5\r\nETag: \"e\"\r\nVary: a\r\n");
  Received received{"http://a/", request.head.fields, response.head, kAtOnce, "us"};
  const auto made = Entry::make(budget_, received);
  const Entry& stored = *made;
  received.passed_on = true;
  const auto made_to_pass = Entry::make(budget_, received);
  const Entry& passed_on = *made_to_pass;
  EXPECT_EQ(passed_on.head(), stored.head());
  EXPECT_EQ(passed_on.quotes().etag, "\"e\"");
  EXPECT_EQ(passed_on.age(kStart), stored.age(kStart));
  EXPECT_TRUE(stored.fresh(kStart));
  EXPECT_FALSE(passed_on.fresh(kStart));
  EXPECT_EQ(passed_on.url(), "");
}

TEST_F(StoredEntry, QuotesItsHead) {
  for (const char* lines :
       {"", "ETag: \"a\"\r\n", "etag:\r\n", "ETag: \"a\"\r\nETag:\r\n", "ETag:\r\nETag: b\r\n",
        "Set-Cookie: a\r\nContent-Type: text/plain\r\nLast-Modified: x\r\n",
        "Content-Type: a\r\nContent-Type: a\r\nLast-Modified: y\r\nLast-Modified: z\r\n"}) {
    const auto stored = entry(lines);
    const auto told = stored->quotes();
    const auto found = quotes_of(stored->head());
    EXPECT_EQ(told.etag, found.etag) << lines;
    EXPECT_EQ(told.last_modified, found.last_modified) << lines;
    EXPECT_EQ(told.content_type, found.content_type) << lines;
    EXPECT_EQ(told.sets_cookie, found.sets_cookie) << lines;
  }
}

TEST(QuotePlaces, TellOfQuotesThatAreBeyondTheirBits) {
  const auto head = "HTTP/1.1 200 X\r\nContent-Type: a\r\nX: " + std::string(70'000, 'x') +
                    "\r\nETag: \"far\"\r\nSet-Cookie: b\r\n";
  QuotePlaces noted;
  EXPECT_TRUE(noted.record(http::field::content_type, head.find("a\r\nX:"), 1));
  EXPECT_TRUE(noted.record(http::field::etag, head.find("\"far"), 5));
  EXPECT_TRUE(noted.record(http::field::set_cookie, head.find("b\r\n"), 1));
  for (const auto& told : {QuotePlaces(head).in(head), noted.in(head)}) {
    EXPECT_EQ(told.etag, "\"far\"");
    EXPECT_EQ(told.content_type, "a");
    EXPECT_EQ(told.last_modified, "");
    EXPECT_TRUE(told.sets_cookie);
  }
}

TEST_F(StoredEntry, HasNoValidatorWhereTwoDiffer) {
  EXPECT_EQ(entry("ETag: \"a\"\r\nETag: \"b\"\r\n")->quotes().etag, "");
  EXPECT_EQ(entry("ETag: \"a\"\r\nETag: \"a\"\r\n")->quotes().etag, "\"a\"");
  const std::string modified = "Last-Modified: Sun, 31 Dec 2023 23:59:00 GMT\r\n";
  EXPECT_EQ(entry(modified + "Last-Modified: 0\r\n")->quotes().last_modified, "");
}

TEST_F(StoredEntry, AgeGrowsAndFreshnessEndsAtItsInstant) {
  const auto stored = entry("Age: 10\r\nCache-Control: max-age=100\r\n");
  EXPECT_EQ(stored->age(kStart), 10s);
  EXPECT_EQ(stored->age(kStart - 1s), 10s) << "the slightly older clock of another thread";
  EXPECT_EQ(stored->ttl(kStart + 1500ms), 89s);
  EXPECT_TRUE(stored->fresh(kStart + 89999ms));
  EXPECT_FALSE(stored->fresh(kStart + 90s));
  EXPECT_EQ(stored->ttl(kStart + 90s), 0s);
  EXPECT_EQ(stored->ttl(kStart + 100s), -10s);
}

TEST_F(StoredEntry, LongestLifetimeAndAgeDoNotOverflow) {
  EXPECT_TRUE(entry("Cache-Control: max-age=99999999999\r\n")->fresh(kStart + 24h * 365 * 60));
  const auto old = entry("Age: 99999999999\r\nCache-Control: max-age=99999999999\r\n");
  EXPECT_FALSE(old->fresh(kStart));
  EXPECT_EQ(old->ttl(kStart), 0s);
}

TEST_F(StoredEntry, ValidatorsFallBackToDate) {
  const std::chrono::sys_seconds start = std::chrono::floor<seconds>(kStart);
  EXPECT_EQ(entry("")->validators().last_modified, start);
  EXPECT_EQ(entry("Date: soon\r\n")->validators().last_modified, start);  // RFC 9111 4.3.2
  const auto both = entry("Last-Modified: Sun, 31 Dec 2023 23:59:00 GMT\r\nETag: W/\"1\"\r\n");
  EXPECT_EQ(both->validators().last_modified, start - 60s);
  EXPECT_EQ(both->validators().etag, "W/\"1\"");
  EXPECT_EQ(entry("Last-Modified: soon\r\n")->validators().last_modified, std::nullopt);
}

TEST_F(StoredEntry, IsClaimableWhileAPlainGetWouldBeAHit) {
  const std::string fresh = "Cache-Control: max-age=100";
  EXPECT_EQ(entry(fresh + "\r\n")->claimable_until(), kStart + 100s);
  EXPECT_EQ(entry(fresh + ", must-revalidate\r\n")->claimable_until(), kStart + 100s);
  EXPECT_EQ(entry(fresh + ", stale-while-revalidate=60\r\n")->claimable_until(), kStart + 100s);
  EXPECT_EQ(entry(fresh + ", no-cache\r\n")->claimable_until(), Time::min());
  EXPECT_EQ(entry(fresh + ", no-cache=\"a\"\r\n")->claimable_until(), kStart + 100s);
  EXPECT_EQ(entry(fresh + "\r\n", 404)->claimable_until(), Time::min());
  EXPECT_EQ(entry(fresh + "\r\n", 200, false)->claimable_until(), Time::min());
}

TEST_F(StoredEntry, ThatSetsACookieIsForNoNeighbour) {
  const std::string fresh = "Cache-Control: max-age=100";
  const auto cookie = entry(fresh + "\r\nset-cookie: a=b\r\n");
  EXPECT_FALSE(cookie->for_neighbours());
  EXPECT_EQ(cookie->claimable_until(), Time::min());
  // The stored head lacks the cookie.
  EXPECT_TRUE(entry(fresh + ", no-cache=\"set-cookie\"\r\nSet-Cookie: a=b\r\n")->for_neighbours());
  EXPECT_TRUE(entry(fresh + "\r\nSet-Cookie-Not: a=b\r\n")->for_neighbours());
}

TEST_F(StoredEntry, OfAGuestIsFreshForAnHourAtMostAndNeverServedStale) {
  const auto given = [&](const std::string& lines, bool guest) {
    return entry_of(budget_, {.lines = lines, .giver = {7, guest}});
  };
  const std::string year = "Cache-Control: max-age=31536000, stale-while-revalidate=31536000\r\n";
  EXPECT_EQ(given(year, true)->fresh_until(), kStart + 1h);
  EXPECT_EQ(given(year + "Age: 86400\r\n", true)->fresh_until(), kStart + 1h) << "since it came";
  EXPECT_EQ(given("Cache-Control: max-age=60\r\n", true)->fresh_until(), kStart + 60s);
  EXPECT_TRUE(given(year, true)->never_stale);
  EXPECT_EQ(given(year, false)->fresh_until(), kStart + 31536000s);
  EXPECT_FALSE(given(year, false)->never_stale);
}

TEST_F(StoredEntry, OfAGuestIsForNoNeighbour) {
  const auto given = entry_of(budget_, {.giver = {7, true}});
  EXPECT_FALSE(given->for_neighbours());
  EXPECT_EQ(given->claimable_until(), Time::min());
  EXPECT_TRUE(entry_of(budget_, {.giver = {7, false}})->for_neighbours());
}

TEST_F(StoredEntry, TellsWhatOnlySomeResponsesHave) {
  const auto plain = entry("Cache-Control: max-age=60\r\n");
  EXPECT_FALSE(plain->is_part() || plain->is_object() || plain->variant().varies());
  EXPECT_EQ(plain->extras().stale_if_error, seconds(0));
  const auto part = entry(
      "Cache-Control: max-age=60, stale-while-revalidate=7, stale-if-error=8\r\nVary: a\r\n"
      "Content-Range: bytes 0-4/11\r\n",
      206);
  EXPECT_TRUE(part->is_part());
  EXPECT_EQ(part->range()->complete, 11U);
  EXPECT_TRUE(part->variant().varies());
  EXPECT_EQ(part->extras().stale_while_revalidate, seconds(7));
  EXPECT_EQ(part->extras().stale_if_error, seconds(8));
  EXPECT_GT(part->footprint(), plain->footprint());
}

TEST_F(StoredEntry, KeepsAnAgeOfDecades) {
  const auto old = entry("Age: 2000000000\r\n");
  EXPECT_EQ(old->initial_age(), seconds(2000000000));
  EXPECT_EQ(old->age(kStart + seconds(2)), seconds(2000000002));
}

TEST_F(StoredEntry, TellsItsDateFromItsHead) {
  EXPECT_EQ(entry("Date: Sun, 31 Dec 2023 00:00:00 GMT\r\n")->date(),
            kStart - std::chrono::hours(24));
  EXPECT_EQ(entry("Date: yesterday\r\n")->date(), kStart);
  EXPECT_EQ(entry("")->date(), kStart);
}

std::size_t lent_bytes = 0;

void* lend(std::size_t bytes) {
  lent_bytes += bytes;
  return ::operator new(bytes);
}

void take_back(void* memory, std::size_t bytes) noexcept {
  lent_bytes -= bytes;
  ::operator delete(memory);
}

TEST_F(StoredEntry, ReturnsLentMemory) {
  const Request request;
  const Response response("ETag: \"e\"\r\n");
  const Received received{"http://a/", request.head.fields, response.head, kAtOnce, "us"};
  const EntryMemory memory{lend, take_back};
  {
    const auto made = Entry::make(budget_, received, &memory);
    EXPECT_GT(lent_bytes, sizeof(Entry) + made->head().size());
    EXPECT_EQ(made->quotes().etag, "\"e\"");
  }
  EXPECT_EQ(lent_bytes, 0U);
}

TEST_F(StoredEntry, IsChargedForAllOfItselfWhileItLives) {
  Stock stock;
  stock.lines = "X-Long: " + std::string(1000, 'x') + "\r\n";
  stock.body = 5000;
  {
    const auto stored = entry_of(budget_, stock);
    EXPECT_GE(budget_.used(), 6000U + sizeof(Entry));
    EXPECT_GE(stored->footprint(), budget_.used());
  }
  EXPECT_EQ(budget_.used(), 0U);
}

}  // namespace
}  // namespace proxy::cache
