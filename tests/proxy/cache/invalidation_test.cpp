#include "proxy/cache/invalidation.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct Case {
  const char* name;
  std::string urls;  // each with a space after it
  std::string method = "POST";
  unsigned status = 200;
  std::string answer = "";
};

class InvalidatedBy : public ::testing::TestWithParam<Case> {};

TEST_P(InvalidatedBy, IsWhatTheClauseSays) {
  const Case& tested = GetParam();
  const auto target = http::parse_target(tested.method, "http://example.com/a/b").value();
  const Response answer(tested.answer, tested.status);
  std::string urls;
  for (const auto& url : invalidated_by(tested.method, target, answer.head)) {
    urls += url.url() + ' ';
  }
  EXPECT_EQ(urls, tested.urls);
}

const std::string kSelf = "http://example.com/a/b ";

INSTANTIATE_TEST_SUITE_P(
    Rfc9111Section44, InvalidatedBy,
    ::testing::Values(
        Case{"Post", kSelf}, Case{"Put", kSelf, "PUT", 201}, Case{"Delete", kSelf, "DELETE", 204},
        Case{"Redirect", kSelf, "POST", 303}, Case{"UnknownMethod", kSelf, "M-SEARCH"},
        Case{"SafeGet", "", "GET"}, Case{"SafeHead", "", "HEAD"},
        Case{"SafeOptions", "", "OPTIONS"}, Case{"SafePropfind", "", "PROPFIND", 207},
        Case{"Interim", "", "POST", 103, "Location: /x\r\n"},
        Case{"ClientError", "", "POST", 400, "Location: /x\r\n"},
        Case{"ServerError", "", "PUT", 500, "Content-Location: /x\r\n"},
        Case{"NoSuchStatus", "", "POST", 600},
        Case{"Location", kSelf + "http://example.com/x ", "POST", 201,
             "Location: http://example.com/x\r\n"},
        Case{"ContentLocation", kSelf + "http://example.com/a/x?y ", "POST", 200,
             "Content-Location: x?y#z\r\n"},
        Case{"Both", kSelf + "http://example.com/l http://example.com/c ", "DELETE", 200,
             "Content-Location: /c\r\nLocation: /l\r\n"},
        Case{"CanonicalAsTheKey", kSelf + "http://example.com/x ", "PUT", 200,
             "Location: HTTP://EXAMPLE.COM:80/a/../x\r\n"},
        Case{"OtherHost", kSelf, "POST", 201, "Location: http://example.net/x\r\n"},
        Case{"OtherPort", kSelf, "POST", 201, "Location: http://example.com:81/x\r\n"},
        Case{"OtherScheme", kSelf, "POST", 201, "Content-Location: https://example.com/x\r\n"},
        Case{"OtherHostByAuthority", kSelf, "POST", 201, "Location: //example.net/x\r\n"},
        Case{"Nonsense", kSelf, "POST", 201, "Location: http://:x/\r\nContent-Location: a b\r\n"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
