#include "proxy/cache/revalidation.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

class Revalidation : public ::testing::Test {
 protected:
  Ref<const Entry> entry(const std::string& lines, std::uint32_t body = 0) {
    Stock stock;
    stock.lines = lines;
    stock.body = body;
    return entry_of(budget_, stock);
  }

  Freshened freshened(const Entry& stored, const std::string& lines,
                      const std::string& request_lines = "") {
    const Request request(request_lines);
    const Response response(lines, 304);
    return freshen(budget_, stored, request.facts,
                   {stored.url(),
                    request.head.fields,
                    response.head,
                    {kStart + 200s, kStart + 200s},
                    "us",
                    SourceKind::origin,
                    true});
  }

  Budget budget_{1 << 20};
};

TEST_F(Revalidation, ACookieOfA304GoesToTheClientThatAskedAlone) {
  const auto stored = entry("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
  const auto own = freshened(*stored, "ETag: \"e\"\r\nSet-Cookie: a=b\r\nX: 1\r\n");
  EXPECT_EQ(own.storability, Storability::yes);
  EXPECT_EQ(own.entry->head().find("Set-Cookie"), std::string::npos) << own.entry->head();
  EXPECT_EQ(own.asker_fields, "Set-Cookie: a=b\r\n");
  const auto all =
      freshened(*stored, "Cache-Control: public, max-age=1\r\nETag: \"e\"\r\nSet-Cookie: c\r\n");
  EXPECT_NE(all.entry->head().find("Set-Cookie"), std::string::npos);
  EXPECT_EQ(all.asker_fields, "");
}

TEST_F(Revalidation, ByTheOriginConfirmsWhatANeighbourGave) {
  Stock stock{.lines = "Cache-Control: max-age=100\r\nETag: \"e\"\r\n"};
  stock.giver = {7};
  const auto given = entry_of(budget_, stock);
  EXPECT_EQ(given->giver(), Giver{7});
  EXPECT_EQ(freshened(*given, "ETag: \"e\"\r\n").entry->giver(), Giver{});
}

// An origin may take a made-up time for newer than its response, and answer 304.
TEST_F(Revalidation, BelievesNoTimeOfAGuest) {
  Stock stock{.lines = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\nETag: \"e\"\r\n"};
  stock.giver = {7, true};
  const auto tagged = entry_of(budget_, stock);
  const Conditions conditions = conditional_fields(*tagged, tagged->quotes().etag);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].name, "If-None-Match");
  EXPECT_TRUE(tagged->has_validator());
  stock.lines = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
  EXPECT_FALSE(entry_of(budget_, stock)->has_validator());
  stock.giver = {7, false};
  EXPECT_TRUE(entry_of(budget_, stock)->has_validator());
}

// RFC 9110 15.4.5: the 304 repeats Cache-Control, if the origin sends one.
TEST_F(Revalidation, LeavesNothingOfWhatAGuestSaidAboutFreshness) {
  Stock stock{.lines =
                  "Cache-Control: max-age=31536000\r\nExpires: Fri, 01 Jan 2044 00:00:00 GMT\r\n"
                  "hearsay-cache-control: max-age=31536000\r\nETag: \"e\"\r\nX-A: 1\r\n"};
  stock.giver = {7, true};
  const auto given = entry_of(budget_, stock);
  const auto silent = freshened(*given, "ETag: \"e\"\r\n").entry;
  EXPECT_EQ(silent->giver(), Giver{});
  EXPECT_EQ(silent->freshness().lifetime, 0s);
  EXPECT_EQ(silent->head().find("ontrol"), std::string::npos) << silent->head();
  EXPECT_NE(silent->head().find("X-A: 1"), std::string::npos);
  const auto told = freshened(*given, "ETag: \"e\"\r\nCache-Control: max-age=7\r\n").entry;
  EXPECT_EQ(told->freshness().lifetime, 7s);
  EXPECT_TRUE(told->for_neighbours());
}

