#include "proxy/cache/other_methods.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct HeadCase {
  const char* name;
  HeadSays expected;
  std::string answer = "";
  unsigned status = 200;
  std::string request = "";
};

TEST(HeadSays, WhetherWhatIsStoredStillHolds) {  // RFC 9111 4.3.5
  const std::string modified = "Last-Modified: Sun, 31 Dec 2023 23:00:00 GMT\r\n";
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = "ETag: \"e\"\r\n" + modified;
  stock.body = 5;
  const auto stored = entry_of(budget, stock);
  for (const HeadCase& c : {
           HeadCase{"nothing to tell it by", HeadSays::unchanged},
           HeadCase{"all the same", HeadSays::unchanged,
                    stock.lines + "Content-Length: 5\r\nX: y\r\n"},
           HeadCase{"other tag", HeadSays::changed, "ETag: \"f\"\r\n"},
           HeadCase{"weak tag", HeadSays::changed, "ETag: W/\"e\"\r\n"},
           HeadCase{"other date", HeadSays::changed,
                    "Last-Modified: Sun, 31 Dec 2023 23:00:01 GMT\r\n"},
           HeadCase{"other length", HeadSays::changed, "Content-Length: 6\r\n"},
           HeadCase{"gone", HeadSays::changed, "", 410},
           HeadCase{"not found", HeadSays::changed, stock.lines, 404},
           HeadCase{"failed", HeadSays::nothing, "ETag: \"f\"\r\n", 500},
           HeadCase{"not allowed", HeadSays::nothing, "ETag: \"f\"\r\n", 405},
           HeadCase{"refused", HeadSays::nothing, "ETag: \"f\"\r\n", 403},
           HeadCase{"not modified", HeadSays::nothing, "ETag: \"f\"\r\n", 304},
           HeadCase{"of one user", HeadSays::nothing, "ETag: \"f\"\r\n", 200,
                    "Authorization: Basic x\r\n"},
           HeadCase{"not to be kept", HeadSays::nothing, "", 200, "Cache-Control: no-store\r\n"},
       }) {
    const Request request(c.request, "HEAD");
    const Response answer(c.answer, c.status);
    EXPECT_EQ(head_says(request.facts, answer.head, *stored), c.expected) << c.name;
  }
}

struct PostCase {
  const char* name;
  Storability expected;
  std::string answer;
  unsigned status = 200;
  std::string request = "";
  std::string method = "POST";
};

TEST(MayStorePosted, OnlyWhatSaysThatAGetWouldBringIt) {  // RFC 9110 9.3.3
  const auto target = http::parse_target("POST", "http://a/", "a").value();
  const std::string fresh = "Cache-Control: max-age=9\r\n";
  const std::string here = "Content-Location: /\r\n";
  for (const PostCase& c : {
           PostCase{"fresh and here", Storability::yes, fresh + here},
           PostCase{"absolute", Storability::yes, fresh + "Content-Location: http://A:80/\r\n"},
           PostCase{"by Expires", Storability::yes,
                    here + "Expires: Mon, 01 Jan 2024 00:01:00 GMT\r\n"},
           PostCase{"elsewhere", Storability::method, fresh + "Content-Location: /b\r\n"},
           PostCase{"nowhere", Storability::method, fresh},
           PostCase{"twice", Storability::method, fresh + here + here},
           PostCase{"no freshness", Storability::method, here + "ETag: \"e\"\r\n"},
           PostCase{"guessed freshness", Storability::method,
                    here + "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n"},
           PostCase{"stale on arrival", Storability::method, fresh + here + "Age: 9\r\n"},
           PostCase{"created", Storability::method, fresh + here, 201},
           PostCase{"another method", Storability::method, fresh + here, 200, "", "PUT"},
           PostCase{"private", Storability::private_,
                    here + "Cache-Control: max-age=9, private\r\n"},
           PostCase{"authorized", Storability::authorization, fresh + here, 200,
                    "Authorization: Basic x\r\n"},
           PostCase{"not to be kept", Storability::request_no_store, fresh + here, 200,
                    "Cache-Control: no-store\r\n"},
       }) {
    const Request request(c.request, c.method);
    const Response answer(c.answer, c.status);
    EXPECT_EQ(may_store_posted({request.head, request.facts, target}, answer.head, kAtOnce, {}),
              c.expected)
        << c.name;
  }
}

}  // namespace
}  // namespace proxy::cache
