#include "proxy/http/head.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

using namespace std::string_literals;

const std::string kGet = "GET /a HTTP/1.1\r\nHost: h\r\n";

HeadResult<ResponseHead> parse_response(std::string& text) {
  return parse_response_head(text);
}

TEST(FindHeadEnd, FindsTheEmptyLineAtEveryCut) {
  const std::string head = kGet + "\r\n";
  const std::string stream = head + "body\r\n\r\n";
  std::size_t searched = 0;
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(find_head_end(stream.substr(0, size), searched), std::string::npos);
    searched = size;
  }
  EXPECT_EQ(find_head_end(stream, searched), head.size());
  EXPECT_EQ(find_head_end(stream), head.size());
}

TEST(FindHeadEnd, EndsAtABareLfSoThatNobodyWaits) {
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\nHost: h"), 15u);
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\r\nHost: h\n"), 24u);
  EXPECT_EQ(find_head_end("\n"), 1u);
  EXPECT_EQ(find_head_end("\r\nGET"), std::string::npos);
}

// The rule as a sentence: a line ends at each LF, and a head at an empty line or at a bare LF.
std::size_t head_end_by_lines(std::string_view buffer) {
  std::size_t begin = 0;
  for (std::size_t lf = buffer.find('\n'); lf != std::string_view::npos;
       lf = buffer.find('\n', begin)) {
    const auto line = buffer.substr(begin, lf - begin);
    const bool is_empty = line == "\r" && begin > 0;
    if (!line.ends_with('\r') || is_empty) return lf + 1;
    begin = lf + 1;
  }
  return std::string_view::npos;
}

TEST(FindHeadEnd, AgreesWithTheRuleForAllShortEndsAtEachPlace) {
  constexpr std::string_view kBytes = "a\r\n";
  for (std::size_t before = 0; before < 34; ++before) {
    for (unsigned number = 0; number < 729; ++number) {  // six bytes
      std::string text(before, 'x');
      for (unsigned rest = number, i = 0; i < 6; ++i, rest /= 3) text += kBytes[rest % 3];
      text += std::string(before % 20, 'y');
      EXPECT_EQ(find_head_end(text), head_end_by_lines(text)) << before << ' ' << number;
    }
  }
}

TEST(RequestHead, IsReadAsViewsInOrder) {
  const auto head = parse_request_head(
      "PUT http://h/x?y HTTP/1.0\r\nHost:h\r\nX-A: \t b\tc \r\nX-Empty:\r\nX-Utf: "
      "\xc3\xbc\r\n\r\n");
  ASSERT_TRUE(head) << text(head.error());
  EXPECT_EQ(head->method, "PUT");
  EXPECT_EQ(head->target, "http://h/x?y");
  EXPECT_EQ(head->minor, 0);
  ASSERT_EQ(head->fields.size(), 4u);
  EXPECT_EQ(head->fields.value(field::host), "h");
  EXPECT_EQ(head->fields.find("x-a")->value, "b\tc");
  EXPECT_EQ(head->fields.find("x-empty")->value, "");
  EXPECT_EQ(head->fields.find("x-utf")->value, "\xc3\xbc");
}

TEST(RequestHead, TakesWhatRfc9112Allows) {
  const std::string rest = "Host: h\r\n\r\n";
  EXPECT_EQ(parse_request_head("\r\nGET / HTTP/1.1\r\n" + rest)->method, "GET");  // 2.2
  EXPECT_EQ(parse_request_head("M-SEARCH * HTTP/1.1\r\n" + rest)->method, "M-SEARCH");
  EXPECT_EQ(parse_request_head("GET / HTTP/1.9\r\n" + rest)->minor, 1);  // 9110 2.5
  EXPECT_EQ(parse_request_head("GET / HTTP/1.0\r\n\r\n")->fields.size(), 0u);
}

struct Refused {
  const char* name;
  std::string head;
  HeadError error;
};

