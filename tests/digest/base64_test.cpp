#include "digest/base64.hpp"

#include <gtest/gtest.h>

namespace digest {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

// RFC 4648 section 10.
TEST(Base64, GivesThePublishedTexts) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, text] : cases) {
    EXPECT_EQ(to_base64(bytes_of(plain)), text);
    EXPECT_EQ(from_base64(text), bytes_of(plain));
  }
}

TEST(Base64, ComesBackFromEveryByte) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 256; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(255 - i));
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatItDoesNotMake) {
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "====", "Z===",
                                      "=Zg=", "Zm9v\n", "Zm9-", "Zm9_", "Zm 9", "Zm9\x80"}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace digest
