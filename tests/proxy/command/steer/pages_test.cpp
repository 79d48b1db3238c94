// The proxy's pages in words. What is no such page is told from one.
#include <gtest/gtest.h>

#include "proxy/command/steer/explain.hpp"
#include "proxy/command/steer/peers.hpp"
#include "proxy/command/steer/purge.hpp"
#include "proxy/command/steer/reload.hpp"
#include "proxy/command/steer/status.hpp"

namespace proxy::command {
namespace {

constexpr const char* kNoPages[] = {"",
                                    "{}",
                                    "[]",
                                    "null",
                                    "<html>",
                                    R"({"peers": 7})",
                                    R"({"status": {}, "reasons": [1]})",
                                    R"({"purged": "x"})"};

TEST(PagesInWords, AreToldFromOtherTexts) {
  for (const std::string page : kNoPages) {
    EXPECT_FALSE(status_text(page, page, Samples(page))) << page;
    EXPECT_FALSE(peers_text(page, 0)) << page;
    EXPECT_FALSE(purge_text(page, true)) << page;
    EXPECT_FALSE(reload_text(page)) << page;
    EXPECT_FALSE(explain_text(page)) << page;
  }
}

TEST(StatusText, NamesWhatDoesNotWork) {
  const auto text = status_text(
      R"({"status": "degraded", "reasons": [{"what": "peer", "which": "b", "text": "it rests"},
                                            {"what": "disk", "text": "it rests, too"}]})",
      R"({"name": "cache-a", "peers": [{"state": "resting"}, {"state": "usable"}]})",
      Samples("hearsay_memory_used_bytes 1024\nhearsay_memory_limit_bytes 2048\n"
              "hearsay_cache_entries 1234\nhearsay_connections 3\n"
              "hearsay_requests_total{result=\"hit\"} 5\n"));
  EXPECT_EQ(text,
            "cache-a: degraded\n"
            "  peer b: it rests\n"
            "  disk: it rests, too\n"
            "memory      1.0 KiB of 2.0 KiB, 1,234 responses\n"
            "neighbours  1 of 2 work\n"
            "clients     3 connections, 5 requests so far\n");
}

TEST(StatusText, CountsTheNeighboursThatTheHealthNames) {
  const auto text = status_text(
      R"({"status": "degraded", "reasons": [{"what": "peer", "which": "b", "text": "it failed"},
                                            {"what": "peer", "which": "b", "text": "it rests"}]})",
      R"({"name": "a", "peers": [{"state": "usable"}, {"state": "stale"}, {"state": "resting"}]})",
      Samples(""));
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("neighbours  2 of 3 work\n"), std::string::npos) << *text;
}

TEST(PeersText, HasARowForEachPeerAndDashesForTheUnknown) {
  const std::string page =
      R"({"peers": [{"name": "b", "role": "sibling", "state": "usable", "entries": 1234,
           "age_seconds": 61.5, "claims": 7, "true_hits": 6, "false_hits": 1,
           "first_byte_ms": 1.25, "bytes_saved": 2048, "last_error": null, "reason": null},
          {"name": "c", "role": "parent", "state": "failing", "entries": null,
           "last_error": "no \u001b answer"}]})";
  EXPECT_EQ(peers_text(page, 0),
            "PEER  ROLE     STATE    HOLDS  AGE  CLAIMS  TRUE  FALSE  FIRST BYTE    SAVED  WHY\n"
            "b     sibling  usable   1,234   1m       7     6      1      1.2 ms  2.0 KiB\n"
            "c     parent   failing      -    -       -     -      -           -        -"
            "  no \\x1b answer\n");
  EXPECT_EQ(peers_text(R"({"peers": []})", 0), "no neighbours (setting peers)\n");
}

TEST(PurgeText, SaysWhatIsNotCountedAndWhatIsOwed) {
  EXPECT_EQ(purge_text(R"({"purged": 1})", true), "dropped 1 response\n");
  EXPECT_EQ(purge_text(R"({"purged": 1200})", false),
            "dropped 1,200 responses from memory, and all that match from disk\n");
  EXPECT_NE(purge_text(R"({"purged": 0, "owed": true})", true)->find("the disk rests"),
            std::string::npos);
}

