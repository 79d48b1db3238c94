#include "proxy/http/sixteen_bytes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

TEST(FindFirst, FindsTheFirstOfSeveralAtEachPlaceOfTextsOfEachLength) {
  const auto is_colon = [](SixteenBytes bytes) { return bytes == ':'; };
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string none(size, '\xff');
    EXPECT_EQ(find_first(none, is_colon), size);
    for (std::size_t at = 0; at < size; ++at) {
      auto text = none;
      text[at] = text.back() = ':';
      EXPECT_EQ(find_first(text, is_colon), at) << size;
    }
  }
}

TEST(FindFirst, FindsNothingAfterTheEnd) {
  const auto is_zero = [](SixteenBytes bytes) { return bytes == 0; };
  const std::string text = "0123456789abcdef01234:";
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(find_first(std::string_view(text).substr(0, size), is_zero), size);
  }
}

}  // namespace
}  // namespace proxy::http
