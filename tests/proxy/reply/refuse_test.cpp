#include "proxy/reply/refuse.hpp"

#include <gtest/gtest.h>

#include "proxy/lists/read.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/users/credentials.hpp"
#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

// The response as text, with its length.
std::string received(client::ServeScene& scene, net::Task<void> task) {
  scene.run(std::move(task));
  const auto& got = scene.response;
  EXPECT_TRUE(got.finished());
  return got.head() + "Content-Length: " + std::to_string(got.length().value()) + "\r\n\r\n" +
         got.content();
}

std::string refused(const policy::TextRequest& request, Refusal refusal, bool* goes_on = nullptr) {
  client::ServeScene scene;
  scene.response.begin();
  auto text = received(scene, refuse(scene.client, *request, std::move(refusal)));
  if (goes_on) *goes_on = !scene.response.closes();
  return text;
}

TEST(Refuse, SaysWhyInOneLineThatNobodyMayKeep) {
  const policy::TextRequest request("");
  bool goes_on = false;
  const auto text = refused(request, Refusal::forbidden("no"), &goes_on);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 403 Forbidden\r\n")) << text;
  EXPECT_EQ(std::count(text.begin() + text.find("\r\n\r\n") + 4, text.end(), '\n'), 1) << text;
  for (const auto* field : {"Cache-Control: no-store\r\n", "Via: 1.1 cache-a\r\n",
                            "Content-Length: ", "Cache-Status: cache-a", "Date: "}) {
    EXPECT_NE(text.find(field), std::string::npos) << field;
  }
  EXPECT_TRUE(goes_on);
}

config::Settings with_contact() {
  auto settings = client::quiet_settings();
  settings.pages.contact = "the <help> desk";
  return settings;
}

// What a client gets that asks with these fields.
std::string refused_with(const std::string& fields, Refusal refusal,
                         const std::string& line = "GET http://a.test/x?a='b'&c HTTP/1.1") {
  client::ServeScene scene(with_contact());
  scene.response.begin(line.starts_with("HEAD"));
  const policy::TextRequest request(fields, line);
  request.parsed->pin(scene.policy);
  return received(scene, refuse(scene.client, *request, std::move(refusal)));
}

