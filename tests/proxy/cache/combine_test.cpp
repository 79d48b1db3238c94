#include "proxy/cache/combine.hpp"

#include <gtest/gtest.h>

#include "proxy/cache/partial.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

using http::Forward;

const std::string kFresh = "Cache-Control: max-age=100\r\n";
const std::string kTag = "ETag: \"e\"\r\n";
const std::string kGzip = "Content-Encoding: gzip\r\n";
const std::string kWeakTag = "ETag: W/\"e\"\r\n";
const std::string kOld = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

std::string range_line(const std::string& range) {
  return "Content-Range: bytes " + range + "\r\n";
}

// The body of an entry: letters from `first` on, in blocks of three.
Body letters(Budget& budget, std::uint64_t first, std::uint64_t size) {
  Body body;
  for (std::uint64_t at = 0; at < size; at += 3) {
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(3, size - at));
    const auto block = Block::make(budget, 3);
    std::copy_n(kLetters.data() + first + at, length, block->data());
    body.slices.push_back({block, length});
  }
  body.size = size;
  return body;
}

std::string text_of(const Body& body) {
  std::string text;
  for (const auto& slice : body.slices) text.append(slice.block->data(), slice.size);
  EXPECT_EQ(text.size(), body.size);
  return text;
}

// A response to GET whose body is letters; a 206 if a range is given.
struct Message {
  Message(Budget& budget, const std::string& range, const std::string& lines, std::uint64_t first,
          std::uint64_t size, Giver giver = {})
      : response(lines + (range.empty() ? "" : range_line(range)), range.empty() ? 200 : 206),
        received{.url = "http://a/",
                 .request = request.head.fields,
                 .response = response.head,
                 .times = kAtOnce,
                 .our_name = "us",
                 .giver = giver},
        entry(Entry::make(budget, received)) {
    entry->body = letters(budget, first, size);
  }
  const Request request;
  const Response response;
  const Received received;
  const Ref<Entry> entry;
};

struct Combine : ::testing::Test {
  Ref<const Entry> kept(const Message* held, const Message& newer, std::uint64_t most = 100) {
    return combine(held ? held->entry.get() : nullptr, newer.entry, newer.request.facts,
                   newer.received, most);
  }
  Budget budget{1 << 20};
};

struct UnionCase {
  const char* name;
  const char* held;
  const char* newer;
  const char* range;  // of the union; empty: the whole; null: `newer` alone
};

// Both parts have all the bytes that they state, and the same strong tag.
TEST_F(Combine, JoinsWhatTouchesAndIsTheSame) {  // RFC 9111 3.4
  const UnionCase cases[] = {
      {"Behind", "0-4/10", "5-7/10", "0-7/10"},
      {"Before", "5-7/10", "2-4/10", "2-7/10"},
      {"Overlapping", "0-4/10", "3-7/10", "0-7/10"},
      {"OverlappingBefore", "3-7/10", "0-4/10", "0-7/10"},
      {"Within", "0-7/10", "2-4/10", "0-7/10"},
      {"Around", "2-4/10", "0-7/10", "0-7/10"},
      {"TheSame", "2-4/10", "2-4/10", "2-4/10"},
      {"TheRest", "0-4/10", "5-9/10", ""},
      {"TheBeginning", "4-9/10", "0-5/10", ""},
      {"LengthIsToldLater", "0-4/*", "5-9/10", ""},
      {"LengthWasTold", "0-4/10", "5-9/*", ""},
      {"LengthIsNotTold", "0-4/*", "5-9/*", "0-9/*"},
      {"Apart", "0-4/10", "6-9/10", nullptr},
      {"OfAnotherLength", "0-4/10", "5-9/11", nullptr},
  };
  for (const auto& [name, held, newer, range] : cases) {
    const auto message = [&](const char* said) {
      const auto part = http::parse_content_range("bytes " + std::string(said)).value();
      return std::make_unique<Message>(budget, said, kFresh + kTag, part.range.first,
                                       part.range.size());
    };
    const auto first = message(held);
    const auto second = message(newer);
    const auto both = kept(first.get(), *second);
    ASSERT_TRUE(both) << name;
    if (!range) {
      EXPECT_EQ(both, second->entry) << name;
      continue;
    }
    const bool whole = *range == '\0';
    EXPECT_EQ(both->status, whole ? 200U : 206U) << name;
    EXPECT_EQ(both->range().has_value(), !whole) << name;
    if (!whole) {
      EXPECT_EQ(http::content_range(*both->range()), "bytes " + std::string(range)) << name;
    }
    const auto bytes = proxy::cache::range_of_body(*both);
    EXPECT_EQ(text_of(both->body), kLetters.substr(bytes.first, bytes.size())) << name;
  }
}

