#include "proxy/fetching/origin_answer.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::fetching {
namespace {

using cache::Action;

const std::string kTag = "ETag: \"v1\"\r\n";

cache::Ref<const cache::Entry> stored_entry(cache::Budget& budget, unsigned status,
                                            const std::string& lines, std::uint64_t size) {
  const policy::TextRequest request("");
  const policy::TextAnswer answer(status, "Cache-Control: max-age=60\r\n" + lines);
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  const auto entry = cache::Entry::make(budget, cache::Received{.url = "http://a.test/x",
                                                                .request = (*request).head.fields,
                                                                .response = answer.head,
                                                                .times = {now, now},
                                                                .our_name = "us"});
  entry->body.size = size;
  return entry;
}

struct Asked {
  OriginSays says(unsigned status, const std::string& lines = "") const {
    const policy::TextRequest request(of_client);
    const policy::TextAnswer answer(status, lines);
    return said_by(answer.head, question, *request);
  }

  std::string of_client;
  OriginQuestion question;
};

struct OriginAnswer : testing::Test {
  OriginQuestion revalidating(const std::string& lines, std::string tags) {
    return {
        {Action::revalidate, http::Forward::stale}, stored_entry(budget, 200, lines, 10), {}, tags};
  }
  OriginQuestion completing(bool part) {
    const auto half = stored_entry(budget, 206, kTag + "Content-Range: bytes 0-4/10\r\n", 5);
    return {{Action::complete, http::Forward::partial, part}, half};
  }

