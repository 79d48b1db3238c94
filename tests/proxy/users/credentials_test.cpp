#include "proxy/users/credentials.hpp"

#include <gtest/gtest.h>

#include "digest/base64.hpp"

namespace proxy::users {
namespace {

std::string basic(std::string_view text) {
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return "Basic " + digest::to_base64(bytes);
}

TEST(BasicCredentials, AreANameAndAPassword) {
  const auto example = parse_basic("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");  // RFC 7617 2
  ASSERT_TRUE(example);
  EXPECT_EQ(example->name, "Aladdin");
  EXPECT_EQ(example->password, "open sesame");
  const std::pair<std::string, std::string> cases[] = {
      {"anna:", ""}, {"anna:a:b", "a:b"}, {"anna:p\xc3\xa4ss", "p\xc3\xa4ss"}};
  for (const auto& [text, password] : cases) {
    const auto read = parse_basic(basic(text));
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->name, "anna");
    EXPECT_EQ(read->password, password);
  }
  EXPECT_TRUE(parse_basic("bASIC   " + basic("a:b").substr(6)));
}

TEST(BasicCredentials, AreRefusedUnlessTheyAreWellFormed) {
  const std::string cases[] = {"",
                               "Basic",
                               "Basic ",
                               "Basic =",
                               "Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
                               "BasicQWxhZGRpbjpvcGVuIHNlc2FtZQ==",
                               "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ",
                               "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ== x",
                               "Basic QWxhZGRpbjpvcGVuIHNlc2FtZR==",
                               basic("anna"),
                               basic(":secret"),
                               basic(std::string_view("anna:a\0b", 8)),
                               basic("anna:a\x7f"),
                               basic("an\nna:b"),
                               basic("a:" + std::string(1024, 'b'))};
  for (const auto& value : cases) EXPECT_FALSE(parse_basic(value)) << value;
}

TEST(BasicChallenge, NamesTheRealmAndTheCharset) {
  EXPECT_EQ(basic_challenge("the lab"), "Basic realm=\"the lab\", charset=\"UTF-8\"");
}

}  // namespace
}  // namespace proxy::users