// A response has one giver.
TEST_F(Combine, JoinsNoPartsOfTwoNeighbours) {
  const Message first(budget, "0-4/10", kFresh + kTag, 0, 5, {7});
  const Message others(budget, "5-7/10", kFresh + kTag, 5, 3, {8});
  EXPECT_EQ(kept(&first, others), others.entry);
  const Message origins(budget, "5-7/10", kFresh + kTag, 5, 3);
  const auto both = kept(&first, origins);
  EXPECT_EQ(both->body.size, 8U);
  EXPECT_EQ(both->giver(), Giver{7});
  EXPECT_EQ(kept(&origins, first)->giver(), Giver{7});
  const Message guests(budget, "0-4/10", kFresh + kTag, 0, 5, {7, true});
  EXPECT_EQ(kept(&guests, origins), origins.entry);
}

TEST_F(Combine, JoinsByAStrongValidatorAlone) {  // RFC 9110 15.3.7.3
  const struct {
    const char* name;
    std::string held, newer;
    bool joins;
  } cases[] = {
      {"SameTag", kTag, kTag, true},
      {"SameTagOtherDate", kTag + kOld, kTag, true},
      {"OtherTag", kTag, "ETag: \"f\"\r\n", false},
      {"NoTagNow", kTag, "", false},
      {"NoTagBefore", "", kTag, false},
      {"TwoTagsNow", kTag, kTag + "ETag: \"f\"\r\n", false},
      {"TwoDatesBesideTheTag", kTag, kTag + kOld + "Last-Modified: x\r\n", false},
      {"SameCoding", kTag + kGzip, kTag + kGzip, true},
      {"OtherCoding", kTag + kGzip, kTag, false},
      {"WeakTags", kWeakTag, kWeakTag, false},
      {"WeakTagNow", kTag, kWeakTag, false},
      {"NoValidators", "", "", false},
      {"SettledDate", kOld, kOld, true},
      {"DateBesideANewTag", kOld, kOld + kTag, false},
      {"DateOfLastMinute", "Last-Modified: Sun, 31 Dec 2023 23:59:30 GMT\r\n",
       "Last-Modified: Sun, 31 Dec 2023 23:59:30 GMT\r\n", false},
      {"OtherDate", kOld, "Last-Modified: Sun, 31 Dec 2023 00:00:01 GMT\r\n", false},
  };
  for (const auto& [name, held, newer, joins] : cases) {
    const Message first(budget, "0-4/10", kFresh + held, 0, 5);
    const Message second(budget, "5-9/10", kFresh + newer, 5, 5);
    const auto both = kept(&first, second);
    EXPECT_EQ(both != second.entry, joins) << name;
    EXPECT_EQ(both->status, joins ? 200U : 206U) << name;
  }
}

TEST_F(Combine, TakesTheNewerFieldsAndKeepsTheOthers) {  // RFC 9111 3.2, 3.4
  const std::string date = "Date: " + std::string(kStartDate) + "\r\n";
  const Message first(budget, "0-4/10",
                      kFresh + kTag + "A: 1\r\nB: 1\r\nContent-Type: x/y\r\nContent-MD5: q\r\n", 0,
                      5);
  const Message second(budget, "5-9/10",
                       date + "Cache-Control: max-age=50\r\n" + kTag +
                           "A: 2\r\nContent-Length: 5\r\nContent-Digest: d\r\n",
                       5, 5);
  const auto both = kept(&first, second);
  EXPECT_EQ(
      both->head(),
      "HTTP/1.1 200 OK\r\nB: 1\r\nContent-Type: x/y\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
      "Cache-Control: max-age=50\r\nETag: \"e\"\r\nA: 2\r\nVia: 1.1 us\r\n");
  EXPECT_EQ(text_of(both->body), "abcdefghij");
}

