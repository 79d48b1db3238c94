#include "proxy/http/framing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

using namespace std::string_literals;

struct Parsed {
  Parsed(const std::string& line, const std::string& fields)
      : text(line + " HTTP/1.1\r\nHost: h\r\n" + fields + "\r\n"),
        head(parse_request_head(text).value()) {}

  std::string text;
  RequestHead head;
};

struct HopsCase {
  const char* name;
  const char* method;
  std::string fields;
  std::string expected;  // the hops left, "-" if none are stated, or the error
};

std::string told(const Parsed& parsed) {
  const auto checked = check_hops(parsed.head, request_framing(parsed.head).value());
  if (!checked) return std::string(text(checked.error()));
  const auto hops = hops_left(parsed.head);
  return hops ? std::to_string(*hops) : "-";
}

class MaxForwards : public testing::TestWithParam<HopsCase> {};

TEST_P(MaxForwards, CountsForOptionsAndTraceAlone) {
  const auto& [name, method, fields, expected] = GetParam();
  EXPECT_EQ(told(Parsed(method + " /"s, fields)), expected);
}

const std::string kBad = std::string(text(HeadError::bad_max_forwards));
const std::string kBody = std::string(text(HeadError::trace_with_body));
const std::string kSecret = std::string(text(HeadError::trace_with_credentials));

INSTANTIATE_TEST_SUITE_P(
    Rfc9110, MaxForwards,
    testing::Values(
        HopsCase{"s7_6_2_zero", "OPTIONS", "Max-Forwards: 0\r\n", "0"},
        HopsCase{"s7_6_2_more", "TRACE", "Max-Forwards: 10\r\n", "10"},
        HopsCase{"s7_6_2_leading_zeros", "TRACE", "Max-Forwards: 007\r\n", "7"},
        HopsCase{"s7_6_2_none", "OPTIONS", "", "-"},
        HopsCase{"s7_6_2_bounded", "OPTIONS", "Max-Forwards: 99999999999999999999999\r\n",
                 "4294967296"},
        HopsCase{"s7_6_2_other_method", "GET", "Max-Forwards: 0\r\n", "-"},
        HopsCase{"s7_6_2_other_method_junk", "POST", "Max-Forwards: x\r\n", "-"},
        HopsCase{"s7_6_2_negative", "TRACE", "Max-Forwards: -1\r\n", kBad},
        HopsCase{"s7_6_2_plus", "TRACE", "Max-Forwards: +1\r\n", kBad},
        HopsCase{"s7_6_2_list", "OPTIONS", "Max-Forwards: 1, 1\r\n", kBad},
        HopsCase{"s7_6_2_lines", "OPTIONS", "Max-Forwards: 1\r\nMax-Forwards: 1\r\n", kBad},
        HopsCase{"s7_6_2_empty", "OPTIONS", "Max-Forwards:\r\n", kBad},
        HopsCase{"s7_6_2_hex", "OPTIONS", "Max-Forwards: 0x1\r\n", kBad},
        HopsCase{"s9_3_8_body", "TRACE", "Content-Length: 3\r\n", kBody},
        HopsCase{"s9_3_8_chunked_body", "TRACE", "Transfer-Encoding: chunked\r\n", kBody},
        HopsCase{"s9_3_8_no_content", "TRACE", "Content-Length: 0\r\n", "-"},
        HopsCase{"s9_3_8_credentials", "TRACE", "Authorization: x\r\n", kSecret},
        HopsCase{"s9_3_8_cookie", "TRACE", "Max-Forwards: 1\r\nCookie: a=1\r\n", kSecret},
        HopsCase{"s9_3_8_cookie_that_ends_here", "TRACE", "Max-Forwards: 0\r\nCookie: a=1\r\n",
                 "0"},
        HopsCase{"s9_3_8_any_case", "trace", "Authorization: x\r\n", kSecret},
        HopsCase{"s9_3_8_any_case_body", "Trace", "Content-Length: 3\r\n", kBody},
        HopsCase{"s9_3_8_any_case_hops", "trace", "Max-Forwards: x\r\n", "-"},
        HopsCase{"s9_3_8_options_with_credentials", "OPTIONS", "Authorization: x\r\n", "-"}),
    [](const auto& test) { return test.param.name; });

TEST(Trace, ShowsWhatArrivedButNoSecrets) {
  const Parsed parsed("TRACE http://user:word@H:80/a?b",
                      "Via: 1.1 x\r\nAuthorization: Basic x\r\nCookie: a=1\r\ncookie2: x\r\n"
                      "X-Api-Key: x\r\nX-Auth-Token: x\r\nX-CSRF-Token: x\r\nx-secret: x\r\n"
                      "Proxy-Authorization: x\r\nMax-Forwards: 0\r\nX-A: b\r\n");
  const auto target = parse_target("TRACE", parsed.head.target, "h").value();
  EXPECT_EQ(traced(parsed.head, target),
            "TRACE http://h/a?b HTTP/1.1\r\nHost: h\r\nVia: 1.1 x\r\nMax-Forwards: 0\r\n"
            "X-A: b\r\n\r\n");
}

}  // namespace
}  // namespace proxy::http