TEST_F(Revalidation, OfAPartNamesTheNeighbourThatGaveTheOther) {
  Stock stock{.lines = "Cache-Control: max-age=100\r\nETag: \"e\"\r\n"};
  stock.giver = {7};
  const auto given = entry_of(budget_, stock);
  const auto ours = entry(stock.lines);
  const Request request;
  const Response response(stock.lines);
  Received more{given->url(), request.head.fields, response.head, kAtOnce, "us"};
  EXPECT_EQ(with_part(budget_, *given, request.facts, more, {}).entry->giver(), Giver{7});
  more.giver = {8};
  EXPECT_EQ(with_part(budget_, *ours, request.facts, more, {}).entry->giver(), Giver{8});
}

TEST_F(Revalidation, AsksByEveryValidatorThereIs) {
  const auto both = entry("ETag: W/\"e\"\r\nLast-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n");
  const Conditions conditions = conditional_fields(*both, both->quotes().etag);
  ASSERT_EQ(conditions.size(), 2U);
  EXPECT_EQ(conditions[0].name, "If-None-Match");
  EXPECT_EQ(conditions[0].value, "W/\"e\"");
  EXPECT_EQ(conditions[1].name, "If-Modified-Since");
  EXPECT_EQ(conditions[1].value, "Sun, 31 Dec 2023 00:00:00 GMT");
  EXPECT_TRUE(conditional_fields(*entry(""), {}).empty());
}

TEST_F(Revalidation, NotModifiedSpeaksOfTheEntryItNames) {
  struct Case {
    const char* stored;
    const char* not_modified;
    bool expected;
  };
  const Case cases[] = {
      {"ETag: \"a\"\r\n", "ETag: \"a\"\r\n", true},
      {"ETag: \"a\"\r\n", "ETag: \"b\"\r\n", false},
      {"ETag: \"a\"\r\n", "ETag: W/\"a\"\r\n", true},
      {"ETag: W/\"a\"\r\n", "ETag: W/\"a\"\r\n", true},
      {"ETag: W/\"a\"\r\n", "ETag: \"a\"\r\n", false},  // strong: 4.3.4
      {"ETag: a\r\n", "ETag: a\r\n", true},
      {"", "ETag: \"a\"\r\n", false},
      {"ETag: \"a\"\r\n", "", true},
      {"ETag: \"a\"\r\n", "ETag: \"a\"\r\nETag: \"a\"\r\n", true},
      {"ETag: \"a\"\r\n", "ETag: \"a\"\r\nETag: \"b\"\r\n", false},
      {"ETag: \"a\"\r\n", "ETag: \"a\"\r\nLast-Modified: x\r\nLast-Modified: y\r\n", false},
      {"Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
       "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n", true},
      {"Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
       "Last-Modified: Sun, 31 Dec 2023 00:00:01 GMT\r\n", false},
  };
  for (const Case& tested : cases) {
    const Response response(tested.not_modified, 304);
    EXPECT_EQ(identifies(*entry(tested.stored), response.head), tested.expected)
        << tested.stored << tested.not_modified;
  }
}

TEST_F(Revalidation, NotModifiedOfAnotherCodingIsAboutAnotherResponse) {
  const std::string tag = "ETag: \"a\"\r\n";
  const std::string gzip = "Content-Encoding: gzip\r\n";
  EXPECT_TRUE(identifies(*entry(tag + gzip), Response(tag, 304).head)) << "it need not name it";
  EXPECT_TRUE(identifies(*entry(tag + gzip), Response(tag + gzip, 304).head));
  EXPECT_FALSE(identifies(*entry(tag), Response(tag + gzip, 304).head));
  EXPECT_FALSE(
      identifies(*entry(tag + gzip), Response(tag + "Content-Encoding: br\r\n", 304).head));
}