TEST_F(Combine, OfNothingKeepsThePartAndClaimsItNot) {
  const Message part(budget, "5-9/11", kFresh, 5, 5);
  EXPECT_EQ(part.entry->claimable_until(), Time::min());
  EXPECT_EQ(kept(nullptr, part), part.entry);
}

TEST_F(Combine, MakesAPartThatIsAllTheWhole) {
  const Message all(budget, "0-9/10", kFresh, 0, 10);
  const auto whole = kept(nullptr, all);
  EXPECT_EQ(whole->status, 200U);
  EXPECT_FALSE(whole->range());
  EXPECT_EQ(text_of(whole->body), "abcdefghij");
}

TEST_F(Combine, BelievesNoOneWhoHasOtherBytesThanHeSays) {
  const Message too_many(budget, "0-4/10", kFresh + kTag, 0, 6);
  EXPECT_EQ(kept(nullptr, too_many), nullptr);
  const Message none(budget, "0-4/10", kFresh + kTag, 0, 0);
  EXPECT_EQ(kept(nullptr, none), nullptr);
  const Message too_few(budget, "0-9/10", kFresh + kTag, 0, 9);
  EXPECT_EQ(kept(nullptr, too_few), too_few.entry);  // and does not count as the whole
  const Message rest(budget, "9-9/10", kFresh + kTag, 9, 1);
  EXPECT_EQ(kept(&too_few, rest), rest.entry);
  EXPECT_EQ(kept(&rest, too_few), too_few.entry);
  const Message coded_alone(budget, "0-9/10", kFresh + kTag + kGzip, 0, 9);
  EXPECT_EQ(kept(nullptr, coded_alone), nullptr) << "fewer bytes, as the part was coded";
}

TEST_F(Combine, DoesNotOutgrowWhatMayBeStored) {
  const Message first(budget, "0-4/20", kFresh + kTag, 0, 5);
  const Message second(budget, "5-9/20", kFresh + kTag, 5, 5);
  EXPECT_EQ(kept(&first, second, 9), second.entry);
  EXPECT_NE(kept(&first, second, 10), second.entry);
}

TEST_F(Combine, LosesNoFreshWholeForAPartOfIt) {
  const struct {
    const char* name;
    std::string held, newer;
    bool stays;
  } cases[] = {
      {"NoValidators", kFresh, kFresh, true},
      {"SameWeakTag", kFresh + kWeakTag, kFresh + kWeakTag, true},
      {"OtherTag", kFresh + kTag, kFresh + "ETag: \"f\"\r\n", false},
      {"Stale", "Cache-Control: max-age=0\r\n", kFresh, false},
  };
  for (const auto& [name, held, newer, stays] : cases) {
    const Message whole(budget, "", held, 0, 10);
    const Message part(budget, "0-4/10", newer, 0, 5);
    EXPECT_EQ(kept(&whole, part), stays ? nullptr : part.entry) << name;
  }
  const Message whole(budget, "", kFresh + kTag, 0, 10);
  const Message part(budget, "0-4/10", kFresh + kTag + "A: 2\r\n", 0, 5);
  const auto updated = kept(&whole, part);
  EXPECT_EQ(updated->status, 200U);
  EXPECT_EQ(text_of(updated->body), "abcdefghij");
  EXPECT_NE(updated->head().find("A: 2\r\n"), std::string::npos);
}

TEST_F(Combine, CutsABodyAnywhere) {
  for (std::uint64_t skipped = 0; skipped <= 10; ++skipped) {
    const auto rest = without_first(budget, letters(budget, 0, 10), skipped);
    EXPECT_EQ(text_of(rest), kLetters.substr(skipped, 10 - skipped));
  }
}

struct RestCase {
  const char* name;
  std::string range;  // stored
  std::string request;
  std::optional<MissingRange> rest;
  std::string lines = kTag;
};

