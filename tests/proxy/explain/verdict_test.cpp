#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/explain/explain.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::explain {
namespace {

using cache::Action;
using http::Forward;
using namespace std::chrono_literals;

const cache::Time kNow{std::chrono::seconds(1'700'000'000)};

// Received at kNow, with these fields.
cache::Ref<const cache::Entry> entry_with(cache::Budget& budget, const std::string& fields) {
  const policy::TextRequest request("");
  const policy::TextAnswer answer(200, fields);
  return cache::Entry::make(budget, cache::Received{.url = "http://a.test/x",
                                                    .request = (*request).head.fields,
                                                    .response = answer.head,
                                                    .times = {kNow, kNow},
                                                    .our_name = "cache-a"});
}

struct Said {
  const char* name;
  const char* fields;  // of the stored response; empty: nothing is stored
  std::chrono::seconds age;
  cache::Verdict verdict;
  const char* sentence;
};
class Sentence : public testing::TestWithParam<Said> {};

TEST_P(Sentence, SaysWhatWouldHappenAndWhy) {
  cache::Budget budget{1 << 20};
  Explanation explanation;
  explanation.now = kNow + GetParam().age;
  explanation.cached.verdict = GetParam().verdict;
  explanation.sources.origin.servers = {"http://a.test:80"};
  if (GetParam().fields[0] != '\0') {
    inspect::EntryFacts facts{.where = "memory"};
    explanation.cached.stored.push_back({entry_with(budget, GetParam().fields), facts, true, {}});
  }
  EXPECT_EQ(sentence(explanation), GetParam().sentence);
}

TEST(SentenceOffline, NamesNeighboursAndNoOrigin) {
  Explanation explanation;
  explanation.cached.verdict = {Action::fetch, Forward::uri_miss};
  explanation.offline = true;
  EXPECT_EQ(sentence(explanation), "is not stored; would ask nobody: this proxy is offline");
  explanation.sources.peers.push_back(
      {.name = "b", .state = "usable", .claims = true, .asks = Asks::yes, .why = {}});
  EXPECT_EQ(sentence(explanation), "is not stored; would ask b, whose digest claims it");
}

INSTANTIATE_TEST_SUITE_P(
    Verdicts, Sentence,
    testing::Values(
        Said{"Fresh",
             "Cache-Control: max-age=600\r\n",
             288s,
             {Action::serve, Forward::none},
             "would be answered from memory; fresh for another 312 s"},
        Said{"FreshForLong",
             "Cache-Control: max-age=2592000\r\n",
             0s,
             {Action::serve, Forward::none},
             "would be answered from memory; fresh for another 30 days"},
        Said{"Refresh",
             "Cache-Control: max-age=60, stale-while-revalidate=30\r\n",
             72s,
             {Action::refresh, Forward::stale},
             "would be answered from memory; stale for 12 s, which stale-while-revalidate allows; "
             "it would be renewed meanwhile"},
        Said{"Stale",
             "Cache-Control: max-age=60\r\nETag: \"a\"\r\n",
             72s,
             {Action::revalidate, Forward::stale},
             "is stored, but stale for 12 s: would be validated by the origin http://a.test:80"},
        Said{"NoCache",
             "Cache-Control: no-cache\r\nETag: \"a\"\r\n",
             1s,
             {Action::revalidate, Forward::stale},
             "is stored, but must be validated each time: would be validated by the origin "
             "http://a.test:80"},
        Said{"Miss",
             "",
             0s,
             {Action::fetch, Forward::uri_miss},
             "is not stored; would ask the origin http://a.test:80"},
        Said{"Variant",
             "",
             0s,
             {Action::fetch, Forward::vary_miss},
             "is stored, but not in this variant; would ask the origin http://a.test:80"},
        Said{"Offline",
             "",
             0s,
             {Action::refuse, Forward::uri_miss},
             "would be refused with 504: it is not held, and this proxy is offline"},
        Said{"Method",
             "",
             0s,
             {Action::pass, Forward::method},
             "would be forwarded to the origin http://a.test:80: only GET and HEAD are answered "
             "from the cache"}),
    [](const auto& tested) { return tested.param.name; });

Explanation missed() {
  Explanation explanation;
  explanation.sources.origin.servers = {"http://a.test:80"};
  return explanation;
}

TEST(Sentence, NamesTheSourcesInTheirOrder) {
  auto explanation = missed();
  explanation.sources.peers = {{"b", "usable", true, Asks::yes, ""},
                               {"c", "usable", false, Asks::no, ""},
                               {"d", "trying", true, Asks::on_trial, ""}};
  explanation.sources.origin.parents = {"up"};
  EXPECT_EQ(sentence(explanation),
            "is not stored; would ask b, whose digest claims it, and at once d, which is on trial, "
            "then the parent up, then the origin http://a.test:80");
  explanation.sources.peers[0].asks = Asks::if_origin_fails;
  explanation.sources.origin.parents.clear();
  EXPECT_EQ(
      sentence(explanation),
      "is not stored; would ask the origin http://a.test:80, and at once d, which is on trial");
  explanation.sources.peers.clear();
  explanation.sources.owner = "e";
  explanation.sources.origin.parents = {"up"};
  explanation.sources.origin.servers.clear();
  EXPECT_EQ(sentence(explanation),
            "is not stored; would ask e, which would know who fetches it, then the parent up");
  explanation = missed();
  explanation.cached.fetching = true;
  EXPECT_EQ(sentence(explanation),
            "would wait for the fetch of another request, which is under way");
}

TEST(Sentence, PutsARefusalFirst) {
  auto explanation = missed();
  explanation.refused.reason = "a list blocks this";
  explanation.refused.status = 403;
  EXPECT_EQ(sentence(explanation), "would be refused with 403: a list blocks this");
  explanation.own_page = true;
  EXPECT_EQ(sentence(explanation), "is for this proxy's own pages");
}

// As `hearsay explain` and the dashboard show them.
std::string told(const Explanation& explanation) {
  std::string text;
  for (const auto& [about, said] : sentences(explanation)) {
    text += std::string(about) + "| " + said + '\n';
  }
  return text;
}

TEST(Sentences, TellEachFactThatCounts) {
  cache::Budget budget{1 << 20};
  Explanation explanation;
  explanation.asked.url = explanation.cached.stored_as = "http://a.test/x";
  explanation.asked.client = "10.0.0.5";
  explanation.asked.rule = "rule/packages";
  explanation.cached.key = "00ff";
  explanation.now = kNow + 288s;
  const inspect::EntryFacts facts{.bytes = 2048, .held_bytes = 1024, .where = "memory"};
  explanation.cached.stored.push_back(
      {entry_with(budget,
                  "Cache-Control: max-age=600, stale-while-revalidate=30, stale-if-error=86400\r\n"
                  "Vary: Accept-Encoding\r\n"),
       facts, true, 60s});
  explanation.sources.peers = {{"b", "usable", {}, Asks::no, "the cache answers"},
                               {"c", "trying", true, Asks::on_trial, ""}};
  explanation.sources.origin = {{"up"}, {"http://a.test:80"}, 12500us};
  EXPECT_EQ(told(explanation),
            "client| 10.0.0.5, allowed\n"
            "rule| rule/packages\n"
            "key| 00ff\n"
            "stored| memory: 200, 2.0 KiB, of which 1.0 KiB are held\n"
            "| for accept-encoding: none\n"
            "| lifetime 600 s by rule (60 s by max-age), 288 s old, fresh for another 312 s, until "
            "2023-11-14T22:23:20Z\n"
            "| then for 30 s while it is renewed, for 24 hours if the origin fails\n"
            "neighbour| b: unknown; not asked: the cache answers\n"
            "neighbour| c: claims it; on-trial\n"
            "parents| up\n"
            "origin| http://a.test:80, 12.5 ms to the first byte\n");
}

TEST(Sentences, SayOfStaleResponsesHowTheyMayBeUsed) {
  cache::Budget budget{1 << 20};
  Explanation explanation;
  explanation.asked.client = "10.0.0.5";
  explanation.now = kNow + 72s;
  for (const auto* const fields : {"max-age=60, must-revalidate", "no-cache", "max-age=60"}) {
    const auto entry = entry_with(budget, std::string("Cache-Control: ") + fields + "\r\n");
    explanation.cached.stored.push_back({entry, {}, false, {}});
  }
  EXPECT_EQ(told(explanation),
            "client| 10.0.0.5, allowed\n"
            "stored| disk: 200, 0 B (another variant)\n"
            "| lifetime 60 s by max-age, 72 s old, stale for 12 s\n"
            "| never used stale\n"
            "stored| disk: 200, 0 B (another variant)\n"
            "| lifetime 0 s by heuristic, 72 s old, stale for 72 s\n"
            "| validated before each use (no-cache)\n"
            "stored| disk: 200, 0 B (another variant)\n"
            "| lifetime 60 s by max-age, 72 s old, stale for 12 s\n");
}

TEST(Sentences, SayOfARefusalWhatIsRefused) {
  Explanation explanation;
  explanation.asked.client = "10.0.0.5";
  explanation.asked.user = "anna";
  explanation.refused.reason = "no";
  EXPECT_EQ(told(explanation), "client| 10.0.0.5, user anna\nrefused| no\n");
}

TEST(Sentences, CallAnOwnPageNoServerOfAMapping) {
  Explanation explanation;
  explanation.asked.client = "10.0.0.5";
  explanation.asked.reverse = explanation.own_page = true;
  EXPECT_EQ(told(explanation), "client| 10.0.0.5\n");
  explanation.own_page = false;
  EXPECT_EQ(told(explanation), "client| 10.0.0.5, allowed\nas| a server (setting reverse)\n");
}

TEST(ExplanationJson, TellsALifetimeByARuleFromThatOfTheResponse) {
  cache::Budget budget{1 << 20};
  Explanation explanation;
  explanation.now = kNow;
  explanation.cached.stored.push_back(
      {entry_with(budget, "Cache-Control: max-age=60, must-revalidate, stale-if-error=9\r\n"),
       {},
       true,
       600s});
  const auto page = nlohmann::json::parse(explanation_json(explanation));
  const auto& stored = page.at("stored").at(0);
  EXPECT_EQ(stored.at("lifetime_from"), "rule");
  EXPECT_EQ(stored.at("told_lifetime_seconds"), 600);
  EXPECT_EQ(stored.at("told_lifetime_from"), "max-age");
  EXPECT_EQ(stored.at("stale_if_error_seconds"), 0) << "must-revalidate forbids it";
  EXPECT_EQ(stored.at("fresh_seconds"), 60);
}

}  // namespace
}  // namespace proxy::explain
