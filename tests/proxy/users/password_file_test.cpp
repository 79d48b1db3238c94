#include "proxy/users/password_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

namespace proxy::users {
namespace {

const std::string kHash = "$2y$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa";

TEST(PasswordFile, HasAUserOnEachLine) {
  const auto file =
      PasswordFile::parse("# staff\r\nanna:" + kHash + "\r\n\nbob smith:" + kHash + ":Bob", "f");
  ASSERT_TRUE(file.has_value());
  for (const char* name : {"anna", "bob smith"}) {
    ASSERT_TRUE(file->hash_of(name)) << name;
    EXPECT_EQ(*file->hash_of(name), kHash);
  }
  for (const char* name : {"", "Anna", "bob", "# staff"}) EXPECT_FALSE(file->hash_of(name)) << name;
  EXPECT_EQ(file->hash_by_cost().size(), 1U);
}

TEST(PasswordFile, IsRefusedWithEachLineThatIsWrong) {
  const auto file = PasswordFile::parse(
      "anna:" + kHash + "\nanna:" + kHash + "\nbob\n:" + kHash + "\ncarl:secret-1\n", "f");
  ASSERT_TRUE(file.has_error());
  const config::SettingsErrors errors = file.error();
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_EQ(errors[0].where, "f, line 2");
  EXPECT_NE(errors[0].what.find("listed twice"), std::string::npos);
  EXPECT_EQ(errors[1].where, "f, line 3");
  EXPECT_NE(errors[1].what.find("NAME:HASH"), std::string::npos);
  EXPECT_EQ(errors[2].where, "f, line 4");
  EXPECT_EQ(errors[3].where, "f, line 5");
  EXPECT_NE(errors[3].what.find("\"carl\" is a plain password"), std::string::npos)
      << errors[3].what;
  EXPECT_EQ(errors[3].what.find("secret-1"), std::string::npos);
}

TEST(PasswordFile, IsRefusedIfItIsMissingOrNamesNobody) {
  const support::TemporaryDirectory directory;
  support::write_file(directory / "empty", "\n# nobody\n");
  const std::pair<std::string, std::string> cases[] = {
      {(directory / "empty").string(), "names no user"},
      {(directory / "absent").string(), "cannot be read: "},
      {(directory / ".").string(), "no regular file"}};
  for (const auto& [path, words] : cases) {
    const auto file = PasswordFile::read(path);
    ASSERT_TRUE(file.has_error()) << path;
    const config::SettingsErrors errors = file.error();
    EXPECT_EQ(errors.at(0).where, path + " (setting access.users)");
    EXPECT_NE(errors.at(0).what.find(words), std::string::npos) << errors.at(0).what;
  }
}

}  // namespace
}  // namespace proxy::users
