#include "config/sections.hpp"

#include <gtest/gtest.h>

#include <string>

namespace config {
namespace {

TEST(PathGlob, HasABoundedNumberOfPlaces) {
  const std::string most(kMostPlaces - 1, 'a');
  EXPECT_TRUE(is_path_glob("*.deb"));
  EXPECT_TRUE(is_path_glob('/' + most + "***")) << "a star is no place";
  EXPECT_FALSE(is_path_glob('/' + most + 'a'));
  EXPECT_TRUE(is_path_glob('/' + most.substr(3) + "\xC3")) << "%C3 in a URL";
  EXPECT_FALSE(is_path_glob('/' + most.substr(2) + "\xC3"));
  EXPECT_FALSE(is_path_glob('/' + std::string(128, '*')));
}

TEST(PathGlob, BeginsLikeAPathOrWithAStar) {
  for (const char* text : {"", "a", "?.deb", ".deb"}) EXPECT_FALSE(is_path_glob(text)) << text;
}

}  // namespace
}  // namespace config
