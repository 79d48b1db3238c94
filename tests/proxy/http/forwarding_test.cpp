#include "proxy/http/forwarding.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/http/fields_of.hpp"

namespace proxy::http {
namespace {

TEST(HopByHop, EndsWhatRfc9110Section761Names) {
  const Fields fields = fields_of({"Connection: x-a, close , \"q\"", "Keep-Alive: 1",
                                   "Proxy-Connection: x", "Proxy-Authorization: x", "TE: trailers",
                                   "Trailer: x", "Transfer-Encoding: chunked", "Upgrade: h2c",
                                   "X-A: 1", "X-a: 2", "hearsay-epoch: 1"});
  const HopByHop hop(fields);
  for (const Field& line : fields) EXPECT_TRUE(hop.ends_here(line)) << line.name;
  for (const Field& line : fields_of({"X-B: 1", "Close: 1", "Proxy-Authenticate: x", "Cookie: x"}))
    EXPECT_FALSE(hop.ends_here(line)) << line.name;
}

TEST(HopByHop, NoOptionTakesAwayWhatAMessageMeans) {
  const Fields fields =
      fields_of({"Connection: host, content-length, cache-control, authorization, via, "
                 "vary, content-encoding, range, age, x-a"});
  const HopByHop hop(fields);
  for (const Field& line :
       fields_of({"Host: h", "Content-Length: 1", "Cache-Control: no-store", "Authorization: x",
                  "Via: 1.1 x", "Vary: a", "Content-Encoding: gzip", "Range: x", "Age: 1"}))
    EXPECT_FALSE(hop.ends_here(line)) << line.name;
}

TEST(HopByHop, FloodsOfOptionsEndEveryFieldTheyMay) {
  std::string options = "Connection: a";
  for (int i = 0; i < 100; ++i) options += ",a" + std::to_string(i);
  const Fields fields = fields_of({options});
  const HopByHop hop(fields);
  const Fields others = fields_of({"a99: 1", "Host: h"});
  EXPECT_TRUE(hop.ends_here(*others.begin()));
  EXPECT_FALSE(hop.ends_here(*(others.begin() + 1)));
}

TEST(WithoutNamed, TakesOutWhatConnectionNamesAndLeavesTheConnectionsOwnFields) {
  const auto others = without_named(
      fields_of({"Connection: Accept, upgrade, x-forwarded-for, x-forwarded-proto, x-a, via",
                 "Accept: a", "Upgrade: websocket", "X-Forwarded-For: 1", "X-Forwarded-Proto: 1",
                 "X-A: 1", "X-a: 2", "X-B: 3", "Via: 1.1 x", "Cookie: c"}));
  ASSERT_TRUE(others);
  std::string names;
  for (const Field& line : *others) (names += line.name) += ' ';
  EXPECT_EQ(names, "Connection Upgrade X-Forwarded-For X-B Via Cookie ");
  EXPECT_FALSE(without_named(fields_of({"Connection: close, x-c", "X-B: 3"}))) << "nothing to do";
}

TEST(ViaNames, FindsOurNameAndNoOther) {  // RFC 9110 7.6.3
  const struct {
    const char* via;
    bool ours;
  } cases[] = {
      {"1.1 cache-a", true},
      {"1.0 b, HTTP/1.1 CACHE-A (hearsay)", true},
      {"1.1 b (x, y), 1.1\tcache-a", true},
      {"1.1 cache-a(x)", true},
      {"1.1 b (c (d) e), 1.1 cache-a", true},
      {"1.1 b (\\), 1.1 c), 1.1 cache-a", true},
      {"1.1 b (never closed, 1.1 cache-a", true},
      {"1.1 b ) , 1.1 cache-a", true},
      {"cache-a", true},
      {"1.1 cache-ab, 1.1 a, 1.1 xcache-a", false},
      {"1.1 b (cache-a)", false},
      {"1.1 b (1.1 cache-a, 1.1 c)", false},
      {"", false},
  };
  for (const auto& c : cases) {
    Fields fields;
    fields.append("Via", c.via);
    EXPECT_EQ(via_names(fields, "cache-a"), c.ours) << c.via;
  }
  EXPECT_TRUE(via_names(fields_of({"Via: 1.1 b", "via: 1.1 cache-a"}), "cache-a"));
  EXPECT_FALSE(via_names(fields_of({"X-Via: 1.1 cache-a"}), "cache-a"));
}

TEST(ViaNames, CostsLinearTime) {
  const std::string open(1 << 20, '(');
  Fields fields;
  fields.append("Via", open);
  EXPECT_FALSE(via_names(fields, "cache-a"));
}

TEST(RequestHead, IsWrittenWithHostFirstAndFramingOfOurOwn) {
  const Fields fields =
      fields_of({"Host: evil", "Accept: a", "Content-Length: 3", "Connection: x-own", "TE: x",
                 "Via: 1.0 first", "Cookie: c", "X-Own: 2"});  // X-Own was added since
  const field without[] = {field::cookie};
  const Field extra[] = {{field::cache_control, "Cache-Control", "only-if-cached"}};
  const UpstreamRequest request{
      "POST", "/p?q", "h:81", fields, 0, "cache-a", {Framing::Kind::chunked, 0}, without, extra};
  std::string out;
  append_request_head(out, request);
  EXPECT_EQ(
      out,
      "POST /p?q HTTP/1.1\r\nHost: h:81\r\nAccept: a\r\nVia: 1.0 first\r\nX-Own: 2\r\n"
      "Via: 1.0 cache-a\r\nTransfer-Encoding: chunked\r\nCache-Control: only-if-cached\r\n\r\n");
}

std::string forwarded(std::initializer_list<std::string_view> lines) {
  const Fields fields = fields_of(lines);
  std::string out;
  append_request_head(out,
                      {.method = "GET", .target = "/", .host = "h", .fields = fields, .name = "a"});
  const std::string before = "GET / HTTP/1.1\r\nHost: h\r\n", after = "Via: 1.1 a\r\n\r\n";
  EXPECT_TRUE(out.starts_with(before) && out.ends_with(after)) << out;
  return out.substr(before.size(), out.size() - before.size() - after.size());
}

TEST(RequestHead, HasNoCookieThatSignsABrowserIn) {
  struct Case {
    std::string_view given, forwarded;
  };
  for (const Case& c : {Case{"hearsay-3128=0af", ""}, Case{"hearsay-3128=0af; hearsay-80=", ""},
                        Case{"a=b; hearsay-3128=0af;c=d", "Cookie: a=b; c=d\r\n"},
                        Case{"hearsay-3128=0af; c=\"d\"", "Cookie: c=\"d\"\r\n"},
                        Case{"a=b;;c", "Cookie: a=b;;c\r\n"},
                        Case{"hearsay-theme=dark; x-hearsay-80=1",
                             "Cookie: hearsay-theme=dark; x-hearsay-80=1\r\n"}}) {
    const auto line = std::string("Cookie: ").append(c.given);
    EXPECT_EQ(forwarded({line}), c.forwarded) << c.given;
    EXPECT_EQ(forwarded({"A: 1", line, "B: 2"}),
              std::string("A: 1\r\n").append(c.forwarded) + "B: 2\r\n");
  }
}

TEST(RequestHead, HasNothingThatHearsaysTellEachOther) {
  EXPECT_EQ(
      forwarded({"Hearsay-Part: first", "hearsay-rule: 0123456789abcdef", "HEARSAY-FETCH: 1",
                 "Hearsay-Digest: \"1-2\"", "Hearsay-Epoch: ?1", "Hearsay-Cache: 1", "Host2: a"}),
      "Hearsay-Cache: 1\r\nHost2: a\r\n");
}

TEST(RequestHead, IsChangedIntoOneToAProxy) {
  struct Case {
    std::string_view head, site, authorization, expected;
  };
  for (const Case& c : {
           Case{"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", "http://h", "",
                "GET http://h/a b HTTP/1.1\r\nHost: h\r\n\r\n"},
           Case{"GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "https://h:1", "Basic x",
                "GET https://h:1/a HTTP/1.1\r\nProxy-Authorization: Basic x\r\nHost: h\r\n\r\n"},
           Case{"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "http://h", "",
                "OPTIONS http://h HTTP/1.1\r\nHost: h\r\n\r\n"},
           Case{"CONNECT h:443 HTTP/1.1\r\n\r\n", "", "Basic x",
                "CONNECT h:443 HTTP/1.1\r\nProxy-Authorization: Basic x\r\n\r\n"},
       }) {
    EXPECT_EQ(to_proxy(c.head, c.site, c.authorization), c.expected) << c.head;
  }
}

TEST(ResponseHead, IsWrittenWithoutItsFraming) {
  std::string bytes =
      "HTTP/1.0 404 Gone Fishing\r\nContent-Length: 3\r\nAge: 4\r\nETag: \"x\"\r\nX-No: 1\r\n"
      "Connection: X-No\r\nCache-Status: up; hit\r\nHearsay-Epoch: 1\r\n"
      "Date: d\r\n\r\n";
  const auto head = parse_response_head(bytes);
  const field without[] = {field::date};
  std::string out;
  append_response_head(out, *head, "cache-a", without);
  EXPECT_EQ(
      out,
      "HTTP/1.1 404 Gone Fishing\r\nETag: \"x\"\r\nCache-Status: up; hit\r\nVia: 1.0 cache-a\r\n");
}

TEST(ResponseHead, IsWrittenInOneFormHoweverItsLinesCame) {
  std::string received =
      "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nX-A: 1\r\nx-b:2\r\nX-C: 3 \r\nX-D:  4\r\nX-E:\r\n"
      "X-F: \r\nX-G:\t5\r\nConnection: x-i\r\nX-H: 6\r\nX-I: 7\r\nX-J: 8 9\r\nX-K: 10\t\r\n"
      "Content-Length: 0\r\nDate: d\r\nX-L: a\r\n b\r\n\r\n";
  const auto head = parse_response_head(received);
  ASSERT_TRUE(head);
  std::string written;
  append_response_head(written, *head, "us");
  EXPECT_EQ(written,
            "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nX-A: 1\r\nx-b: 2\r\nX-C: 3\r\nX-D: 4\r\nX-E: \r\n"
            "X-F: \r\nX-G: 5\r\nX-H: 6\r\nX-J: 8 9\r\nX-K: 10\r\n"
            "Date: d\r\nX-L: a   b\r\nVia: 1.1 us\r\n");
}

TEST(ReasonPhrase, IsTheRegisteredOne) {
  EXPECT_EQ(reason_phrase(504), "Gateway Timeout");
  EXPECT_EQ(reason_phrase(299), "Unknown");
  EXPECT_EQ(reason_phrase(999), "Unknown");
}

}  // namespace
}  // namespace proxy::http
