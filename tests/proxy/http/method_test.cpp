#include "proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

TEST(Method, IsSafeAndIdempotentOnlyIfItIsKnownToBe) {  // RFC 9110 9.2.1, 9.2.2, 16.1
  const struct {
    const char* method;
    bool safe, idempotent;
  } cases[] = {
      {"GET", true, true},    {"HEAD", true, true},     {"OPTIONS", true, true},
      {"TRACE", true, true},  {"PROPFIND", true, true}, {"REPORT", true, true},
      {"SEARCH", true, true}, {"PUT", false, true},     {"DELETE", false, true},
      {"POST", false, false}, {"PATCH", false, false},  {"M-SEARCH", false, false},
      {"get", false, false},  {"GETS", false, false},   {"", false, false},
  };
  for (const auto& [method, safe, idempotent] : cases) {
    EXPECT_EQ(is_safe(method), safe) << method;
    EXPECT_EQ(is_idempotent(method), idempotent) << method;
  }
}

}  // namespace
}  // namespace proxy::http