  cache::Budget budget{1 << 20};
};

TEST_F(OriginAnswer, MayRefuseSeveralRangesAsSuch) {
  using enum OriginSays;
  const std::string several = "Range: bytes=5-9,20-29\r\n";
  const struct {
    std::string lines;
    unsigned status;
    const char* length;
    OriginSays says;
  } cases[] = {
      {several, 501, "", several_refused},
      {several, 416, "", several_refused},
      {several, 416, "bytes */30", several_refused},
      {several, 416, "bytes */6", several_refused},
      {several, 416, "bytes */5", response},
      {several, 400, "", response},
      {several, 404, "", response},
      {several, 200, "", response},
      {several, 206, "", response},
      {"Range: bytes=5-9\r\n", 501, "", response},
      {"Range: bytes=5-9\r\n", 416, "", response},
      {several + "Authorization: AWS4-HMAC-SHA256 SignedHeaders=host;range\r\n", 501, "", response},
  };
  OriginQuestion question{{Action::fetch, http::Forward::uri_miss, true}, nullptr};
  for (const auto& [lines, status, length, says] : cases) {
    const std::string told = *length ? std::string("Content-Range: ") + length + "\r\n" : "";
    EXPECT_EQ((Asked{lines, question}.says(status, told)), says) << lines << status << length;
  }
  EXPECT_FALSE(question.for_all().how.part);
}

TEST_F(OriginAnswer, ToAPlainFetchIsTheResponse) {
  const Asked asked{"", {{Action::fetch, http::Forward::uri_miss}, nullptr}};
  for (const unsigned status : {200, 204, 301, 404, 416}) {
    EXPECT_EQ(asked.says(status), OriginSays::response) << status;
  }
  for (const unsigned status : {304, 206}) {
    EXPECT_EQ(asked.says(status), OriginSays::unasked) << status;
  }
  for (const unsigned status : {500, 502, 503, 504}) {
    EXPECT_EQ(asked.says(status), OriginSays::error) << status;
  }
}

TEST_F(OriginAnswer, ToAPartIsThatPart) {
  const Asked asked{"Range: bytes=5-9\r\n",
                    {{Action::fetch, http::Forward::uri_miss, true}, nullptr}};
  for (const unsigned status : {200, 206, 416}) {
    EXPECT_EQ(asked.says(status), OriginSays::response) << status;
  }
  EXPECT_EQ(asked.says(304), OriginSays::unasked);
}

// RFC 9111 4.3.4.
TEST_F(OriginAnswer, ToARevalidationIsAboutOurResponseOrTheClientsOrNeither) {
  const Asked alone{"", revalidating(kTag, "\"v1\"")};
  EXPECT_EQ(alone.says(304, kTag), OriginSays::unmodified);
  EXPECT_EQ(alone.says(304), OriginSays::unmodified);
  EXPECT_EQ(alone.says(304, "ETag: \"v2\"\r\n"), OriginSays::unmodified_other);
  EXPECT_EQ(alone.says(200, "ETag: \"v2\"\r\n"), OriginSays::response);
  EXPECT_EQ(alone.says(503), OriginSays::error);
  const Asked both{"If-None-Match: \"v2\"\r\n", revalidating(kTag, "\"v1\", \"v2\"")};
  EXPECT_EQ(both.says(304, kTag), OriginSays::unmodified);
  EXPECT_EQ(both.says(304, "ETag: \"v2\"\r\n"), OriginSays::unmodified_there);
  EXPECT_EQ(both.says(304, "ETag: \"v3\"\r\n"), OriginSays::unmodified_other);
  EXPECT_EQ(both.says(304), OriginSays::unmodified_other) << "it may mean either";
  const Asked unconditional{"", revalidating("", "")};
  EXPECT_EQ(unconditional.says(304), OriginSays::unasked);
}

TEST_F(OriginAnswer, ToACompletionIsTheRestOrNothingToJoin) {
  const std::string rest = kTag + "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n";
  const Asked whole{"", completing(false)};
  EXPECT_EQ(whole.says(206, rest), OriginSays::rest);
  EXPECT_EQ(whole.says(206, "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"),
            OriginSays::not_the_rest);
  for (const unsigned status : {206, 304, 412, 416}) {
    EXPECT_EQ(whole.says(status), OriginSays::not_the_rest) << status;
  }
  const std::string slice = "Content-Range: bytes 5-9/10\r\nContent-Length: 5\r\n";
  EXPECT_EQ(whole.says(206, rest + "Content-Encoding: gzip\r\n"), OriginSays::not_the_rest);
  EXPECT_EQ(whole.says(200, kTag + slice), OriginSays::not_the_rest) << "a part, called the whole";
  EXPECT_EQ(whole.says(200, kTag), OriginSays::response);
  EXPECT_EQ(whole.says(200, kTag + "Content-Range: bytes 5-9/10\r\n"), OriginSays::not_the_rest);
  for (const unsigned status : {302, 400, 403, 404, 500}) {
    EXPECT_EQ(whole.says(status), OriginSays::declined) << status;
  }
  const Asked part{"Range: bytes=2-9\r\n", completing(true)};
  EXPECT_EQ(part.says(206, rest), OriginSays::rest);
  EXPECT_EQ(part.says(200, kTag), OriginSays::not_the_rest) << "the client wants a part";
}

TEST_F(OriginAnswer, ToAnotherRangeThanTheClientsIsAPartOrTheWholeOrOfNoUse) {
  const auto asking = [](const std::string& of_client, http::AskedRange instead) {
    OriginQuestion question{{Action::fetch, http::Forward::uri_miss, true}, nullptr};
    question.range_override = instead;
    return Asked{of_client, question};
  };
  const http::AskedRange blocks{1 << 20, (2 << 20) - 1};
  for (const char* of_client :
       {"Range: bytes=1500000-1600000\r\n", "Range: bytes=5-9,1500000-1600000\r\n",
        "Range: bytes=1048576-2097151\r\nIf-Range: \"v1\"\r\n"}) {
    const auto asked = asking(of_client, blocks);
    EXPECT_EQ(asked.says(206), OriginSays::response);
    EXPECT_EQ(asked.says(200), OriginSays::response);
    EXPECT_EQ(asked.says(200, "Content-Range: bytes 0-1/3\r\n"), OriginSays::declined);
    for (const unsigned status : {302, 304, 400, 403, 404, 416, 500, 503}) {
      EXPECT_EQ(asked.says(status), OriginSays::declined) << of_client << status;
    }
  }
  const auto own = asking("Range: bytes=1048576-2097151\r\n", blocks);
  EXPECT_EQ(own.says(416), OriginSays::response);
  EXPECT_EQ(own.says(500), OriginSays::error);
}

TEST_F(OriginAnswer, IsBehindAClientThatNamesAnotherVersionAndAsksForBytesBehindItsEnd) {
  const policy::TextRequest ahead("Range: bytes=10-\r\nIf-None-Match: \"v2\"\r\n");
  const policy::TextRequest same("Range: bytes=10-\r\nIf-None-Match: \"v1\"\r\n");
  const policy::TextRequest within("Range: bytes=9-\r\nIf-None-Match: \"v2\"\r\n");
  const struct {
    unsigned status;
    std::string lines;
    std::optional<std::uint64_t> length;
  } answers[] = {{200, kTag, 10}, {206, kTag + "Content-Range: bytes 0-9/10\r\n", 10}};
  for (const auto& [status, lines, length] : answers) {
    const policy::TextAnswer answer(status, lines);
    EXPECT_TRUE(is_behind_client(answer.head, length, *ahead)) << status;
    EXPECT_FALSE(is_behind_client(answer.head, length, *same)) << status;
    EXPECT_FALSE(is_behind_client(answer.head, length, *within)) << status;
  }
  EXPECT_TRUE(is_behind_client(policy::TextAnswer(416, "").head, 0, *ahead));
  EXPECT_FALSE(is_behind_client(policy::TextAnswer(404, "").head, 10, *ahead));
  EXPECT_FALSE(is_behind_client(policy::TextAnswer(200, kTag).head, std::nullopt, *ahead));
}

TEST_F(OriginAnswer, IsFollowedByAQuestionWithoutThePartThatFailed) {
  auto first = completing(true);
  first.range_override = http::AskedRange{5, 9};
  const auto anew = first.anew();
  EXPECT_EQ(anew.how, (cache::Verdict{Action::fetch, http::Forward::partial, true}));
  EXPECT_EQ(anew.stored, first.stored) << "it may still stand in";
  EXPECT_EQ(first.without_stored().stored, nullptr);
  EXPECT_EQ(first.without_stored().how.action, Action::fetch);
  const auto own = first.as_the_client_asked();
  EXPECT_EQ(own.range_override, std::nullopt);
  EXPECT_EQ(own.how, anew.how);
  EXPECT_EQ(own.stored, first.stored) << "it may still stand in";
  EXPECT_EQ(own.range, RangeAsked::again);
  const policy::TextRequest request("Range: bytes=2-9\r\n");
  EXPECT_TRUE(first.changes_range((*request).facts));
  EXPECT_FALSE(own.changes_range((*request).facts));
}

TEST_F(OriginAnswer, OutdatesTheStoredResponseIfItTellsTheResourcesState) {
  using cache::Storability;
  for (const unsigned status : {200, 204, 301, 404, 410}) {
    EXPECT_TRUE(replaces_stored(status, Storability::no_store)) << status;
    EXPECT_FALSE(replaces_stored(status, Storability::private_)) << status;
    EXPECT_FALSE(replaces_stored(status, Storability::partial)) << status;
  }
  for (const unsigned status : {400, 401, 403, 429, 500, 503}) {
    EXPECT_FALSE(replaces_stored(status, Storability::no_store)) << status;
  }
}

TEST_F(OriginAnswer, ToTheClientsOwnIfRangeIsNotStored) {
  const policy::TextRequest request("Range: bytes=0-4\r\nIf-Range: \"v1\"\r\n");
  const policy::TextAnswer answer(206, kTag + "Cache-Control: max-age=60\r\n" +
                                           "Content-Range: bytes 0-4/10\r\nContent-Length: 5\r\n");
  const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
  OriginQuestion asked{{Action::fetch, http::Forward::uri_miss, true}, nullptr};
  const auto control = http::response_cache_control(answer.head.fields, {});
  const auto storability = [&] {
    return storability_of(answer.head, asked, *request, {now, now}, control);
  };
  EXPECT_EQ(storability(), cache::Storability::partial);
  asked.range_override = http::AskedRange{0, 4};  // which goes without it
  EXPECT_EQ(storability(), cache::Storability::yes);
}

}  // namespace
}  // namespace proxy::fetching