TEST_F(Revalidation, NotModifiedWithoutAValidatorIsNobodysWhereTwoWereNamed) {  // 4.3.1, 4.3.4
  const auto stored = entry("ETag: \"a\"\r\n");
  EXPECT_FALSE(identifies(*stored, Response("", 304).head, "\"a\", \"b\""));
  EXPECT_FALSE(identifies(*stored, Response("ETag: \"b\"\r\n", 304).head, "\"a\", \"b\""));
  EXPECT_TRUE(identifies(*stored, Response("ETag: \"a\"\r\n", 304).head, "\"a\", \"b\""));
}

TEST_F(Revalidation, FreshenedEntryHasTheNewFieldsAndTheOldBody) {
  const auto stored = entry(
      "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nCache-Control: max-age=100\r\nETag: \"e\"\r\n"
      "Content-Type: text/plain\r\nContent-Encoding: gzip\r\nX-Kept: 1\r\nX-Two: 1\r\nX-Two: 2\r\n"
      "Via: 1.1 old\r\n",
      1000);
  const auto [fresh, asker_fields, storability] =
      freshened(*stored,
                "Cache-Control: max-age=300, private=\"x-one\"\r\nX-One: 1\r\nx-two: "
                "3\r\nContent-Type: text/html\r\nAge: 7\r\n"
                "Content-Length: 9\r\nContent-Encoding: br\r\nRepr-Digest: x\r\nConnection: "
                "x-hop\r\nX-Hop: 1\r\n"
                "Date: Mon, 01 Jan 2024 00:03:20 GMT\r\n");
  EXPECT_EQ(fresh->head(),
            "HTTP/1.1 200 X\r\nETag: \"e\"\r\nContent-Type: text/plain\r\nContent-Encoding: "
            "gzip\r\nX-Kept: 1\r\nCache-Control: max-age=300, private=\"x-one\"\r\nx-two: 3\r\n"
            "Date: Mon, 01 Jan 2024 00:03:20 GMT\r\nVia: 1.1 us\r\n");
  EXPECT_EQ(asker_fields, "X-One: 1\r\n");
  EXPECT_EQ(storability, Storability::yes);
  EXPECT_EQ(fresh->age(kStart + 200s), 7s);
  EXPECT_EQ(fresh->fresh_until(), kStart + 200s + 293s);
  EXPECT_EQ(fresh->body.size, 1000U);
  EXPECT_EQ(fresh->body.slices[0].block, stored->body.slices[0].block);
}

TEST_F(Revalidation, NotModifiedWithoutDateIsAsOldAsItsArrival) {
  const auto stored = entry("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
  EXPECT_EQ(freshened(*stored, "").entry->age(kStart + 201s), 1s);
}

TEST_F(Revalidation, SelectsByTheVaryThatNowHolds) {
  const auto stored = entry("Cache-Control: max-age=100\r\nVary: X-A\r\nETag: \"e\"\r\n");
  const auto fresh = freshened(*stored, "Vary: X-B\r\n", "X-A: 1\r\nX-B: 2\r\n").entry;
  EXPECT_TRUE(fresh->variant().matches(Request("X-B: 2\r\n").head.fields));
  EXPECT_FALSE(fresh->variant().matches(Request("X-B: 3\r\n").head.fields));
}

TEST_F(Revalidation, TellsWhenTheOriginTookItsLeaveBack) {
  const auto stored = entry("Cache-Control: max-age=100\r\nETag: \"e\"\r\n");
  EXPECT_EQ(freshened(*stored, "Cache-Control: no-store\r\n").storability, Storability::no_store);
  EXPECT_EQ(freshened(*stored, "Cache-Control: private\r\n").storability, Storability::private_);
}

TEST_F(Revalidation, HeadOfMostFieldsCanStillBeFreshened) {
  std::string lines = "ETag: \"e\"\r\n";
  for (int i = 0; i < 199; ++i) lines += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(freshened(*entry(lines), "X-New: 1\r\n").storability, Storability::yes);
}

}  // namespace
}  // namespace proxy::cache
