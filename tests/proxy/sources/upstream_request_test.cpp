#include "proxy/sources/upstream_request.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::sources {
namespace {

const std::string kTag = "ETag: \"v1\"\r\n";
const std::string kGzip = "Content-Encoding: gzip\r\n";
const std::string kOldDate = "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
const cache::Time kStart{std::chrono::sys_days{std::chrono::January / 1 / 2024}};

cache::Budget room_of_entries(1 << 20);

constexpr cache::Verdict kFetch{cache::Action::fetch, http::Forward::uri_miss};
constexpr cache::Verdict kRevalidate{cache::Action::revalidate, http::Forward::stale};

// An entry with these fields, received at the start of 2024.
cache::Ref<cache::Entry> entry_with(const std::string& lines, unsigned status = 200) {
  const policy::TextRequest request("");
  const policy::TextAnswer answer(status, "Cache-Control: max-age=60\r\n" + lines);
  const cache::Received received{.url = "http://a.test/x",
                                 .request = (*request).head.fields,
                                 .response = answer.head,
                                 .times = {kStart, kStart},
                                 .our_name = "us"};
  return cache::Entry::make(room_of_entries, received);
}

TEST(SiblingRequest, AsksForWhatItHoldsAndHidesWhatIsTheClientsOwn) {
  const policy::TextRequest request(
      "Accept: */*\r\nCookie: secret\r\nX-Forwarded-For: 1.2.3.4\r\nForwarded: "
      "for=1.2.3.4\r\nAuthorization: Basic eDp5\r\nProxy-Authorization: z\r\n"
      "Range: bytes=0-1\r\nIf-None-Match: \"q\"\r\nPragma: no-cache\r\nExpect: 100-continue\r\n"
      "Cache-Control: max-age=10, min-fresh=5, no-transform\r\n");
  EXPECT_EQ(sibling_request(*request, "us"),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached, max-age=10, min-fresh=5\r\nHearsay-Epoch: ?1\r\n\r\n");
}

TEST(SiblingRequest, DemandsTheLongerOfTwoFreshnesses) {
  using std::chrono::seconds;
  const auto control = [](const std::string& lines, seconds least) {
    const policy::TextRequest request(lines);
    const auto text = sibling_request(*request, "us", {.least_freshness = least});
    const auto begin = text.find("Cache-Control: ");
    return text.substr(begin, text.find("\r\n", begin) - begin);
  };
  const std::string five = "Cache-Control: min-fresh=5\r\n";
  EXPECT_EQ(control("", seconds(0)), "Cache-Control: only-if-cached");
  EXPECT_EQ(control("", seconds(2)), "Cache-Control: only-if-cached, min-fresh=2");
  EXPECT_EQ(control(five, seconds(2)), "Cache-Control: only-if-cached, min-fresh=5");
  EXPECT_EQ(control(five, seconds(9)), "Cache-Control: only-if-cached, min-fresh=9");
}

TEST(SiblingRequest, OfAPartNamesTheVersionThatItHasToBeOf) {
  const policy::TextRequest request("Range: bytes=7-8\r\nIf-Range: \"mine\"\r\n");
  const SiblingQuestion any{PartAsked{{5, 99}}};
  EXPECT_EQ(sibling_request(*request, "us", any),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nRange: bytes=5-99\r\n\r\n");
  const SiblingQuestion of_one{PartAsked{{5, {}}, "\"v1\""}};
  EXPECT_EQ(sibling_request(*request, "us", of_one),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nRange: bytes=5-\r\nIf-Range: "
            "\"v1\"\r\n\r\n");
}

TEST(SiblingRequest, SaysThatTheFirstBlocksOfARangeWillDo) {
  const policy::TextRequest request("");
  const SiblingQuestion first{PartAsked{{0, 99}, {}, true}};
  EXPECT_EQ(sibling_request(*request, "us", first),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nRange: bytes=0-99\r\n"
            "Hearsay-Part: first\r\n\r\n");
}

TEST(SiblingRequest, NamesTheDigestThatClaimsTheUrl) {
  const policy::TextRequest request("");
  const SiblingQuestion asked{.digest = "\"0123456789abcdef-7\""};
  EXPECT_EQ(sibling_request(*request, "us", asked),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nHearsay-Digest: "
            "\"0123456789abcdef-7\"\r\n\r\n");
}

TEST(SiblingRequest, NamesTheAskerWhereNobodyClaimsTheUrl) {
  const policy::TextRequest request("");
  const SiblingQuestion asked{.fetcher = "0123456789abcdef"};
  EXPECT_EQ(sibling_request(*request, "us", asked),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nHearsay-Fetch: "
            "0123456789abcdef\r\n\r\n");
}

TEST(SiblingRequest, TakesWhatIsStaleWhereTheOriginIsAway) {
  const policy::TextRequest request("");
  const SiblingQuestion asked{.stale_will_do = true};
  EXPECT_EQ(sibling_request(*request, "us", asked),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached, max-stale\r\nHearsay-Epoch: ?1\r\n\r\n");
}

TEST(SiblingRequest, NamesTheRuleThatTheSiblingHasToHave) {
  const policy::TextRequest request("Cache-Control: max-age=0\r\n");
  request.parsed->facts.rule = 0x0123456789abcdef;
  request.parsed->facts.immutable = true;
  EXPECT_EQ(sibling_request(*request, "us"),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\nHearsay-Rule: "
            "0123456789abcdef\r\n\r\n");
}

TEST(SiblingRequest, TakesNoWordOfOursFromAClient) {
  const policy::TextRequest request(
      "Hearsay-Rule: 0123456789abcdef\r\nHearsay-Part: first\r\nHearsay-Fetch: 0123456789abcdef\r\n"
      "Hearsay-Digest: \"0123456789abcdef-7\"\r\n");
  EXPECT_EQ(sibling_request(*request, "us"),
            "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Cache-Control: only-if-cached\r\nHearsay-Epoch: ?1\r\n\r\n");
}

TEST(SiblingRequest, AnAnswerChosenByWhatItWasNotShownIsForSomebodyElse) {
  const policy::TextRequest with_cookie("Cookie: a=b\r\nAccept: */*\r\n");
  const policy::TextRequest without("Accept: */*\r\n");
  const policy::TextAnswer by_cookie(200, "Vary: Accept, cookie\r\n");
  const policy::TextAnswer by_accept(200, "Vary: Accept\r\n");
  EXPECT_TRUE(selected_by_withheld(by_cookie.head, *with_cookie));
  EXPECT_FALSE(selected_by_withheld(by_cookie.head, *without));
  EXPECT_FALSE(selected_by_withheld(by_accept.head, *with_cookie));
  const policy::TextRequest with_client("X-Forwarded-For: 1.2.3.4\r\n");
  const policy::TextAnswer by_client(200, "Vary: x-forwarded-for\r\n");
  EXPECT_TRUE(selected_by_withheld(by_client.head, *with_client));
  EXPECT_FALSE(selected_by_withheld(by_client.head, *without));
}

TEST(OriginRequest, AsksForTheBlocksAroundARangeInItsPlace) {
  const policy::TextRequest request("Range: bytes=5-70000\r\nAccept: */*\r\n");
  constexpr cache::Verdict kPart{cache::Action::fetch, http::Forward::uri_miss, true};
  const http::AskedRange wide{0, 1'048'575};
  EXPECT_EQ(origin_request(*request, "us", kPart, {}, wide),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nVia: 1.1 us\r\n"
            "Range: bytes=0-1048575\r\n\r\n");
}

TEST(RangeRequest, IsForThoseBytesOfThatVersion) {
  const policy::TextRequest request(
      "Range: bytes=5-9\r\nIf-Range: \"q\"\r\nIf-None-Match: \"q\"\r\n");
  const auto entry = entry_with(kTag);
  EXPECT_EQ(range_request(*request, "us", *entry, {1'048'576, 2'097'151}),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\n"
            "Range: bytes=1048576-2097151\r\nIf-Range: \"v1\"\r\n\r\n");
}

// Another client may have brought the entry, with another Accept-Encoding.
TEST(RangeRequest, IsForTheCodingsThatTheEntryHas) {
  const std::string vary = "Vary: Accept-Encoding\r\n";
  const struct {
    const char* name;
    std::string entry, client, asked;
  } cases[] = {
      {"NeitherIsCoded", kTag, "", ""},
      {"EntryIsNotCoded", kTag, "Accept-Encoding: gzip\r\n", "Accept-Encoding: identity\r\n"},
      {"ClientTakesNone", kTag + kGzip, "", "Accept-Encoding: gzip\r\n"},
      {"ClientTakesMore", kTag + kGzip, "Accept-Encoding: br, gzip\r\n",
       "Accept-Encoding: gzip\r\n"},
      {"SelectedTheEntry", kTag + kGzip + vary, "Accept-Encoding: br, gzip\r\n",
       "Accept-Encoding: br, gzip\r\n"},
  };
  for (const auto& [name, lines, client, asked] : cases) {
    const policy::TextRequest request(client);
    const bool own = asked == client;
    EXPECT_EQ(range_request(*request, "us", *entry_with(lines), {5, 9}),
              "GET /x HTTP/1.1\r\nHost: a.test\r\n" + (own ? client : "") +
                  "Via: 1.1 us\r\nRange: bytes=5-9\r\nIf-Range: \"v1\"\r\n" + (own ? "" : asked) +
                  "\r\n")
        << name;
  }
}

TEST(OriginRequest, AsksForTheWholeWithoutTheClientsConditions) {
  const policy::TextRequest request(
      "Cookie: a=b\r\nRange: bytes=5-\r\nIf-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT\r\n"
      "Proxy-Connection: keep-alive\r\nVia: 1.0 fred\r\n",
      "GET http://a.test/x?q HTTP/1.0");
  EXPECT_EQ(origin_request(*request, "us", kFetch),
            "GET /x?q HTTP/1.1\r\nHost: a.test\r\nCookie: a=b\r\nVia: 1.0 fred\r\nVia: 1.0 us\r\n"
            "\r\n");
}

TEST(OriginRequest, ValidatesWithTheEntrysOwnConditions) {
  const policy::TextRequest request("If-None-Match: \"the client's\"\r\n");
  const auto stale = entry_with(kTag);
  EXPECT_EQ(origin_request(*request, "us", kRevalidate, {stale.get(), "\"v1\""}),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\nIf-None-Match: \"v1\"\r\n\r\n");
}

TEST(OriginRequest, AsksForAPartAsTheClientDoes) {
  const policy::TextRequest request(
      "If-None-Match: \"q\"\r\nRange: bytes=5-\r\nIf-Range: \"v1\"\r\n");
  EXPECT_EQ(origin_request(*request, "us", {cache::Action::fetch, {}, true}),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nRange: bytes=5-\r\nIf-Range: \"v1\"\r\n"
            "Via: 1.1 us\r\n\r\n");
}

TEST(OriginRequest, AsksForWhatAPartLacksOfTheSame) {
  const auto part = entry_with(kTag + "Content-Range: bytes 0-4/10\r\n", 206);
  part->body.size = 5;
  const policy::TextRequest whole("");
  EXPECT_EQ(origin_request(*whole, "us", {cache::Action::complete, {}}, {part.get()}),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\nRange: bytes=5-\r\n"
            "If-Range: \"v1\"\r\n\r\n");
  const policy::TextRequest larger("Range: bytes=2-7\r\n");
  EXPECT_EQ(origin_request(*larger, "us", {cache::Action::complete, {}, true}, {part.get()}),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\nRange: bytes=5-7\r\n"
            "If-Range: \"v1\"\r\n\r\n");
}

TEST(RestRequest, AsksForTheRestOfTheSameRepresentation) {
  const policy::TextRequest request("Range: bytes=0-1\r\n");
  EXPECT_EQ(rest_request(*request, "us", *entry_with(kTag), 100),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nVia: 1.1 us\r\nRange: bytes=100-\r\n"
            "If-Range: \"v1\"\r\n\r\n");
}

TEST(RestRequest, OfWhatItHasBegunToFetchHasTheSameAcceptEncoding) {
  const policy::TextRequest request("Accept-Encoding: br, gzip\r\n");
  const auto entry = entry_with(kTag + kGzip);
  EXPECT_EQ(rest_request(*request, "us", *entry, 100),
            "GET /x HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: br, gzip\r\nVia: 1.1 us\r\n"
            "Range: bytes=100-\r\nIf-Range: \"v1\"\r\n\r\n");
}

struct Strength {
  const char* name;
  std::string lines;
  bool strong;
};
class StrongValidator : public testing::TestWithParam<Strength> {};

TEST_P(StrongValidator, DecidesWhetherABodyCanBeContinued) {
  const auto entry = entry_with(GetParam().lines);
  const policy::TextRequest request("");
  EXPECT_EQ(rest_request(*request, "us", *entry, 1).has_value(), GetParam().strong);
}

INSTANTIATE_TEST_SUITE_P(
    Rfc9110Section8_8, StrongValidator,
    testing::Values(Strength{"StrongTag", kTag, true},
                    Strength{"WeakTagBesideADate", "ETag: W/\"v1\"\r\n" + kOldDate, false},
                    Strength{"OldDate", kOldDate, true},
                    Strength{"DateOfTheLastMinute",
                             "Last-Modified: Sun, 31 Dec 2023 23:59:30 GMT\r\n", false},
                    Strength{"None", "", false}),
    [](const auto& tested) { return tested.param.name; });

struct Joint {
  const char* name;
  std::string entry;
  unsigned status;
  std::string answer;
  std::optional<std::uint64_t> length;
  std::optional<std::uint64_t> skipped;  // of an answer to "from byte 100 on"
};
class JoinsAfter : public testing::TestWithParam<Joint> {};

TEST_P(JoinsAfter, TakesOnlyWhatGoesOnWhereTheBodyWasCut) {
  const auto& joint = GetParam();
  const policy::TextAnswer answer(joint.status, joint.answer);
  const policy::TextRequest request("");
  EXPECT_EQ(joins_after(answer.head, *entry_with(joint.entry), 100, joint.length, *request),
            joint.skipped);
}

std::string range(const std::string& range, int length, const std::string& validator = kTag) {
  return validator + "Content-Range: " + range + "\r\nContent-Length: " + std::to_string(length) +
         "\r\n";
}

INSTANTIATE_TEST_SUITE_P(
    Answers, JoinsAfter,
    testing::Values(
        Joint{"TheRest", kTag, 206, range("bytes 100-199/200", 100), 200, 0},
        Joint{"TheRestOfUnknownLength", kTag, 206, range("bytes 100-199/200", 100), {}, 0},
        Joint{"TheWhole", kTag, 200, kTag, 200, 100},
        Joint{"ByDate", kOldDate, 206, range("bytes 100-199/200", 100, kOldDate), 200, 0},
        Joint{
            "AnotherTag", kTag, 206, range("bytes 100-199/200", 100, "ETag: \"v2\"\r\n"), 200, {}},
        Joint{"WeakTag", kTag, 200, "ETag: W/\"v1\"\r\n", 200, {}},
        Joint{"NoTag", kTag, 206, range("bytes 100-199/200", 100, ""), 200, {}},
        Joint{"AnotherDate",
              kOldDate,
              200,
              "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n",
              200,
              {}},
        Joint{"CodedRest", kTag + kGzip, 206, range("bytes 100-199/200", 100, kTag + kGzip), {}, 0},
        Joint{"UncodedRest", kTag + kGzip, 206, range("bytes 100-199/200", 100), {}, {}},
        Joint{"UncodedWhole", kTag + kGzip, 200, kTag, {}, {}},
        Joint{"WholeOfAnotherLength", kTag, 200, kTag + "Content-Length: 300\r\n", 200, {}},
        Joint{"WholeOfLessThanCame", kTag, 200, kTag + "Content-Length: 99\r\n", {}, {}},
        Joint{"RestThatIsCalledTheWhole", kTag, 200, range("bytes 100-199/200", 100), 200, {}},
        Joint{"LaterStart", kTag, 206, range("bytes 101-199/200", 99), 200, {}},
        Joint{"EarlierStart", kTag, 206, range("bytes 0-199/200", 200), 200, {}},
        Joint{"NotToTheEnd", kTag, 206, range("bytes 100-149/200", 50), 200, {}},
        Joint{"AnotherLength", kTag, 206, range("bytes 100-299/300", 200), 200, {}},
        Joint{"UnknownLength", kTag, 206, range("bytes 100-199/*", 100), 200, {}},
        Joint{"FewerBytesThanItSays", kTag, 206, range("bytes 100-199/200", 50), {}, {}},
        Joint{"NoContentLength", kTag, 206, kTag + "Content-Range: bytes 100-199/200\r\n", {}, {}},
        Joint{"NoRange", kTag, 206, kTag, 200, {}},
        Joint{"NoBytes", kTag, 206, range("lines 100-199/200", 100), 200, {}},
        Joint{"NoNumbers", kTag, 206, range("bytes /-", 100), 200, {}},
        Joint{"Huge", kTag, 206, range("bytes 100-18446744073709551615/0", 100), {}, {}},
        Joint{"AnError", kTag, 416, kTag, 200, {}}),
    [](const auto& tested) { return tested.param.name; });

TEST(InterimText, PassesTheHeadOnWithoutWhatEndsHere) {
  const policy::TextAnswer early(103, "Link: </a>\r\nConnection: x\r\nX: y\r\n");
  EXPECT_EQ(interim_text(early.head, "us"), "HTTP/1.1 103 X\r\nLink: </a>\r\nVia: 1.1 us\r\n\r\n");
}

}  // namespace
}  // namespace proxy::sources
