#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string in_config(const std::string& name) {
  return CONFIG_FOLDER + name;
}

// hearsay.json claims to list the defaults.
TEST(Examples, TheDocumentedFileSaysWhatHoldsWithoutIt) {
  const auto settings = load_file(in_config("hearsay.json"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(*settings, Settings{});
}

TEST(Examples, TheTwoNeighboursNameEachOther) {
  const auto a = load_file(in_config("two-neighbours/a.json"));
  const auto b = load_file(in_config("two-neighbours/b.json"));
  ASSERT_TRUE(a.has_value() && b.has_value());
  for (const auto& [one, other] : {std::pair(*a, *b), std::pair(*b, *a)}) {
    ASSERT_EQ(one.peers.size(), 1u);
    EXPECT_EQ(one.peers[0].name, other.name);
    EXPECT_EQ((HostPort{one.peers[0].host, one.peers[0].port}), other.listen.at(0));
  }
}

TEST(LoadFile, NamesTheFileThatCannotBeRead) {
  for (const std::string& path : {in_config("absent.json"), in_config("")}) {
    const auto settings = load_file(path);
    ASSERT_TRUE(settings.has_error());
    EXPECT_EQ(settings.error().at(0).where, path);
    EXPECT_NE(settings.error().at(0).what.find("cannot be read: "), std::string::npos);
  }
}

}  // namespace
}  // namespace config
