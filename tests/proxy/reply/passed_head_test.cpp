#include "proxy/reply/deliver.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/client/serve_scene.hpp"

namespace proxy::reply {
namespace {

using namespace std::chrono_literals;

struct PassedCase {
  const char* name;
  unsigned status;
  std::string lines;          // of the origin's head
  std::chrono::seconds took;  // from the request to the response
  std::string head;           // what the client gets
};

const std::string kDateLine = "Date: " + std::string(cache::kStartDate) + "\r\n";
const std::string kViaLine = "Via: 1.1 cache-a\r\n";

TEST(PassedHead, IsTheOriginsWithOurViaAndTheTimeOnTheWay) {
  for (const PassedCase& c :
       {PassedCase{"as it is", 200, kDateLine + "X-A: 1\r\n", 0s,
                   "HTTP/1.1 200 X\r\n" + kDateLine + "X-A: 1\r\n" + kViaLine},
        PassedCase{"another status", 404, kDateLine, 0s,
                   "HTTP/1.1 404 X\r\n" + kDateLine + kViaLine},
        PassedCase{"of a hop", 200,
                   kDateLine + "Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n", 0s,
                   "HTTP/1.1 200 X\r\n" + kDateLine + kViaLine},
        PassedCase{"framing is the writer's", 200, kDateLine + "Content-Length: 5\r\nX-A: 1\r\n",
                   0s, "HTTP/1.1 200 X\r\n" + kDateLine + "X-A: 1\r\n" + kViaLine},
        PassedCase{"a further hop", 200, kDateLine + "Via: 1.0 b\r\n", 0s,
                   "HTTP/1.1 200 X\r\n" + kDateLine + "Via: 1.0 b\r\n" + kViaLine},
        PassedCase{"no Date", 200, "", 0s, "HTTP/1.1 200 X\r\n" + kViaLine + kDateLine},
        PassedCase{"aged", 200, kDateLine + "Age: 7\r\n", 0s,
                   "HTTP/1.1 200 X\r\n" + kDateLine + kViaLine + "Age: 7\r\n"},
        PassedCase{"aged on the way", 200, kDateLine + "Age: 7\r\n", 3s,
                   "HTTP/1.1 200 X\r\n" + kDateLine + kViaLine + "Age: 10\r\n"}}) {
    const client::ServeScene scene;
    const policy::TextAnswer answer(c.status, c.lines);
    const cache::Times times{cache::kStart - c.took, cache::kStart};
    EXPECT_EQ(passed_head(scene.serving, answer.head, times), c.head) << c.name;
  }
}

TEST(PassedHead, HasItsTypeNotedOnlyWhereThereIsALog) {
  client::ServeScene quiet;
  record_content_type(quiet.client, "text/html");
  EXPECT_EQ(quiet.record.content_type, "");
}

}  // namespace
}  // namespace proxy::reply
