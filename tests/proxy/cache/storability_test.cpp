#include "proxy/cache/storability.hpp"

#include <gtest/gtest.h>

#include <set>

namespace proxy::cache {
namespace {

TEST(Storability, HasAWordOfItsOwnForEachReason) {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < kStorabilities; ++i) {
    const auto word = text(static_cast<Storability>(i));
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
    words.insert(word);
  }
  EXPECT_EQ(words.size(), kStorabilities);
  EXPECT_EQ(static_cast<std::size_t>(Storability::outdated), kStorabilities - 1);
}

TEST(Storability, IsSpelledLikeTheDirectiveOrTheFieldThatIsTheReason) {
  EXPECT_EQ(text(Storability::site), "rule");
  EXPECT_EQ(text(Storability::no_store), "no-store");
  EXPECT_EQ(text(Storability::private_), "private");
  EXPECT_EQ(text(Storability::vary_star), "vary");
  EXPECT_EQ(text(Storability::set_cookie), "set-cookie");
  EXPECT_EQ(text(Storability::no_cache), "no-cache");
  EXPECT_EQ(text(Storability::max_age), "max-age");
  EXPECT_EQ(text(Storability::expired), "expired");
  EXPECT_EQ(text(Storability::too_large), "too-large");
}

}  // namespace
}  // namespace proxy::cache