TEST_F(Combine, AsksForOneRangeBehindWhatIsHeld) {
  const std::string first = "0-4/10", middle = "2-4/10";
  const RestCase cases[] = {
      {"Whole", first, "", MissingRange{0, 5, {}}},
      {"WholeOfUnknownLength", "0-4/*", "", MissingRange{0, 5, {}}},
      {"WholeFromTheMiddle", middle, "", {}},
      {"WholeByDate", first, "", MissingRange{0, 5, {}}, kOld},
      {"WholeByWeakTag", first, "", {}, kWeakTag},
      {"WholeWithoutAnyValidator", first, "", MissingRange{0, 5, {}}, ""},
      {"Larger", middle, "Range: bytes=3-7\r\n", MissingRange{3, 5, 7}},
      {"LargerByOne", middle, "Range: bytes=2-5\r\n", MissingRange{2, 5, 5}},
      {"LargerThanAll", middle, "Range: bytes=3-99\r\n", MissingRange{3, 5, 9}},
      {"Open", middle, "Range: bytes=4-\r\n", MissingRange{4, 5, 9}},
      {"Suffix", middle, "Range: bytes=-7\r\n", MissingRange{3, 5, 9}},
      {"BeginsBefore", middle, "Range: bytes=1-7\r\n", {}},
      {"BeginsBehind", middle, "Range: bytes=5-7\r\n", {}},
      {"Several", middle, "Range: bytes=2-3,6-7\r\n", {}},
      {"BehindTheEnd", middle, "Range: bytes=10-\r\n", {}},
      {"UnknownLength", "2-4/*", "Range: bytes=3-7\r\n", {}},
      {"NoValidator", middle, "Range: bytes=3-7\r\n", {}, ""},
      {"IfRange", middle, "Range: bytes=3-7\r\nIf-Range: \"e\"\r\n", MissingRange{3, 5, 7}},
      {"IfRangeOfAnother", middle, "Range: bytes=3-7\r\nIf-Range: \"f\"\r\n", {}},
      {"LargestNumbers", "0-4/18446744073709551615", "Range: bytes=0-99999999999999999999\r\n",
       MissingRange{0, 5, 18446744073709551614U}},
  };
  for (const auto& [name, range, lines, rest, validator] : cases) {
    const auto part = http::parse_content_range("bytes " + range).value();
    const Message held(budget, range, kFresh + validator, part.range.first, part.range.size());
    EXPECT_EQ(rest_wanted(Request(lines).facts, *held.entry), rest) << name;
  }
  const Message too_few(budget, "0-4/10", kFresh + kTag, 0, 4);
  EXPECT_FALSE(rest_wanted(Request().facts, *too_few.entry));
  EXPECT_EQ(range_of(MissingRange{0, 5, {}}), "bytes=5-");
  EXPECT_EQ(range_of(MissingRange{0, 5, 7}), "bytes=5-7");
}

struct JoinCase {
  const char* name;
  std::string lines;
  bool joins = false;
  unsigned status = 206;
};

TEST_F(Combine, JoinsOnlyWhatWasAskedFor) {  // bytes 5 to 9 of 10
  const std::string length = "Content-Length: 5\r\n";
  const JoinCase cases[] = {
      {"TheRest", kTag + range_line("5-9/10") + length, true},
      {"AnotherTag", "ETag: \"f\"\r\n" + range_line("5-9/10") + length},
      {"WeakTag", kWeakTag + range_line("5-9/10") + length},
      {"TwoTags", kTag + "ETag: \"f\"\r\n" + range_line("5-9/10") + length},
      {"SeveralParts",
       kTag + range_line("5-9/10") + length + "Content-Type: Multipart/ByteRanges; boundary=x\r\n"},
      {"NoTag", range_line("5-9/10") + length},
      {"LaterStart", kTag + range_line("6-9/10") + "Content-Length: 4\r\n"},
      {"EarlierStart", kTag + range_line("4-9/10") + "Content-Length: 6\r\n"},
      {"EarlierEnd", kTag + range_line("5-8/10") + "Content-Length: 4\r\n"},
      {"AnotherLength", kTag + range_line("5-10/11") + "Content-Length: 6\r\n"},
      {"AnotherLengthSameEnd", kTag + range_line("5-9/11") + length},
      {"UnknownLength", kTag + range_line("5-9/*") + length},
      {"FewerBytesThanItSays", kTag + range_line("5-9/10") + "Content-Length: 4\r\n"},
      {"MoreBytesThanItSays", kTag + range_line("5-9/10") + "Content-Length: 6\r\n"},
      {"DoesNotPromise", kTag + range_line("5-9/10")},
      {"Backwards", kTag + range_line("9-5/10") + length},
      {"Huge", kTag + range_line("5-18446744073709551615/*") + length},
      {"SaysNothing", kTag + length},
      {"SaysTwoThings", kTag + range_line("5-9/10") + range_line("5-9/10") + length},
      {"IsNoPart", kTag + range_line("5-9/10") + length, false, 200},
  };
  const Message held(budget, "0-4/10", kFresh + kTag, 0, 5);
  const http::ContentRange whole{{0, 9}, 10};
  for (const auto& [name, lines, joins, status] : cases) {
    const Response answer(lines, status);
    for (const MissingRange& rest : {MissingRange{0, 5, {}}, MissingRange{0, 5, 9}}) {
      const auto part = joined(rest, *held.entry, answer.head);
      EXPECT_EQ(part, joins ? std::optional(whole) : std::nullopt) << name;
    }
  }
}

