#include "proxy/cache/other_methods.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct InvalidationCase {
  const char* name;
  std::string urls;  // a space after each
  std::string method = "POST";
  unsigned status = 200;
  std::string answer = "";
};

class InvalidatedBy : public ::testing::TestWithParam<InvalidationCase> {};

TEST_P(InvalidatedBy, IsWhatTheClauseSays) {
  const InvalidationCase& tested = GetParam();
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
        InvalidationCase{"Post", kSelf}, InvalidationCase{"Put", kSelf, "PUT", 201},
        InvalidationCase{"Delete", kSelf, "DELETE", 204},
        InvalidationCase{"Redirect", kSelf, "POST", 303},
        InvalidationCase{"UnknownMethod", kSelf, "M-SEARCH"},
        InvalidationCase{"SafeGet", "", "GET"}, InvalidationCase{"SafeHead", "", "HEAD"},
        InvalidationCase{"SafeOptions", "", "OPTIONS"},
        InvalidationCase{"SafePropfind", "", "PROPFIND", 207},
        InvalidationCase{"Interim", "", "POST", 103, "Location: /x\r\n"},
        InvalidationCase{"ClientError", "", "POST", 400, "Location: /x\r\n"},
        InvalidationCase{"ServerError", "", "PUT", 500, "Content-Location: /x\r\n"},
        InvalidationCase{"NoSuchStatus", "", "POST", 600},
        InvalidationCase{"Location", kSelf + "http://example.com/x ", "POST", 201,
                         "Location: http://example.com/x\r\n"},
        InvalidationCase{"ContentLocation", kSelf + "http://example.com/a/x?y ", "POST", 200,
                         "Content-Location: x?y#z\r\n"},
        InvalidationCase{"Both", kSelf + "http://example.com/l http://example.com/c ", "DELETE",
                         200, "Content-Location: /c\r\nLocation: /l\r\n"},
        InvalidationCase{"CanonicalAsTheKey", kSelf + "http://example.com/x ", "PUT", 200,
                         "Location: HTTP://EXAMPLE.COM:80/a/../x\r\n"},
        InvalidationCase{"OtherHost", kSelf, "POST", 201, "Location: http://example.net/x\r\n"},
        InvalidationCase{"OtherPort", kSelf, "POST", 201, "Location: http://example.com:81/x\r\n"},
        InvalidationCase{"OtherScheme", kSelf, "POST", 201,
                         "Content-Location: https://example.com/x\r\n"},
        InvalidationCase{"OtherHostByAuthority", kSelf, "POST", 201,
                         "Location: //example.net/x\r\n"},
        InvalidationCase{"Nonsense", kSelf, "POST", 201,
                         "Location: http://:x/\r\nContent-Location: a b\r\n"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
