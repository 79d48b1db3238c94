// The proxy's pages in words. What is no such page is told from one.
#include <gtest/gtest.h>

#include "proxy/command/steering.hpp"

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
    EXPECT_FALSE(origins_text(page, 0)) << page;
    EXPECT_FALSE(purge_text(page, Purged::one)) << page;
    EXPECT_FALSE(reload_text(page)) << page;
    EXPECT_FALSE(explain_text(page)) << page;
    EXPECT_FALSE(sign_in_link(page)) << page;
    EXPECT_FALSE(revoked_text(page)) << page;
  }
}

TEST(StatusText, NamesWhatDoesNotWork) {
  const auto text = status_text(
      R"({"status": "degraded", "reasons": [{"what": "peer", "which": "b", "text": "it rests",
           "since": "2026-11-27T10:17:07Z", "last_seen": "2026-11-27T10:18:00Z"},
                                            {"what": "disk", "text": "it rests, too"}]})",
      R"({"name": "cache-a", "peers": [{"state": "resting"}, {"state": "usable"}]})",
      Samples("hearsay_memory_used_bytes 1024\nhearsay_memory_limit_bytes 2048\n"
              "hearsay_cache_entries 1234\nhearsay_connections 3\n"
              "hearsay_requests_total{result=\"hit\"} 5\n"));
  EXPECT_EQ(text,
            "cache-a: degraded\n"
            "  peer b: it rests; since 2026-11-27T10:17:07Z, last seen 2026-11-27T10:18:00Z\n"
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

TEST(SignInLink, SaysHowLongItWorksAndFromWhere) {
  const auto page = [](const std::string& host) {
    return R"({"link": "http://)" + host +
           R"(:3128/hearsay/sign-in#ab", "link_seconds": 600, "session_seconds": 43200})";
  };
  const auto far = sign_in_link(page("10.0.0.5")).value();
  EXPECT_EQ(far.link, "http://10.0.0.5:3128/hearsay/sign-in#ab");
  EXPECT_TRUE(
      far.about.starts_with("The link works once, within 10 minutes, and signs one browser "
                            "in for 12 hours. "))
      << far.about;
  EXPECT_EQ(far.about.find("loopback"), std::string::npos);
  for (const auto* host : {"127.0.0.1", "[::1]"}) {
    EXPECT_NE(sign_in_link(page(host))->about.find("loopback alone"), std::string::npos) << host;
  }
  EXPECT_TRUE(revoked_text(R"({"revoked": 2})")->starts_with("2 browsers are signed out;"));
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
  EXPECT_EQ(purge_text(R"({"purged": 1})", Purged::one), "dropped 1 response\n");
  EXPECT_EQ(purge_text(R"({"purged": 1200})", Purged::many),
            "dropped 1,200 responses from memory, and all that match from disk\n");
  EXPECT_NE(purge_text(R"({"purged": 0, "owed": true})", Purged::one)->find("the disk rests"),
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

TEST(ExplainText, HasTheSentencesOfThePageEachAfterWhatItIsAbout) {
  const auto text = explain_text(
      R"({"url": "http://a.test/x", "method": "GET",
          "verdict": "would be answered from memory; fresh for another 312 s", "allowed": true,
          "sentences": [{"about": "client", "text": "10.0.0.5, allowed"},
                        {"about": "stored", "text": "memory: 200, 2.0 KiB"},
                        {"about": "", "text": "for accept: \u001b"}]})");
  EXPECT_EQ(text,
            "GET http://a.test/x\n"
            "would be answered from memory; fresh for another 312 s\n\n"
            "client     10.0.0.5, allowed\n"
            "stored     memory: 200, 2.0 KiB\n"
            "           for accept: \\x1b\n");
}

TEST(OriginsText, ListsOriginsNotesAndWaits) {
  const std::string page =
      R"({"notes": [{"origin": "http://a:80", "text": "it hangs"}], "waiting": 1,
          "under_way": [{"method": "GET", "url": "http://a/x\u001b", "waits_for": "first-byte",
            "of": "origin", "server": "http://a:80", "seconds": 40.2, "since": 1, "bytes": 0}],
          "origins": [{"origin": "http://a:80", "requests": 1234, "failed": 2,
            "failures": {"timed-out": 1, "5xx": 1}, "first_byte_p50_ms": 6100.5,
            "first_byte_p99_ms": null, "bytes": 2048, "waiting": 1}]})";
  EXPECT_EQ(origins_text(page, 0),
            "ORIGIN       REQUESTS  FAILED    P50  P99    BYTES  WAIT  CAUSES\n"
            "http://a:80     1,234       2  6.1 s    -  2.0 KiB     1  5xx 1, timed-out 1\n"
            "\n"
            "http://a:80: it hangs\n"
            "\n"
            "1 request is waiting now, the longest first:\n"
            "WAITS  FOR         OF           REQUEST\n"
            " 40 s  first-byte  http://a:80  GET http://a/x\\x1b\n");
  EXPECT_EQ(origins_text(R"({"notes": [], "waiting": 0, "under_way": [], "origins": []})", 0),
            "no origin was asked in the last hour\n");
}

}  // namespace
}  // namespace proxy::command
