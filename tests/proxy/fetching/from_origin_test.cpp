#include "proxy/fetching/fetching.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/fetching/fetch_scene.hpp"

namespace proxy::fetching {
namespace {

using cache::Action;
using support::Gate;
using namespace std::chrono_literals;

// One answer of the origin, and what becomes of it.
struct AnswerCase {
  const char* claim;
  Reply reply;
  std::string seen;
  std::string kept;       // "yes", or why it is not stored
  bool shareable = true;  // with requests that wait for the same URL
  std::string lines = {};
};

Reply answer(int status, std::string body, support::Fields fields = {}) {
  return Reply(status, std::move(fields)).body(std::move(body));
}
Reply lasting(std::string body) {
  return answer(200, std::move(body), {{"Cache-Control", "max-age=60"}});
}

void expect(const std::vector<AnswerCase>& rows) {
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", row.reply);
    const auto seen = scene.fetch(row.lines);
    EXPECT_EQ(seen.text(), row.seen) << row.claim;
    EXPECT_EQ(seen.kept(), row.kept) << row.claim;
    EXPECT_EQ(!!scene.stored(), row.kept == "yes") << row.claim;
    EXPECT_EQ(seen.head && seen.head->shareable, row.shareable) << row.claim;
    EXPECT_EQ(scene.fills.under_way(scene.key(), scene.url(), scene.clock.steady()), nullptr)
        << row.claim;
  }
}

TEST(FetchFromOrigin, StoresWhatTheRulesAllow) {
  expect({
      {"a lifetime", lasting("hello"), "200 hello", "yes"},
      {"an empty body", lasting(""), "200 ", "yes"},
      {"no body at all", Reply(204, {{"Cache-Control", "max-age=60"}}), "204 ", "yes"},
      {"a redirect", answer(301, "there", {{"Location", "/y"}, {"Cache-Control", "max-age=60"}}),
       "301 there", "yes"},
      {"chunks", Reply(200, {{"Cache-Control", "max-age=60"}}).chunked().send("hel").send("lo"),
       "200 hello", "yes"},
      {"until the end of the connection",
       Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nhello"), "200 hello", "yes"},
      {"only after validation",
       answer(200, "hello", {{"Cache-Control", "no-cache"}, {"ETag", kStrongTag}}), "200 hello",
       "yes", false},
  });
}

TEST(FetchFromOrigin, PassesOnWhatMayNotBeStored) {
  expect({
      {"it says so", answer(200, "hello", {{"Cache-Control", "no-store"}}), "200 hello", "no-store",
       false},
      {"for one client", answer(200, "hello", {{"Cache-Control", "private"}}), "200 hello",
       "private", false},
      {"Vary: *", answer(200, "hello", {{"Cache-Control", "max-age=60"}, {"Vary", "*"}}),
       "200 hello", "vary", false},
      {"no lifetime and no validator", answer(500, "hello"), "500 hello", "status", false},
      {"the request says so", lasting("hello"), "200 hello", "request-no-store", false,
       "Cache-Control: no-store\r\n"},
      {"the request has credentials", lasting("hello"), "200 hello", "authorization", false,
       "Authorization: Basic YTpi\r\n"},
  });
}

// What came of a cut body is stored if a strong validator allows the rest to be asked for.
TEST(FetchFromOrigin, StoresWhatCameOfACutBodyIfTheRestCanBeAskedFor) {
  const auto cut_body = [](support::Fields fields) {
    fields.emplace_back("Cache-Control", "max-age=60");
    return Reply(200, std::move(fields)).sized(5).send("hel").cut();
  };
  const struct {
    const char* claim;
    Reply reply;
    std::string seen;
    std::string stored;
  } rows[] = {
      {"a strong tag", cut_body({{"ETag", kStrongTag}}), "200 hel cut", "hel"},
      {"a weak tag", cut_body({{"ETag", "W/\"v1\""}}), "200 hel cut", ""},
      {"no validator", cut_body({}), "200 hel cut", ""},
      {"nothing came",
       Reply(200, {{"ETag", kStrongTag}, {"Cache-Control", "max-age=60"}}).sized(5).cut(),
       "200  cut", ""},
      {"a chunk that is none",
       Reply::raw("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"v1\"\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nnone\r\n"),
       "200  malformed", ""},
      {"no-store",
       Reply(200, {{"ETag", kStrongTag}, {"Cache-Control", "no-store"}}).sized(5).send("hel").cut(),
       "200 hel cut", ""},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", row.reply);
    EXPECT_EQ(scene.fetch().text(), row.seen) << row.claim;
    EXPECT_EQ(scene.stored_text(), row.stored) << row.claim;
    EXPECT_EQ(!!scene.stored(), !row.stored.empty()) << row.claim;
    EXPECT_TRUE(!scene.stored() || scene.stored()->is_part()) << row.claim;
  }
}

TEST(FetchFromOrigin, FailsWithTheOrigin) {
  expect({
      {"no byte", Reply::hang_up(), "cut", "nothing", false},
      {"no HTTP", Reply::raw("what?\r\n\r\n"), "malformed", "nothing", false},
      {"a 304 that nobody asked for", Reply(304), "malformed", "nothing", false},
      {"a part that nobody asked for", answer(206, "he", {{"Content-Range", "bytes 0-1/5"}}),
       "malformed", "nothing", false},
  });
}

TEST(FetchFromOrigin, PassesInterimHeadsOn) {
  FetchScene scene;
  scene.origin.on("/x", lasting("hello").interim("HTTP/1.1 103 Early Hints", {{"Link", "</y>"}}));
  const auto seen = scene.fetch();
  EXPECT_EQ(seen.text(), "200 hello");
}

// What a stored response of ours becomes by the origin's answer to its validation.
TEST(FetchFromOrigin, RenewsOrReplacesOrDropsWhatItValidates) {
  const struct {
    const char* claim;
    Reply reply;
    std::string seen;
    std::string stored;
    bool validated = false;
    std::string lines = {};
  } rows[] = {
      {"it is the same", Reply(304, {{"ETag", kStrongTag}}), "200 old", "old", true},
      {"it is the same, and may not be stored",
       Reply(304, {{"ETag", kStrongTag}, {"Cache-Control", "no-store"}}), "200 old", "", true},
      {"it is another", lasting("new"), "200 new", "new"},
      {"it is another, for one client", answer(200, "new", {{"Cache-Control", "private"}}),
       "200 new", "old"},
      {"it is another, which may not be stored",
       answer(200, "new", {{"Cache-Control", "no-store"}}), "200 new", ""},
      {"it is gone", answer(404, "gone", {{"Cache-Control", "no-store"}}), "404 gone", ""},
      {"it is refused", answer(403, "no", {{"Cache-Control", "no-store"}}), "403 no", "old"},
      {"the origin errs", answer(503, "no"), "503 no", "old"},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", row.reply);
    auto stored = scene.stock("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n", "old");
    scene.clock.pass(2min);
    const auto seen = scene.run(scene.job_for(std::move(stored)));
    EXPECT_EQ(seen.text(), row.seen) << row.claim;
    EXPECT_EQ(scene.stored_text(), row.stored) << row.claim;
    EXPECT_EQ(seen.head && seen.head->provenance.validated, row.validated) << row.claim;
    EXPECT_EQ(scene.origin.requests().at(0).field("If-None-Match"), kStrongTag) << row.claim;
  }
}

// RFC 5861 4. How long a stale response may stand in, its own head or the settings say.
TEST(FetchFromOrigin, LetsAStaleResponseStandInForAnOriginThatFails) {
  const struct {
    const char* claim;
    Reply reply;
    std::string lines;
    std::string seen;
  } rows[] = {
      {"it errs", answer(503, "no"), "stale-if-error=600", "200 old"},
      {"it is gone, which is no error", answer(404, "gone"), "stale-if-error=600", "404 gone"},
      {"it hangs up", Reply::hang_up(), "stale-if-error=600", "200 old"},
      {"for too long", answer(503, "no"), "stale-if-error=30", "503 no"},
      {"it must be revalidated", answer(503, "no"), "stale-if-error=600, must-revalidate",
       "503 no"},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", row.reply);
    auto stored = scene.stock("Cache-Control: max-age=60, " + row.lines + "\r\n", "old");
    scene.clock.pass(2min);
    const auto seen = scene.run(scene.job_for(std::move(stored)));
    EXPECT_EQ(seen.text(), row.seen) << row.claim;
    const bool stood_in = row.seen == "200 old";
    EXPECT_EQ(seen.head && seen.head->provenance.stood_in, stood_in) << row.claim;
    EXPECT_EQ(seen.head && seen.head->provenance.inquiries.detail.starts_with("stale-if-error/"),
              stood_in)
        << row.claim;
    EXPECT_EQ(!!scene.stored(), row.seen != "404 gone") << row.claim;
  }
}

// RFC 9111 4.2.4. The setting lets it stand in for the time of a failure; of a mirrored host, for
// an error, too.
TEST(FetchFromOrigin, LetsAStaleResponseOfAMirroredHostStandInForAnError) {
  const struct {
    const char* claim;
    Reply reply;
    const char* seen;
    const char* of_another;  // seen of a host that is not mirrored
    std::chrono::minutes passed = 2min;
    const char* lines = "";
  } rows[] = {
      {"too many requests", answer(429, "wait"), "200 old", "429 wait"},
      {"an error", answer(500, "no"), "200 old", "500 no"},
      {"overload", answer(503, "no"), "200 old", "503 no"},
      {"no answer", Reply::hang_up(), "200 old", "200 old"},
      {"it is gone", answer(404, "gone"), "404 gone", "404 gone"},
      {"a refusal", answer(403, "no"), "403 no", "403 no"},
      {"a method that it lacks", answer(501, "no"), "501 no", "501 no"},
      {"for too long", answer(429, "wait"), "429 wait", "429 wait", 90min},
      {"it must be revalidated", answer(503, "no"), "503 no", "503 no", 2min, ", must-revalidate"},
  };
  for (const auto& row : rows) {
    for (const bool mirrored : {true, false}) {
      FetchScene scene;
      if (mirrored) scene.mirror();
      scene.origin.on("/x", row.reply);
      auto stored =
          scene.stock(std::string("Cache-Control: max-age=60") + row.lines + "\r\n", "old");
      scene.clock.pass(row.passed);
      const auto seen = scene.run(scene.job_for(std::move(stored)));
      EXPECT_EQ(seen.text(), mirrored ? row.seen : row.of_another) << row.claim;
    }
  }
}

// The client of a refresh was answered already: a failure changes nothing.
TEST(FetchFromOrigin, LeavesTheStoredResponseToAFailedRefresh) {
  for (const auto& [reply, failed] :
       {std::pair(answer(503, "no"), true), std::pair(Reply::hang_up(), true),
        std::pair(lasting("new"), false)}) {
    FetchScene scene;
    scene.origin.on("/x", reply);
    auto job = scene.job_for(scene.stock("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n", "old"));
    job.refresh = true;
    job.fill = scene.fills.begin_refresh(cache::key_of(scene.url("/y")), scene.url(),
                                         {scene.io.get_executor()});
    const auto seen = scene.run(std::move(job));
    EXPECT_EQ(seen.text(), failed ? "abandoned" : "200 new");
    EXPECT_EQ(scene.stored_text(), failed ? "old" : "new");
  }
}

// A 304 may be about what the client has, and about nothing that anybody has.
TEST(FetchFromOrigin, TellsWhatTheClientsTagsWereGood) {
  FetchScene scene;
  scene.origin.on("/x", [](const support::Request& request) {
    if (!request.has("If-None-Match")) return lasting("new");
    return Reply(304, {{"ETag", "\"v2\""}});
  });
  auto ours = scene.job_for(scene.stock("Cache-Control: max-age=60\r\nETag: \"v1\"\r\n", "old"));
  ours.request = scene.request("If-None-Match: \"v2\"\r\n");
  auto stored = ours.stored;
  const auto theirs = scene.run(std::move(ours));
  EXPECT_EQ(theirs.text(), "304 ") << "what only the client has";
  EXPECT_EQ(scene.stored_text(), "old");
  EXPECT_EQ(scene.origin.requests().at(0).field("If-None-Match"), "\"v1\", \"v2\"");
  const auto other = scene.run(scene.job_for(std::move(stored)));
  EXPECT_EQ(other.text(), "200 new") << "what nobody has is asked for without conditions";
  EXPECT_EQ(scene.origin.count(), 3U);
  EXPECT_EQ(scene.stored_text(), "new");
}

struct RestCase {
  const char* claim;
  Reply reply;  // to the question for the rest
  std::string seen;
  std::string stored;
  std::size_t asked = 1;
};

// What is stored is "hel" of "hello".
TEST(FetchFromOrigin, CompletesAStoredPartOrAsksAnew) {
  const auto rest = [](std::string body, std::string range, std::string tag = kStrongTag) {
    return answer(206, std::move(body),
                  {{"Content-Range", std::move(range)},
                   {"ETag", std::move(tag)},
                   {"Cache-Control", "max-age=60"}});
  };
  const RestCase rows[] = {
      {"the rest", rest("lo", "bytes 3-4/5"), "200 hello", "hello"},
      {"the rest of another version", rest("lo", "bytes 3-4/5", "\"v2\""), "200 anew", "anew", 2},
      {"another part", rest("l", "bytes 3-3/5"), "200 anew", "anew", 2},
      {"the whole of another version", lasting("new"), "200 new", "new"},
      {"no such range", answer(416, ""), "200 anew", "anew", 2},
      {"the precondition failed", answer(412, ""), "200 anew", "anew", 2},
      {"a refusal, perhaps of the range", answer(403, ""), "200 anew", "anew", 2},
      {"an error, perhaps of the range", answer(500, ""), "200 anew", "anew", 2},
      {"no answer, perhaps for the range", Reply::hang_up(), "200 anew", "anew", 2},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", [&](const support::Request& request) {
      return request.has("Range") ? row.reply : lasting("anew");
    });
    auto stored = scene.stock(
        "Cache-Control: max-age=60\r\nETag: \"v1\"\r\n"
        "Content-Range: bytes 0-2/5\r\n",
        "hel", 206);
    const auto seen = scene.run(scene.job_for(std::move(stored), Action::complete));
    EXPECT_EQ(seen.text(), row.seen) << row.claim;
    EXPECT_EQ(scene.stored_text(), row.stored) << row.claim;
    const auto asked = scene.origin.requests();
    EXPECT_EQ(asked.at(0).field("Range"), "bytes=3-") << row.claim;
    EXPECT_GE(asked.size(), row.asked) << row.claim;
  }
}

