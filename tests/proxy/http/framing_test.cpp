#include "proxy/http/framing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

using Kind = Framing::Kind;
using namespace std::string_literals;

struct FramingCase {
  const char* name;
  std::string fields;
  HeadResult<Framing> expected;
};

std::string told(const HeadResult<Framing>& result) {
  if (!result) return std::string(text(result.error()));
  return std::to_string(static_cast<int>(result->kind)) + " " + std::to_string(result->length);
}

HeadResult<Framing> of_request(const std::string& fields, const char* version = "1.1") {
  const std::string head = "POST / HTTP/"s + version + "\r\n" + fields + "\r\n";
  return request_framing(parse_request_head(head).value());
}

HeadResult<Framing> of_response(const std::string& fields, const char* status = "HTTP/1.1 200",
                                std::string_view method = "GET") {
  std::string head = status + "\r\n"s + fields + "\r\n";
  return response_framing(parse_response_head(head).value(), method);
}

class StatedFraming : public testing::TestWithParam<FramingCase> {};

TEST_P(StatedFraming, IsReadAlikeInRequestsAndResponses) {
  const auto& [name, fields, expected] = GetParam();
  EXPECT_EQ(told(of_request(fields)), told(expected));
  EXPECT_EQ(told(of_response(fields)), told(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Rfc9112, StatedFraming,
    testing::Values(
        FramingCase{"s6_2_length", "Content-Length: 5\r\n", Framing{Kind::sized, 5}},
        FramingCase{"s6_2_zero", "Content-Length: 0\r\n", Framing{Kind::sized, 0}},
        FramingCase{"s6_2_leading_zeros", "Content-Length: 005\r\n", Framing{Kind::sized, 5}},
        FramingCase{"s6_2_largest", "Content-Length: 9223372036854775807\r\n",
                    Framing{Kind::sized, (1ull << 63) - 1}},
        FramingCase{"s7_1_chunked", "Transfer-Encoding: chunked\r\n", Framing{Kind::chunked, 0}},
        FramingCase{"s7_1_chunked_any_case", "Transfer-Encoding: CHUNKED\r\n",
                    Framing{Kind::chunked, 0}},
        FramingCase{"s6_3_too_large", "Content-Length: 9223372036854775808\r\n",
                    HeadError::bad_content_length},
        FramingCase{"s6_3_overflow", "Content-Length: 18446744073709551621\r\n",
                    HeadError::bad_content_length},
        FramingCase{"s6_3_empty", "Content-Length:\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_negative", "Content-Length: -5\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_plus", "Content-Length: +5\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_hex", "Content-Length: 0x5\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_blank_inside", "Content-Length: 5 5\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_junk", "Content-Length: 5a\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_quoted", "Content-Length: \"5\"\r\n", HeadError::bad_content_length},
        FramingCase{"s6_3_two_lines", "Content-Length: 5\r\nContent-Length: 6\r\n",
                    HeadError::two_lengths},
        FramingCase{"s6_3_two_equal_lines", "Content-Length: 5\r\ncontent-length: 5\r\n",
                    HeadError::two_lengths},
        FramingCase{"s6_3_list", "Content-Length: 5, 6\r\n", HeadError::two_lengths},
        FramingCase{"s6_3_equal_list", "Content-Length: 5, 5\r\n", HeadError::two_lengths},
        FramingCase{"s6_3_list_with_empty", "Content-Length: 5,\r\n", HeadError::two_lengths},
        FramingCase{"s6_1_both", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                    HeadError::length_and_coding},
        FramingCase{"s6_1_both_other_order", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                    HeadError::length_and_coding},
        FramingCase{"s6_3_gzip_then_chunked", "Transfer-Encoding: gzip, chunked\r\n",
                    HeadError::unsupported_coding},
        FramingCase{"s6_3_gzip_then_chunked_lines",
                    "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
                    HeadError::unsupported_coding},
        FramingCase{"s6_3_gzip", "Transfer-Encoding: gzip\r\n", HeadError::bad_coding},
        FramingCase{"s6_3_not_last", "Transfer-Encoding: chunked, gzip\r\n", HeadError::bad_coding},
        FramingCase{"s6_1_chunked_twice", "Transfer-Encoding: chunked, chunked\r\n",
                    HeadError::bad_coding},
        FramingCase{"s6_1_chunked_two_lines",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                    HeadError::bad_coding},
        FramingCase{"s6_1_xchunked", "Transfer-Encoding: xchunked\r\n", HeadError::bad_coding},
        FramingCase{"s6_1_identity", "Transfer-Encoding: identity\r\n", HeadError::bad_coding},
        FramingCase{"s6_1_empty", "Transfer-Encoding:\r\n", HeadError::bad_coding},
        FramingCase{"s6_1_parameter", "Transfer-Encoding: chunked;q=1\r\n", HeadError::bad_coding},
        FramingCase{"s6_1_quoted", "Transfer-Encoding: \"chunked\"\r\n", HeadError::bad_coding}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Framing, WithoutAStatementARequestHasNoBodyAndAResponseLastsUntilTheClose) {
  EXPECT_EQ(*of_request(""), Framing{});
  EXPECT_EQ(of_response("")->kind, Kind::until_close);
}

TEST(Framing, OfHttp10HasNoTransferCoding) {  // RFC 9112 6.1
  const char* coded = "Transfer-Encoding: chunked\r\n";
  EXPECT_EQ(of_request(coded, "1.0").error(), HeadError::coding_in_http10);
  EXPECT_EQ(of_response(coded, "HTTP/1.0 200").error(), HeadError::coding_in_http10);
}

TEST(Framing, SomeResponsesNeverHaveABody) {  // RFC 9112 6.3 (1), (2)
  const struct {
    const char* status;
    std::string_view method;
    bool body;
  } cases[] = {
      {"HTTP/1.1 200", "HEAD", false}, {"HTTP/1.1 204", "GET", false},
      {"HTTP/1.1 304", "GET", false},  {"HTTP/1.1 200", "CONNECT", false},
      {"HTTP/1.1 200", "GET", true},   {"HTTP/1.1 403", "CONNECT", true},
      {"HTTP/1.1 205", "GET", true},   {"HTTP/1.1 404", "HEAD", false},
      {"HTTP/1.1 200", "head", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(of_response("Content-Length: 5\r\n", c.status, c.method)->has_body(), c.body)
        << c.status << c.method;
  EXPECT_EQ(of_response("Content-Length: 5, 5\r\n", "HTTP/1.1 304").error(),
            HeadError::two_lengths);
}

TEST(Framing, OfAnInterimResponseIsItsHeadWhateverItStates) {  // RFC 9112 6.3 (1)
  for (const char* status : {"HTTP/1.1 100", "HTTP/1.1 101", "HTTP/1.1 103", "HTTP/1.0 103"}) {
    for (const char* stated :
         {"", "Content-Length: 0\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
          "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: x\r\n"}) {
      const auto framing = of_response(stated, status);
      ASSERT_TRUE(framing) << status << stated;
      EXPECT_EQ(*framing, Framing{}) << status << stated;
    }
  }
}

TEST(Host, IsExactlyOneAndValid) {  // RFC 9112 3.2
  const auto check = [](const std::string& fields, const char* version = "1.1") {
    const std::string head = "GET / HTTP/"s + version + "\r\n" + fields + "\r\n";
    const auto result = check_host(parse_request_head(head).value(), {});
    return result ? std::string("fine") : std::string(text(result.error()));
  };
  EXPECT_EQ(check("Host: h:80\r\n"), "fine");
  EXPECT_EQ(check("", "1.0"), "fine");
  EXPECT_EQ(check(""), text(HeadError::no_host));
  EXPECT_EQ(check("Host: a\r\nHost: a\r\n"), text(HeadError::two_hosts));
  EXPECT_EQ(check("Host: a\r\nHost: b\r\n", "1.0"), text(HeadError::two_hosts));
  for (const char* value :
       {"", "a b", "a,b", "a/b", "u@a", "a:b", "a:0", "a:65536", "[::1", "[::g]", "a..b", "."})
    EXPECT_EQ(check("Host: "s + value + "\r\n"), text(HeadError::bad_host)) << value;
}

TEST(Host, IsValidIfItIsThatOfTheTarget) {
  const auto check = [](std::string_view target, std::string_view host) {
    const auto head =
        "GET "s.append(target) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n";
    const auto parsed = parse_request_head(head).value();
    const auto aimed = parse_target(parsed.method, parsed.target, host);
    return aimed && check_host(parsed, *aimed).has_value();
  };
  EXPECT_TRUE(check("http://a.test:8080/x", "a.test:8080"));
  EXPECT_TRUE(check("http://a.test/x", "b.test")) << "the target counts, RFC 9112 3.2.2";
  for (const char* bad : {"", "a/b", "a?b", "u@a"}) {
    EXPECT_FALSE(check("http://"s + bad + "/x", bad)) << bad;
    EXPECT_FALSE(check("http://"s + bad + "/b/x", bad)) << bad;
  }
  EXPECT_FALSE(check("http://a..b.test/x", "a..b"));
}

TEST(Framing, IsWrittenAsOneFieldOrNone) {
  const auto written = [](const Framing& framing) {
    std::string out;
    PieceWriter text(out);
    write_framing(text, framing);
    text.flush();
    return out;
  };
  EXPECT_EQ(written({Kind::sized, 12}), "Content-Length: 12\r\n");
  EXPECT_EQ(written({Kind::chunked, 0}), "Transfer-Encoding: chunked\r\n");
  EXPECT_EQ(written({Kind::none, 0}), "");
  EXPECT_EQ(written({Kind::until_close, 0}), "");
}

}  // namespace
}  // namespace proxy::http
