#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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
    EXPECT_EQ(one.peers[0].name, other.process.name);
    EXPECT_EQ((HostPort{one.peers[0].host, one.peers[0].port}), other.process.listen.at(0));
  }
}

// Every user of a machine can use its loopback.
TEST(Examples, ThePackagedSettingsMakeNoAddressAnAdministrator) {
  for (const auto* name : {"package/hearsay.json", "package/container.json"}) {
    const auto settings = load_file(in_config(name));
    ASSERT_TRUE(settings.has_value()) << name;
    EXPECT_TRUE(settings->access.admin.empty()) << name;
    EXPECT_EQ(settings->access.monitor, Settings{}.access.monitor) << name;
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

// To open a pipe would wait for a writer.
TEST(LoadFile, RefusesAPipe) {
  const auto pipe = testing::TempDir() + "pipe-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto settings = load_file(pipe);
  ::unlink(pipe.c_str());
  ASSERT_TRUE(settings.has_error());
  EXPECT_EQ(settings.error().at(0), (SettingsError{pipe, "is no regular file"}));
}

}  // namespace
}  // namespace config