TEST(FetchFromOrigin, AsksForTheClientsOwnRangeAfterAnotherWasOfNoUse) {
  const auto part = [](std::string body, std::string range) {
    return answer(206, std::move(body),
                  {{"Content-Range", std::move(range)},
                   {"ETag", kStrongTag},
                   {"Cache-Control", "max-age=60"}});
  };
  const struct {
    const char* claim;
    Reply reply;  // to the other range, 0-9
    std::string seen;
    std::size_t asked;
  } rows[] = {
      {"it is cut to the client's", part("0123456789", "bytes 0-9/20"), "206 345", 1},
      {"it lacks the client's", part("01", "bytes 0-1/20"), "206 own", 2},
      {"it was refused", answer(403, ""), "206 own", 2},
      {"it is not satisfiable", answer(416, ""), "206 own", 2},
      {"the whole is an answer, too", lasting("01234567890123456789"), "200 01234567890123456789",
       1},
      {"its body is cut before the client's range",
       Reply(206, {{"Content-Range", "bytes 0-9/20"}, {"ETag", kStrongTag}})
           .sized(10)
           .send("01")
           .cut(),
       "206 own", 2},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", [&](const support::Request& request) {
      return request.field("Range") == "bytes=0-9" ? row.reply : part("own", "bytes 3-5/20");
    });
    auto job = scene.job("Range: bytes=3-5\r\n");
    job.range_override = http::AskedRange{0, 9};
    EXPECT_EQ(scene.run(std::move(job)).text(), row.seen) << row.claim;
    EXPECT_EQ(scene.origin.count(), row.asked) << row.claim;
  }
}

TEST(FetchFromOrigin, IsGivenUpWhenTheLastReaderLeaves) {
  FetchScene scene;
  const Gate gate;
  scene.origin.on("/x",
                  Reply(200, {{"Cache-Control", "max-age=60"}}).sized(5).wait(gate).send("hello"));
  auto job = scene.job();
  const auto fill = job.fill;
  auto reader = fill::FillReader::attach(fill, scene.io.get_executor());
  start_fetching(scene.fetching, std::move(job));
  EXPECT_FALSE(scene.ends(fill, 50ms));
  reader.reset();
  EXPECT_TRUE(scene.ends(fill, 5s));
  EXPECT_EQ(fill::FillReader::attach(fill, scene.io.get_executor()), nullptr);
  EXPECT_EQ(scene.stored(), nullptr);
}

TEST(FetchFromOrigin, TakesUpAQuestionThatWasAskedAlready) {
  FetchScene scene;
  scene.origin.on("/x", lasting("hello"));
  auto job = scene.job();
  auto begun = scene.ask(job);
  EXPECT_EQ(scene.run(std::move(job), std::move(begun)).text(), "200 hello");
  EXPECT_EQ(scene.origin.count(), 1U);
}

}  // namespace
}  // namespace proxy::fetching
