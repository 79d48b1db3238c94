#include "proxy/command/steer/origins.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

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