TEST(Refuse, GivesABrowserAPageThatNamesWhoAndWhatAndWhomToAsk) {
  const auto text = refused_with("Accept: text/html,*/*;q=0.8\r\n", Refusal::forbidden("a < b"));
  for (const auto* part :
       {"Content-Type: text/html; charset=utf-8\r\n", "Content-Security-Policy: default-src 'none'",
        "Cache-Control: no-store\r\n", "<title>This is not allowed here</title>",
        "The proxy <b>cache-a</b> says: a &lt; b.", "If you need it, ask for permission.",
        "<dd id=\"url\">http://a.test/x?a=&#39;b&#39;&amp;c</dd>", " GMT</dd>",
        "<dd id=\"status\">403 Forbidden</dd>", "<dd id=\"contact\">the &lt;help&gt; desk</dd>"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
}

// The body, in which the time is NOW.
std::string body_of(const std::string& text) {
  auto body = text.substr(text.find("\r\n\r\n") + 4);
  const auto at = body.find("; time: ");
  if (at != body.npos)
    body.replace(at + 8, std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size(), "NOW");
  return body;
}

TEST(Refuse, TellsEveryOtherClientTheSameInOneLine) {
  const auto body = [](const std::string& fields, const std::string& line) {
    return body_of(refused_with(fields, Refusal::forbidden("no"), line));
  };
  const std::string kGet = "GET http://a.test/x?a='b' HTTP/1.1";
  const auto told = [](const std::string& url) {
    return "cache-a: no; URL: <" + url +
           ">; time: NOW. If you need it, ask for permission. Whom to ask: the <help> desk\n";
  };
  EXPECT_EQ(body("", kGet), told("http://a.test/x?a='b'"));
  EXPECT_EQ(body("Accept: */*\r\n", kGet), told("http://a.test/x?a='b'"));
  EXPECT_EQ(body("", "GET http://a.test/\"\xc3\xa4 HTTP/1.1"), told("http://a.test/\"%C3%A4"));
  const std::string start = "http://a.test/";
  EXPECT_EQ(body("", "GET " + start + std::string(3000, 'x') + " HTTP/1.1"),
            told(start + std::string(500 - start.size(), 'x') + "..."));
  EXPECT_EQ(body("Accept: text/html\r\nCache-Control: only-if-cached\r\n", kGet), "no\n");
}

TEST(Refuse, NamesNoUrlThatItCouldNotReadAndNobodyToAskWithoutAContact) {
  client::ServeScene scene;
  scene.response.begin();
  const auto text = received(scene, refuse_unread(scene.client, Refusal::bad("no")));
  EXPECT_EQ(body_of(text), "cache-a: no; time: NOW. Ask if this does not explain itself.\n");
}

TEST(Refuse, SendsNoBodyInAnswerToHead) {
  const auto text = refused_with("Accept: text/html\r\n", Refusal::forbidden("no"),
                                 "HEAD http://a.test/ HTTP/1.1");
  EXPECT_TRUE(text.ends_with("\r\n\r\n")) << text;
}

TEST(Refusal, OfWhomLacksAccessHasItsStatusAndNamesItsRule) {
  using Why = policy::NoAccess::Why;
  struct Case {
    policy::NoAccess no_access;
    unsigned status;
    std::string detail;
    bool by_list = false;
    std::string challenge = {};
  };
  for (const Case& c :
       {Case{{Why::not_a_client}, 403, "denied"},
        Case{{Why::rule, "no-games"}, 403, "denied/no-games"},
        Case{{Why::unknown_user, "staff", "Us"},
             407,
             "denied/staff",
             false,
             users::basic_challenge("Us")},
        Case{{Why::no_cleartext, "staff"}, 403, "denied/staff"},
        Case{{Why::list}, 403, "denied", true}, Case{{Why::unknown_url}, 404, "unknown-url"}}) {
    const auto refusal = Refusal::denied(c.no_access);
    EXPECT_EQ(refusal.reason, policy::text_of(c.no_access));
    EXPECT_EQ(refusal.tag, observe::Tag::denied) << refusal.reason;
    EXPECT_EQ(refusal.status, c.status) << refusal.reason;
    EXPECT_EQ(refusal.cache_status.detail, c.detail) << refusal.reason;
    EXPECT_EQ(refusal.by_list, c.by_list) << refusal.reason;
    EXPECT_EQ(refusal.challenge, c.challenge) << refusal.reason;
  }
}

TEST(PageOf, ASiteTellsBlockedFromDeniedAndFailed) {
  auto by_list = Refusal::forbidden("no");
  by_list.by_list = true;
  const auto failed = [](boost::system::error_code cause) {
    return Refusal::failure(upstream::failure_of(upstream::Failure::Where::upstream, cause));
  };
  const std::pair<Refusal, policy::ErrorPage> cases[] = {
      {by_list, policy::ErrorPage::blocked},
      {failed(upstream::Errc::blocked_address), policy::ErrorPage::blocked},
      {failed(upstream::Errc::denied_address), policy::ErrorPage::denied},
      {failed(upstream::Errc::connect_timed_out), policy::ErrorPage::failed},
      {Refusal::denied({policy::NoAccess::Why::rule, "no-games"}), policy::ErrorPage::denied},
      {Refusal::denied({policy::NoAccess::Why::unknown_user, "staff", "Hearsay"}),
       policy::ErrorPage::sign_in},
      {Refusal::too_many(), policy::ErrorPage::error},
      {Refusal::loop(), policy::ErrorPage::error}};
  for (const auto& [refusal, page] : cases) EXPECT_EQ(page_of(refusal), page) << refusal.reason;
}

TEST(Refuse, ANeighbourThatAskedForWhatIsHeldGets504Always) {
  const policy::TextRequest request("Cache-Control: only-if-cached\r\n");
  EXPECT_EQ(refused(request, Refusal::forbidden("no")).substr(9, 3), "504");
  EXPECT_EQ(refused(request, Refusal::loop()).substr(9, 3), "504");
}

TEST(Refuse, ANeighbourIsToldWhyItWasRefused) {
  const policy::TextRequest asked("Cache-Control: only-if-cached\r\n");
  const policy::TextRequest other("");
  struct Case {
    const policy::TextRequest& request;
    Refusal refusal;
    std::string_view status;
  };
  const upstream::Failure overload{
      upstream::Failure::Where::us, upstream::Failure::What::overload, {}};
  const cache::Verdict miss{cache::Action::refuse, http::Forward::uri_miss};
  const cache::Verdict variant{cache::Action::refuse, http::Forward::vary_miss};
  const cache::Verdict withheld{cache::Action::refuse, http::Forward::none};
  cache::Budget budget(1 << 20);
  const auto entry = [&](const std::string& line, cache::Giver giver) {
    return cache::Entry::make(budget, cache::Saved{.url = "http://a.test/x",
                                                   .head = "HTTP/1.1 200 OK\r\n" + line,
                                                   .giver = giver});
  };
  const auto cookie = entry("Set-Cookie: a=b\r\n", {});
  const auto guests = entry("", {7, true});
  const cache::Time then{1000s};
  const cache::Departed left{then, cache::Departed::kNever};
  const cache::Departed forgotten{cache::Departed::kNever, then};
  for (const Case& c : {
           Case{asked, Refusal::loop(), "cache-a; detail=\"refused/loop\""},
           Case{asked, Refusal::forbidden("no"), "cache-a; detail=\"refused/denied\""},
           Case{asked, Refusal::failure(overload), "cache-a; detail=\"refused/overload\""},
           Case{asked, Refusal::bad("no"), "cache-a; detail=\"refused\""},
           Case{other, Refusal::loop(), "cache-a; detail=\"loop\""},
           Case{asked, Refusal::not_held(miss, {}), "cache-a; fwd=uri-miss"},
           Case{asked, Refusal::not_held(miss, {}, left), "cache-a; fwd=uri-miss; detail=\"gone\""},
           Case{asked, Refusal::not_held(miss, {}, forgotten), "cache-a; detail=\"unknown\""},
           Case{asked, Refusal::not_held(miss, {}, left, then),
                "cache-a; fwd=uri-miss; detail=\"gone\""},
           Case{asked, Refusal::not_held(miss, {}, left, then + 1s), "cache-a; fwd=uri-miss"},
           Case{asked, Refusal::not_held(miss, {}, forgotten, then), "cache-a; detail=\"unknown\""},
           Case{asked, Refusal::not_held(miss, {}, forgotten, then + 1s), "cache-a; fwd=uri-miss"},
           Case{asked, Refusal::not_held(variant, {nullptr, true}), "cache-a; fwd=vary-miss"},
           Case{asked, Refusal::not_held(withheld, {cookie}),
                "cache-a; fwd=miss; detail=\"refused/set-cookie\""},
           Case{asked, Refusal::not_held(withheld, {guests}),
                "cache-a; fwd=miss; detail=\"refused/unconfirmed\""},
       }) {
    const auto text = refused(c.request, c.refusal);
    const auto line = "Cache-Status: " + std::string(c.status) + "\r\n";
    EXPECT_NE(text.find(line), std::string::npos) << c.status << '\n' << text;
  }
}

TEST(Refuse, WhoseBodyIsUnreadCannotGoOn) {
  const policy::TextRequest request("Content-Length: 9\r\n", "POST http://a.test/x HTTP/1.1");
  bool goes_on = true;
  refused(request, Refusal::loop(), &goes_on);
  EXPECT_FALSE(goes_on);
}

TEST(Refuse, AFailureIsToldInCacheStatusAndTheLog) {
  client::ServeScene scene;
  const policy::TextRequest request("");
  scene.response.begin();
  const upstream::Failure failure{
      upstream::Failure::Where::upstream, upstream::Failure::What::timed_out, {}};
  const auto text = received(scene, refuse(scene.client, *request, failure));
  EXPECT_EQ(text.substr(9, 3), "504");
  EXPECT_NE(text.find("detail=\"timed-out\""), std::string::npos) << text;
  EXPECT_EQ(scene.record.tag, observe::Tag::failed);
  EXPECT_EQ(scene.record.failure, "timed-out");
  EXPECT_EQ(scene.record.upstream_host, "a.test");
}

TEST(Refuse, AnImageForUsersAloneIsAbsentAndNoFailure) {
  client::ServeScene scene;
  const policy::TextRequest request("");
  scene.response.begin();
  const auto text =
      received(scene, refuse(scene.client, *request,
                             upstream::failure_of(upstream::Failure::Where::upstream,
                                                  upstream::Errc::needs_credentials)));
  EXPECT_EQ(text.substr(9, 3), "404");
  EXPECT_NE(text.find("without credentials"), std::string::npos) << text;
  EXPECT_EQ(scene.record.failure, "");
}

TEST(Refuse, AnAddressThatAListBlocksIsCounted) {
  client::ServeScene scene;
  const policy::TextRequest request("");
  for (const auto cause : {upstream::Errc::blocked_address, upstream::Errc::denied_address}) {
    scene.response.begin();
    const auto failure = upstream::failure_of(upstream::Failure::Where::upstream, cause);
    scene.run(refuse(scene.client, *request, failure));
    EXPECT_EQ(scene.record.status, 403U);
    EXPECT_EQ(scene.record.tag, observe::Tag::denied);
  }
  EXPECT_EQ(scene.counters.blocked.get(), 1U);
}

TEST(Refuse, AMalformedHeadIsCountedAndEndsTheConnection) {
  client::ServeScene scene;
  scene.response.begin();
  const auto text = received(scene, refuse_malformed(scene.client, http::HeadError::bare_lf));
  EXPECT_EQ(text.substr(9, 3), "400");
  EXPECT_TRUE(scene.response.closes());
  EXPECT_EQ(scene.counters.malformed.get(), 1U);
}

}  // namespace
}  // namespace proxy::reply