TEST(ReloadText, HasEachErrorWithItsPlaceOrWhatWaits) {
  EXPECT_EQ(reload_text(R"({"applied": true, "file": "/a.json", "needs_restart": ["threads"],
                            "errors": []})"),
            "the settings of /a.json are in force\nthreads changed, which needs a restart\n");
  EXPECT_EQ(reload_text(R"({"applied": false, "file": "/a.json", "needs_restart": [], "errors":
                            [{"where": "/a.json, line 3, column 7", "what": "expected a size"}]})"),
            "/a.json, line 3, column 7: expected a size\n"
            "nothing was reloaded: the settings in force stay, until /a.json is mended\n");
}

TEST(ExplainText, ShowsTheArithmeticOfFreshness) {
  const auto text = explain_text(
      R"({"url": "http://a.test/x", "method": "GET", "client": "10.0.0.5",
          "verdict": "would be answered from memory; fresh for another 312 s", "allowed": true,
          "mode": "forward", "rule": "rule/packages", "key": "00ff", "stored_as": "http://a.test/x",
          "other_variants_on_disk": false, "disk_fault": null, "owner": null,
          "stored": [{"selected": true, "where": "memory", "status": 200, "bytes": 2048,
            "held_bytes": 2048, "vary": {"accept-encoding": "gzip"}, "lifetime_seconds": 600,
            "lifetime_from": "rule", "told_lifetime_seconds": 60, "told_lifetime_from": "max-age",
            "age_seconds": 288, "fresh_seconds": 312, "fresh_until": "2026-01-01T00:00:00Z",
            "stale_while_revalidate_seconds": 30, "stale_if_error_seconds": 86400,
            "no_cache": false, "never_stale": false}],
          "peers": [{"name": "b", "claims": null, "asked": "no", "why": "the cache answers"}],
          "origin": {"parents": [], "servers": ["http://a.test:80"], "first_byte_ms": 12.5}})");
  EXPECT_EQ(text,
            "GET http://a.test/x\n"
            "would be answered from memory; fresh for another 312 s\n\n"
            "client     10.0.0.5, allowed\n"
            "rule       rule/packages\n"
            "key        00ff\n"
            "stored     memory: 200, 2.0 KiB\n"
            "           for accept-encoding: gzip\n"
            "           lifetime 600 s by rule (60 s by max-age), 288 s old, "
            "fresh for another 312 s, until 2026-01-01T00:00:00Z\n"
            "           then for 30 s while it is renewed, for 24 hours if the origin fails\n"
            "neighbour  b: unknown; not asked: the cache answers\n"
            "origin     http://a.test:80, 12.5 ms to the first byte\n");
}

constexpr const char* kNothingElse =
    R"("rule": null, "key": null, "stored_as": null, "other_variants_on_disk": false,
       "disk_fault": null, "owner": null, "stored": [], "peers": [],
       "origin": {"parents": [], "servers": [], "first_byte_ms": null}})";

TEST(ExplainText, SaysOfARefusalWhatIsRefused) {
  const auto text = explain_text(std::string(R"({"url": "http://192.0.2.1/", "method": "GET",
      "client": "10.0.0.5", "user": "anna", "verdict": "would be refused with 403: no",
      "allowed": false, "refusal": "no", "mode": "forward", )") +
                                 kNothingElse);
  EXPECT_EQ(text,
            "GET http://192.0.2.1/\nwould be refused with 403: no\n\n"
            "client     10.0.0.5, user anna\n"
            "refused    no\n");
}

TEST(ExplainText, CallsAnOwnPageNoServerOfAMapping) {
  const auto text = explain_text(std::string(R"({"url": "http://10.0.0.1:3128/", "method": "GET",
      "client": "10.0.0.5", "verdict": "is for this proxy's own pages", "allowed": true,
      "own_page": true, "mode": "reverse", )") +
                                 kNothingElse);
  EXPECT_EQ(text,
            "GET http://10.0.0.1:3128/\nis for this proxy's own pages\n\n"
            "client     10.0.0.5\n");
}

}  // namespace
}  // namespace proxy::command