class RefusedRequest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRequest, SaysWhy) {
  const auto head = parse_request_head(GetParam().head);
  ASSERT_FALSE(head);
  EXPECT_EQ(text(head.error()), text(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rfc9112, RefusedRequest,
    testing::Values(
        Refused{"s2_1_empty", "", HeadError::no_end}, Refused{"s2_1_cut", kGet, HeadError::no_end},
        Refused{"s2_1_more_than_a_head", kGet + "\r\nX", HeadError::no_end},
        Refused{"s2_2_two_empty_lines_first", "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
                HeadError::bad_request_line},
        Refused{"s2_2_bare_lf", "GET / HTTP/1.1\nHost: h\r\n\r\n", HeadError::bare_lf},
        Refused{"s2_2_bare_lf_ends_field", kGet + "A: b\n\r\n", HeadError::bare_lf},
        Refused{"s2_2_bare_lf_ends_head", kGet + "\n", HeadError::bare_lf},
        Refused{"s2_2_bare_cr_in_line", "GET /\r HTTP/1.1\r\n\r\n", HeadError::bare_cr},
        Refused{"s2_2_bare_cr_in_value", kGet + "A: b\rc\r\n\r\n", HeadError::bare_cr},
        Refused{"s2_2_bare_cr_in_name", kGet + "A\rB: b\r\n\r\n", HeadError::bare_cr},
        Refused{"s2_2_two_cr", kGet + "A: b\r\r\n\r\n", HeadError::bare_cr},
        Refused{"s2_2_blank_before_first_field", "GET / HTTP/1.1\r\n A: b\r\n\r\n",
                HeadError::folded},
        Refused{"s3_no_version", "GET /\r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_two_spaces", "GET  / HTTP/1.1\r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_space_in_target", "GET /a b HTTP/1.1\r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_leading_space", " GET / HTTP/1.1\r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_trailing_space", "GET / HTTP/1.1 \r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_tab", "GET\t/ HTTP/1.1\r\n\r\n", HeadError::bad_request_line},
        Refused{"s3_1_method", "G(T / HTTP/1.1\r\n\r\n", HeadError::bad_method},
        Refused{"s3_2_nul_in_target", "GET /\0 HTTP/1.1\r\n\r\n"s, HeadError::bad_target},
        Refused{"s3_2_fragment", "GET /a#b HTTP/1.1\r\n\r\n", HeadError::bad_target},
        Refused{"s3_2_del", "GET /\x7f HTTP/1.1\r\n\r\n", HeadError::bad_target},
        Refused{"s2_3_lower_case", "GET / http/1.1\r\n\r\n", HeadError::bad_version},
        Refused{"s2_3_two_digits", "GET / HTTP/1.10\r\n\r\n", HeadError::bad_version},
        Refused{"s2_3_no_minor", "GET / HTTP/1\r\n\r\n", HeadError::bad_version},
        Refused{"s2_3_version_0", "GET / HTTP/0.9\r\n\r\n", HeadError::unsupported_version},
        Refused{"s2_3_version_2", "GET / HTTP/2.0\r\n\r\n", HeadError::unsupported_version},
        Refused{"s5_no_colon", kGet + "A\r\n\r\n", HeadError::bad_field_name},
        Refused{"s5_no_name", kGet + ": b\r\n\r\n", HeadError::bad_field_name},
        Refused{"s5_name_no_token", kGet + "A@: b\r\n\r\n", HeadError::bad_field_name},
        Refused{"s5_name_obs_text", kGet + "A\xff: b\r\n\r\n", HeadError::bad_field_name},
        Refused{"s5_1_space_before_colon", kGet + "A : b\r\n\r\n", HeadError::space_before_colon},
        Refused{"s5_1_tab_before_colon", kGet + "A\t: b\r\n\r\n", HeadError::space_before_colon},
        Refused{"s5_2_folded", kGet + "A: b\r\n c\r\n\r\n", HeadError::folded},
        Refused{"s5_2_folded_by_tab", kGet + "A: b\r\n\tc\r\n\r\n", HeadError::folded},
        Refused{"s5_5_nul", kGet + "A: b\0c\r\n\r\n"s, HeadError::bad_field_value},
        Refused{"s5_5_control", kGet + "A: \x0b\r\n\r\n", HeadError::bad_field_value},
        Refused{"s5_5_del", kGet + "A: \x7f\r\n\r\n", HeadError::bad_field_value}),
    [](const auto& tested) { return std::string(tested.param.name); });

// RFC 9110 5.5: visible bytes, spaces, tabs and those above 127.
TEST(RequestHead, TakesExactlyTheBytesOfAValueAtEachPlace) {
  for (std::size_t at = 0; at < 20; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string value(20, 'x');
      value[at] = static_cast<char>(byte);
      const bool is_valid = (byte >= 0x20 && byte != 0x7f) || byte == '\t';
      const auto head = kGet + "A: <" + value + ">\r\n\r\n";
      EXPECT_EQ(parse_request_head(head).has_value(), is_valid) << byte << " at " << at;
    }
  }
}

TEST(RequestHead, IsBoundedInBytesAndFields) {
  const std::string head = kGet + "A: b\r\n\r\n";
  EXPECT_TRUE(parse_request_head(head, {head.size(), 2}));
  EXPECT_EQ(parse_request_head(head, {head.size() - 1, 2}).error(), HeadError::too_large);
  EXPECT_EQ(parse_request_head(head, {head.size(), 1}).error(), HeadError::too_many_fields);
}

TEST(KeepAlive, FollowsRfc9112Section93) {
  const struct {
    const char* version;
    const char* connection;
    bool kept;
  } cases[] = {
      {"1.1", "", true},
      {"1.0", "", false},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "Connection: x, CLOSE\r\n", false},
      {"1.1", "Connection: x\r\n", true},
      {"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
      {"1.0", "Connection: keep-alive, close\r\n", false},
      {"1.0", "Proxy-Connection: keep-alive\r\n",
       false},  // C.2.2: a proxy cannot know which connection it was meant for
  };
  for (const auto& c : cases) {
    const std::string request = "GET / HTTP/"s + c.version + "\r\n" + c.connection + "\r\n";
    std::string response = "HTTP/"s + c.version + " 200 OK\r\n" + c.connection + "\r\n";
    EXPECT_EQ(parse_request_head(request)->keep_alive(), c.kept) << request;
    EXPECT_EQ(parse_response(response)->keep_alive(), c.kept) << response;
  }
}

TEST(ResponseHead, ReadsStatusAndReason) {
  std::string plain = "HTTP/1.1 404 Not Found\r\nServer: x\r\n\r\n";
  const auto head = parse_response(plain);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 404u);
  EXPECT_EQ(head->reason, "Not Found");
  EXPECT_EQ(head->minor, 1);
  EXPECT_FALSE(head->interim());
  std::string bare = "HTTP/1.0 103\r\n\r\n";
  EXPECT_EQ(parse_response(bare)->reason, "");
  EXPECT_TRUE(parse_response(bare)->interim());
  std::string blank = "HTTP/1.1 999 \r\n\r\n";
  EXPECT_EQ(parse_response(blank)->status, 999u);
}

