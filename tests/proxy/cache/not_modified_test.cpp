#include "proxy/cache/partial.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/cache/messages.hpp"

namespace proxy::cache {
namespace {

struct NotModifiedCase {
  const char* name;  // with the clause of RFC 9110
  const char* stored;
  const char* said;
};

class NotModifiedHead : public ::testing::TestWithParam<NotModifiedCase> {};

TEST_P(NotModifiedHead, HasTheFieldsOfTheClause) {
  Budget budget(1 << 20);
  Stock stock;
  stock.lines = "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\n" + std::string(GetParam().stored);
  EXPECT_EQ(not_modified_head(*entry_of(budget, stock)),
            "HTTP/1.1 304 Not Modified\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n" +
                std::string(GetParam().said) + "Via: 1.1 us\r\n");
}

INSTANTIATE_TEST_SUITE_P(
    Clauses, NotModifiedHead,
    ::testing::Values(
        NotModifiedCase{"s15_4_5_WhatItMustSay",
                        "Content-Location: /b\r\nETag: \"e\"\r\nVary: a\r\nCache-Control: "
                        "max-age=9\r\nExpires: 0\r\n",
                        "Content-Location: /b\r\nETag: \"e\"\r\nVary: a\r\nCache-Control: "
                        "max-age=9\r\nExpires: 0\r\n"},
        NotModifiedCase{"s15_4_5_WhatDescribesContent",
                        "content-type: a/b\r\nContent-Encoding: gzip\r\nContent-Language: "
                        "de\r\nContent-MD5: x\r\nRepr-Digest: y\r\nContent-Length: 0\r\n",
                        ""},
        NotModifiedCase{"s15_4_5_LastModifiedBesideATag",
                        "ETag: W/\"e\"\r\nLast-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
                        "ETag: W/\"e\"\r\nLast-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n"},
        NotModifiedCase{"s15_4_5_LastModifiedAlone",
                        "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n",
                        "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n"},
        NotModifiedCase{"s15_4_5_WhatIsNoMetadata", "Set-Cookie: a=b\r\nX-A: 1\r\n",
                        "Set-Cookie: a=b\r\nX-A: 1\r\n"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace proxy::cache
