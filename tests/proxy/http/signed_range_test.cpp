#include "proxy/http/range.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proxy/http/head.hpp"

namespace proxy::http {
namespace {

bool signs(const std::string& target, const std::string& lines = "") {
  const std::string text = "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
  return signs_range(parse_request_head(text).value());
}

TEST(SignedRange, IsThatOfAUrlWithASignature) {
  EXPECT_TRUE(signs("/a?X-Amz-Date=1&X-Amz-Signature=0f"));
  EXPECT_TRUE(signs("http://a/b?X-Goog-Signature=0f&x=y"));
  EXPECT_TRUE(signs("/a?Expires=1&signature=x%3D&Key-Pair-Id=y"));
  EXPECT_TRUE(signs("/a?Signature"));
  for (const char* target : {"/a", "/a?", "/Signature=1", "/a?sig=1", "/a?MySignature=1",
                             "/a?x=Signature", "/a?&&", "/a?Signatures=1"}) {
    EXPECT_FALSE(signs(target)) << target;
  }
}

TEST(SignedRange, IsNamedByWhatSignsTheFields) {
  const std::string aws = "Authorization: AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=";
  EXPECT_TRUE(signs("/a", aws + "host;range;x-amz-date, Signature=0f\r\n"));
  EXPECT_FALSE(signs("/a", aws + "host;x-amz-date, Signature=0f\r\n"));
  EXPECT_FALSE(signs("/a", aws + "content-range;host;rangeless, Signature=0f\r\n"));
  EXPECT_TRUE(signs("/a", "Signature-Input: sig1=(\"@method\" \"range\");created=1\r\n"));
  EXPECT_TRUE(signs("/a", "Signature: keyId=\"a\",headers=\"(request-target) Range\"\r\n"));
  EXPECT_FALSE(signs("/a", "X-Other: range\r\nRange: bytes=0-1\r\n"));
  EXPECT_FALSE(signs("/a", "Authorization: Basic YTpi\r\n"));
}

}  // namespace
}  // namespace proxy::http