TEST(ResponseHead, JoinsFoldedLinesWithSpaces) {  // RFC 9112 5.2
  std::string head = "HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\nB:\r\n \r\nC: e\r\n\r\n";
  const auto parsed = parse_response(head);
  ASSERT_TRUE(parsed) << text(parsed.error());
  ASSERT_EQ(parsed->fields.size(), 3u);
  EXPECT_EQ(parsed->fields.find("a")->value, "b    c  \td");
  EXPECT_EQ(parsed->fields.find("b")->value, "");
  EXPECT_EQ(parsed->fields.find("c")->value, "e");
}

TEST(ResponseHead, LeavesOutSpaceBeforeAColonThatFramesNothing) {  // RFC 9112 5.1
  std::string head =
      "HTTP/1.1 200 OK\r\nETag : \"e\"\r\nX-A \t :b \r\nX-B\t:\r\nA: b\r\n c\r\nC : d\r\n\r\n";
  const auto parsed = parse_response(head);
  ASSERT_TRUE(parsed) << text(parsed.error());
  ASSERT_EQ(parsed->fields.size(), 5U);
  EXPECT_EQ(parsed->fields.value(field::etag), "\"e\"");
  EXPECT_EQ(parsed->fields.find("x-a")->value, "b");
  EXPECT_EQ(parsed->fields.find("x-b")->value, "");
  EXPECT_EQ(parsed->fields.find("c")->value, "d");
  for (const Field& line : parsed->fields) {
    EXPECT_EQ(line.name.find_first_of(" \t"), std::string_view::npos) << line.name;
    EXPECT_TRUE(line.name == "A" || line.line().empty()) << "it is written anew: " << line.name;
  }
}

