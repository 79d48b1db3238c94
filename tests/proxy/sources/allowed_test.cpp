#include "proxy/sources/allowed.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/sources/search_scene.hpp"

namespace proxy::sources {
namespace {

using namespace std::chrono_literals;
using cache::Action;
using cache::Verdict;
using http::Forward;

const Verdict kMiss{Action::fetch, Forward::uri_miss};
const Verdict kPart{Action::fetch, Forward::uri_miss, true};
const Verdict kStale{Action::revalidate, Forward::stale};
const Verdict kFresh{Action::fetch, Forward::request};

// "guests site share": neighbours are asked, guests and the site's owner, too, and the answer is
// shared. "origin share": only the origin is asked.
std::string text_of(const Allowed& allowed) {
  std::string text;
  const auto say = [&](bool applies, const std::string& word) {
    if (applies) text += (text.empty() ? "" : " ") + word;
  };
  say(allowed.only_origin == OnlyOrigin::no_neighbours, "nobody");
  say(allowed.only_origin == OnlyOrigin::another_name, "own-name");
  say(allowed.only_origin == OnlyOrigin::unshared_https, "https");
  say(allowed.only_origin == OnlyOrigin::request, "request");
  say(allowed.only_origin == OnlyOrigin::changed_lately, "changed");
  say(allowed.only_origin == OnlyOrigin::verdict, "verdict");
  say(allowed.neighbours(), "ask");
  say(allowed.guests, "guests");
  say(allowed.of_site, "site");
  say(allowed.held == Held::stale, "held");
  say(allowed.by_tag, "tag");
  say(allowed.least_freshness > 0s, "newer");
  say(allowed.share, "share");
  return text;
}

constexpr cache::Time kLongAfter = cache::kStart + 1h;
void just_stale(Miss& miss) {
  miss.now = miss.stored->fresh_until();
}

struct AllowedCase {
  const char* rule;
  std::string expected;
  std::string lines = {};  // of the request
  Verdict verdict = kMiss;
  std::string stored = {};  // fields of the stored response; empty: none
  void (*facts)(Miss&) = [](Miss&) {};
  void (*settings)(config::Settings&) = [](config::Settings&) {};
  std::string url = "http://a.test/x";
};

std::string allowed(const AllowedCase& row) {
  auto settings = settings_with({"b"});
  row.settings(settings);
  const auto policy =
      std::make_shared<const policy::Policy>(std::move(settings), lists::AccessLists{});
  const policy::TextRequest request(row.lines, "GET " + row.url + " HTTP/1.1");
  request.parsed->pin(policy);
  request.parsed->arrive(policy::Arrival::forward);
  request.parsed->apply_site_rule();
  cache::Budget budget{1 << 20};
  cache::Ref<const cache::Entry> entry;
  if (!row.stored.empty()) entry = cache::entry_of(budget, {.lines = row.stored});
  Miss miss{.request = *request, .verdict = row.verdict, .stored = entry.get(), .now = kLongAfter};
  row.facts(miss);
  return text_of(allowed_for(miss));
}

void expect(const std::vector<AllowedCase>& rows) {
  for (const auto& row : rows) EXPECT_EQ(allowed(row), row.expected) << row.rule;
}

const std::string kTagged = "Cache-Control: max-age=1\r\nETag: \"a\"\r\n";

TEST(Allowed, AsksNeighboursForWhatAPlainQuestionWouldBring) {
  expect({
      {.rule = "nothing is stored", .expected = "ask guests site share"},
      {.rule = "another variant is stored",
       .expected = "ask site share",
       .verdict = {Action::fetch, Forward::vary_miss},
       .stored = kTagged},
      {.rule = "an object without a validator lacks blocks",
       .expected = "ask site share",
       .verdict = {Action::fetch, Forward::partial},
       .stored = kTagged},
      {.rule = "one part", .expected = "ask", .lines = "Range: bytes=0-9\r\n", .verdict = kPart},
      {.rule = "two parts",
       .expected = "verdict",
       .lines = "Range: bytes=0-9,20-29\r\n",
       .verdict = kPart},
      {.rule = "a conditional part",
       .expected = "verdict",
       .lines = "Range: bytes=0-9\r\nIf-Range: \"a\"\r\n",
       .verdict = kPart},
      {.rule = "a part of what is stale here",
       .expected = "verdict",
       .verdict = {Action::revalidate, Forward::stale, true},
       .stored = kTagged},
      {.rule = "missing blocks are asked for run by run",
       .expected = "verdict share",
       .verdict = {Action::complete, Forward::partial},
       .stored = kTagged},
      {.rule = "the origin has replaced what neighbours may still have",
       .expected = "verdict share",
       .facts = [](Miss& miss) { miss.anew = true; }},
      {.rule = "what our own client wants younger, the origin has",
       .expected = "verdict",
       .lines = "Cache-Control: max-age=5\r\n",
       .verdict = kFresh},
  });
}

TEST(Allowed, AsksNobodyElseForWhatTheyMayNotHave) {
  expect({
      {.rule = "there is no neighbour",
       .expected = "nobody share",
       .settings = [](config::Settings& told) { told.peers.clear(); }},
      {.rule = "credentials are for the origin",
       .expected = "request",
       .lines = "Authorization: Basic YTpi\r\n"},
      {.rule = "a cookie is not", .expected = "ask guests site share", .lines = "Cookie: a=b\r\n"},
      {.rule = "it is stored without the parameters that a rule drops",
       .expected = "own-name share",
       .settings =
           [](config::Settings& told) {
             told.rules.resize(1);
             told.rules[0].host.host = "a.test";
             told.rules[0].drop_query = {"utm_*"};
           },
       .url = "http://a.test/x?utm_source=b"},
      {.rule = "https URLs are not shared",
       .expected = "https share",
       .settings =
           [](config::Settings& told) { told.gateway.mirrors.share = config::MirrorShare::none; },
       .url = "https://a.test/x"},
      {.rule = "a cookie is for the https origin",
       .expected = "request share",
       .lines = "Cookie: a=b\r\n",
       .url = "https://a.test/x"},
      {.rule = "no-cache demands the origin's word (RFC 9111 5.2.1.4)",
       .expected = "request share",
       .lines = "Cache-Control: no-cache\r\n",
       .verdict = kFresh},
      {.rule = "neighbours may hold what was purged here",
       .expected = "changed share",
       .facts = [](Miss& miss) { miss.changed_lately = true; }},
  });
}

TEST(Allowed, RenewsWhatIsStaleHereWithoutGuests) {
  expect({
      {.rule = "a sibling may say that it is still current",
       .expected = "ask site held tag share",
       .verdict = kStale,
       .stored = kTagged},
      {.rule = "or have a fresher copy, if the origin wants to be asked (RFC 9111 5.2.2.2)",
       .expected = "ask site held share",
       .verdict = kStale,
       .stored = "Cache-Control: max-age=1, must-revalidate\r\nETag: \"a\"\r\n"},
      {.rule = "without a validator a fresher copy is all",
       .expected = "ask site share",
       .verdict = {Action::fetch, Forward::stale},
       .stored = "Cache-Control: max-age=1\r\n"},
      {.rule = "what has just grown stale here may seem fresh there, and is of no use",
       .expected = "ask site held tag newer share",
       .verdict = kStale,
       .stored = "Cache-Control: max-age=9\r\nETag: \"a\"\r\n",
       .facts = just_stale},
      {.rule = "so it may without a validator",
       .expected = "ask site newer share",
       .verdict = {Action::fetch, Forward::stale},
       .stored = "Cache-Control: max-age=9\r\n",
       .facts = just_stale},
      {.rule = "what was left with a neighbour may be stale there",
       .expected = "ask guests site held share",
       .facts = [](Miss& miss) { miss.asked_before = true; }},
  });
}

TEST(Allowed, AsksTheSiteForWhatItMayFetchOnce) {
  expect({
      {.rule = "the setting is off",
       .expected = "ask guests share",
       .settings =
           [](config::Settings& told) { told.digest.site_collapse = config::SiteCollapse::off; }},
      {.rule = "the response could not be shared lately",
       .expected = "ask guests",
       .facts = [](Miss& miss) { miss.unshared = true; }},
      {.rule = "the answers of its path mostly cannot be shared, but this one may be",
       .expected = "ask guests share",
       .facts = [](Miss& miss) { miss.unshared_path = true; }},
  });
}

TEST(Allowed, SharesWithRequestsThatMayHaveTheSame) {
  expect({
      {.rule = "a part in whole blocks",
       .expected = "ask share",
       .lines = "Range: bytes=0-9\r\n",
       .verdict = kPart,
       .facts = [](Miss& miss) { miss.in_blocks = true; }},
      {.rule = "a part with a condition",
       .expected = "verdict",
       .lines = "Range: bytes=0-9\r\nIf-Range: \"a\"\r\n",
       .verdict = kPart,
       .facts = [](Miss& miss) { miss.in_blocks = true; }},
      {.rule = "a part that is reloaded",
       .expected = "request",
       .lines = "Cache-Control: no-cache\r\nRange: bytes=0-9\r\n",
       .verdict = {Action::fetch, Forward::request, true}},
      {.rule = "a neighbour's question waits for no reload",
       .expected = "request",
       .lines = "Cache-Control: no-cache, only-if-cached\r\n",
       .verdict = {Action::refuse, Forward::request}},
  });
}

TEST(WhyOnlyOrigin, IsAnInvalidationForAMinute) {
  SearchScene scene(settings_with({"b"}));
  const auto why = [&] {
    return why_only_origin(scene.fills, scene.key, *scene.request, scene.now());
  };
  EXPECT_EQ(why(), std::nullopt);
  scene.fills.invalidate(scene.key, scene.now());
  scene.clock.pass(59s);
  EXPECT_EQ(why(), OnlyOrigin::changed_lately);
  scene.clock.pass(2s);
  EXPECT_EQ(why(), std::nullopt);
}

}  // namespace
}  // namespace proxy::sources