struct JudgedPart {
  const char* name;
  Verdict expected;
  std::string request = "";
  seconds later{0};
  std::string lines = kTag;
  std::string method = "GET";
};

TEST_F(Combine, LetsAPartAnswerWhatItHas) {  // bytes 0 to 4 of 10 are held: RFC 9111 3.3
  const std::string within = "Range: bytes=1-3\r\n", beyond = "Range: bytes=6-9\r\n";
  const std::string only_stored = "Cache-Control: only-if-cached\r\n";
  const JudgedPart cases[] = {
      {"Within", {Action::serve, Forward::none}, within},
      {"WithinForNeighbours", {Action::serve, Forward::none}, within + only_stored},
      {"WithinUnlessModified", {Action::serve, Forward::none}, within + "If-None-Match: \"e\"\r\n"},
      {"WithinStale", {Action::revalidate, Forward::stale, true}, within, 100s},
      {"WithinStaleNoValidator", {Action::fetch, Forward::stale, true}, within, 100s, ""},
      {"WithinReload",
       {Action::revalidate, Forward::request, true},
       within + "Cache-Control: no-cache\r\n"},
      {"WithinWhileRevalidate",
       {Action::revalidate, Forward::stale, true},
       within,
       101s,
       kTag + "Cache-Control: stale-while-revalidate=50\r\n"},
      {"Larger", {Action::complete, Forward::partial, true}, "Range: bytes=1-6\r\n"},
      {"LargerStale", {Action::complete, Forward::partial, true}, "Range: bytes=1-6\r\n", 100s},
      {"Beyond", {Action::fetch, Forward::partial, true}, beyond},
      {"BeyondNoStore", {Action::pass, Forward::partial}, beyond + "Cache-Control: no-store\r\n"},
      {"BeyondForNeighbours", {Action::refuse, Forward::partial}, beyond + only_stored},
      {"OtherVersion", {Action::fetch, Forward::partial, true}, within + "If-Range: \"f\"\r\n"},
      {"All", {Action::complete, Forward::partial}},
      {"AllUnlessModified", {Action::complete, Forward::partial}, "If-None-Match: \"e\"\r\n"},
      {"AllByAWeakTag", {Action::fetch, Forward::partial}, "", 0s, kWeakTag},
      {"AllForNeighbours", {Action::refuse, Forward::partial}, only_stored},
      {"Head", {Action::pass, Forward::partial}, "", 0s, kTag, "HEAD"},
      {"HeadWithRange", {Action::pass, Forward::partial}, within, 0s, kTag, "HEAD"},
  };
  for (const auto& [name, expected, lines, later, fields, method] : cases) {
    const Message held(budget, "0-4/10", kFresh + fields, 0, 5);
    const Request request(lines, method);
    EXPECT_EQ(judge(request.facts, Found{held.entry}, kStart + later), expected) << name;
  }
}

TEST_F(Combine, LetsAPartStandInForWhatItHas) {
  const Message held(budget, "0-4/10", "Cache-Control: max-age=100, stale-if-error=100\r\n", 0, 5);
  const auto found = Found{held.entry};
  Request within("Range: bytes=1-3\r\n");
  EXPECT_TRUE(may_stand_in(within.facts, *held.entry, kStart + 150s));
  within.facts.offline = true;
  EXPECT_EQ(judge(within.facts, found, kStart + 150s).action, Action::serve);
  Request whole;
  EXPECT_FALSE(may_stand_in(whole.facts, *held.entry, kStart + 150s));
  whole.facts.offline = true;
  EXPECT_EQ(judge(whole.facts, found, kStart + 150s).action, Action::fetch);
}

}  // namespace
}  // namespace proxy::cache