TEST(ResponseHead, MayBeThatOfAStreamingServer) {
  std::string icy = "ICY 200 OK\r\nicy-name:Radio\r\nConnection: keep-alive\r\n\r\n";
  const auto head = parse_response(icy);
  ASSERT_TRUE(head) << text(head.error());
  EXPECT_TRUE(head->icy);
  EXPECT_EQ(head->status, 200U);
  EXPECT_EQ(head->reason, "OK");
  EXPECT_EQ(head->minor, 0);
  EXPECT_FALSE(head->keep_alive());
  std::string bare = "ICY 401\r\n\r\n";
  EXPECT_EQ(parse_response(bare)->status, 401U);
  std::string plain = "HTTP/1.1 200 OK\r\n\r\n";
  EXPECT_FALSE(parse_response(plain)->icy);
}

// The body that an interim head states may come after all.
TEST(ResponseHead, OfAnInterimAnswerWithABodyEndsTheReuseOfItsConnection) {
  const std::pair<const char*, bool> cases[] = {{"", true},
                                                {"Content-Length: 0\r\n", true},
                                                {"Content-Length: 5\r\n", false},
                                                {"Transfer-Encoding: chunked\r\n", false},
                                                {"Connection: close\r\n", false}};
  for (const auto& [fields, kept] : cases) {
    std::string head = std::string("HTTP/1.1 103 X\r\n") + fields + "\r\n";
    EXPECT_EQ(parse_response(head)->keep_alive(), kept) << fields;
  }
}

class RefusedResponse : public testing::TestWithParam<Refused> {};

TEST_P(RefusedResponse, SaysWhy) {
  std::string bytes = GetParam().head;
  const auto head = parse_response(bytes);
  ASSERT_FALSE(head);
  EXPECT_EQ(text(head.error()), text(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rfc9112, RefusedResponse,
    testing::Values(
        Refused{"s2_1_cut", "HTTP/1.1 200 OK\r\nA: b\r\n", HeadError::no_end},
        Refused{"s2_2_bare_lf", "HTTP/1.1 200 OK\nA: b\r\n\r\n", HeadError::bare_lf},
        Refused{"s2_2_bare_lf_fold", "HTTP/1.1 200 OK\r\nA: b\n c\r\n\r\n", HeadError::bare_lf},
        Refused{"s2_2_empty_line_first", "\r\nHTTP/1.1 200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s2_2_blank_before_first_field", "HTTP/1.1 200 OK\r\n A: b\r\n\r\n",
                HeadError::folded},
        Refused{"s4_icy_in_lower_case", "icy 200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_icy_with_a_version", "ICY/1.0 200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_icy_interim", "ICY 100 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_icy_two_spaces", "ICY  200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_icy_four_digits", "ICY 2000 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_icy_no_status", "ICY \r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_two_spaces", "HTTP/1.1  200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_tab", "HTTP/1.1\t200 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_two_digits", "HTTP/1.1 20 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_four_digits", "HTTP/1.1 2000 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_sign", "HTTP/1.1 +20 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_below_100", "HTTP/1.1 099 OK\r\n\r\n", HeadError::bad_status_line},
        Refused{"s4_reason_nul", "HTTP/1.1 200 O\0K\r\n\r\n"s, HeadError::bad_field_value},
        Refused{"s4_reason_cr", "HTTP/1.1 200 O\rK\r\n\r\n", HeadError::bare_cr},
        Refused{"s2_3_version", "HTTP/2.0 200 OK\r\n\r\n", HeadError::unsupported_version},
        Refused{"s2_3_form", "HTTPS1.1 200 OK\r\n\r\n", HeadError::bad_version},
        Refused{"s5_1_space_before_colon_of_length",
                "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\n", HeadError::space_before_colon},
        Refused{"s5_1_tab_before_colon_of_coding",
                "HTTP/1.1 200 OK\r\ntransfer-encoding\t: chunked\r\n\r\n",
                HeadError::space_before_colon},
        Refused{"s5_1_space_before_colon_of_connection",
                "HTTP/1.1 200 OK\r\nA : b\r\nConnection : close\r\n\r\n",
                HeadError::space_before_colon},
        Refused{"s5_1_space_before_colon_of_trailer", "HTTP/1.1 200 OK\r\nTrailer : a\r\n\r\n",
                HeadError::space_before_colon},
        Refused{"s5_1_space_within_name", "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
                HeadError::space_before_colon},
        Refused{"s5_1_space_and_no_colon", "HTTP/1.1 200 OK\r\nA \r\n\r\n",
                HeadError::space_before_colon},
        Refused{"s5_1_space_before_colon_and_nul", "HTTP/1.1 200 OK\r\nA : \0\r\n\r\n"s,
                HeadError::bad_field_value},
        Refused{"s5_1_space_before_colon_and_cr", "HTTP/1.1 200 OK\r\nA : b\rc\r\n\r\n",
                HeadError::bare_cr},
        Refused{"s5_2_fold_splits_name", "HTTP/1.1 200 OK\r\nA\r\n : b\r\n\r\n",
                HeadError::bad_field_name},
        Refused{"s5_2_fold_splits_name_after_a_fold",
                "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nB\r\n : d\r\n\r\n", HeadError::bad_field_name},
        Refused{"s5_5_nul", "HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"s, HeadError::bad_field_value}),
    [](const auto& tested) { return std::string(tested.param.name); });

// The head with its empty line, read by the parser that everything else uses.
bool is_read(std::string head) {
  head += "\r\n";
  return find_head_end(head) == head.size() && parse_response_head(head).has_value();
}

TEST(StoredHead, IsCheckedLikeEveryOther) {
  const std::string_view heads[] = {
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.0 404 Not Found\r\nETag: \"e\"\r\nX-Empty:\r\n",
      "HTTP/1.1 200\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n",
      "",
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200 OK\n",
      "HTTP/1.1 099 OK\r\n",
      "HTTP/2.0 200 OK\r\n",
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nETag: x\r\n",
      "HTTP/1.1 200 OK\r\nETag: x",
      "HTTP/1.1 200 OK\r\nETag: x\n",
      "HTTP/1.1 200 OK\r\nConnection : x\r\n",
      "HTTP/1.1 200 OK\r\nETag\r\n",
      "HTTP/1.1 200 OK\r\n: x\r\n",
      "HTTP/1.1 200 OK\r\nETag: a\rb\r\n",
      "HTTP/1.1 200 OK\r\nETag: a long one with \x7f in it\r\n",
  };
  for (const auto head : heads) {
    EXPECT_EQ(parse_stored_head(head).has_value(), is_read(std::string(head))) << head;
  }
  EXPECT_EQ(parse_stored_head("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n").error(), HeadError::folded);
  EXPECT_EQ(parse_stored_head("HTTP/1.1 200 OK\r\nA : b\r\n").error(),
            HeadError::space_before_colon);
}

TEST(StoredHead, TellsItsStatusAndItsFirstDate) {
  const auto head = parse_stored_head("HTTP/1.1 404 X\r\nA: b\r\ndate: c \r\nDate: d\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 404U);
  EXPECT_EQ(head->date, "c");
  EXPECT_EQ(parse_stored_head("HTTP/1.1 200 X\r\n")->date, "");
}

TEST(HeadErrors, NameTheSettingThatLimitsHeads) {
  for (const auto error : {HeadError::too_large, HeadError::too_many_fields}) {
    const std::string setting(setting_of(error));
    EXPECT_TRUE(setting.starts_with("limits.")) << text(error);
    EXPECT_NE(text(error).find(setting), std::string_view::npos) << text(error);
  }
  EXPECT_EQ(setting_of(HeadError::bare_lf), "");
}

TEST(HeadErrors, AreCodesAsWell) {
  for (const auto error : {HeadError::too_large, HeadError::trace_with_credentials}) {
    const auto code = make_error_code(error);
    EXPECT_TRUE(code.failed());
    EXPECT_EQ(code.message(), text(error));
    EXPECT_EQ(head_error_of(code), error);
  }
  EXPECT_FALSE(head_error_of({}));
}

TEST(HeadErrors, HaveTheirStatus) {
  EXPECT_EQ(status_of(HeadError::bare_lf), 400u);
  EXPECT_EQ(status_of(HeadError::target_too_long), 414u);
  EXPECT_EQ(status_of(HeadError::too_many_fields), 431u);
  EXPECT_EQ(status_of(HeadError::unsupported_coding), 501u);
  EXPECT_EQ(status_of(HeadError::unsupported_version), 505u);
}

TEST(RequestHead, RefusesAByteThatNoValueMayHaveWhereverItIs) {  // RFC 9110 5.5
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool is_good = c == '\t' || (byte >= 0x20 && byte != 0x7f);
    for (std::size_t at = 0; at < 19; ++at) {
      std::string value(19, 'v');
      value[at] = c;
      const auto head = parse_request_head(kGet + "A: " + value + "\r\n\r\n");
      EXPECT_EQ(head.has_value(), is_good) << byte << " at " << at;
    }
  }
}

}  // namespace
}  // namespace proxy::http
