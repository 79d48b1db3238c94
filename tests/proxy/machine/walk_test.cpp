#include "proxy/machine/places.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "tests/support/temporary_directory.hpp"

namespace proxy::machine {
namespace {

using support::TemporaryDirectory;
using support::write_file;

constexpr uid_t kThird = 1;

// Where `home` may be entered by all, and changed by root alone.
struct RootsWalk : testing::Test {
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root walks";
    account = account_of("nobody");
    ASSERT_TRUE(account);
    ASSERT_EQ(::chmod(home.path().c_str(), 0755), 0);
  }

  std::filesystem::path folder(const char* name, uid_t owner, mode_t mode = 0755) const {
    const auto path = home / name;
    std::filesystem::create_directories(path);
    EXPECT_EQ(::chown(path.c_str(), owner, 0), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  void link(const std::string& target, const char* name, uid_t owner) const {
    std::filesystem::create_symlink(target, home / name);
    EXPECT_EQ(::lchown((home / name).c_str(), owner, 0), 0);
  }
  uid_t owner_of(const char* name) const {
    struct stat status {};
    EXPECT_EQ(::lstat((home / name).c_str(), &status), 0) << name;
    return status.st_uid;
  }
  // Whether the way to `path` ends as root, with root's rights, in that very folder.
  bool ends_as_root(const char* path, const char* there) const {
    const Walk walk(home / path, *account, Missing::leave);
    struct stat reached {};
    struct stat named {};
    EXPECT_EQ(::fstat(walk.folder(), &reached), 0);
    EXPECT_EQ(::stat((home / there).c_str(), &named), 0);
    EXPECT_EQ(reached.st_ino, named.st_ino) << path;
    EXPECT_EQ(::geteuid(), walk.is_roots() ? 0 : account->user);
    return walk.is_roots();
  }
  std::string why_refused(const char* path) const {
    try {
      const Walk walk(home / path, *account, Missing::make);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  }

  TemporaryDirectory home;
  std::optional<Account> account;
};

TEST_F(RootsWalk, MakesTheLastFolderForTheAccountAndThoseAboveForRoot) {
  {
    const Walk walk(home / "a/b/c", *account, Missing::make);
    EXPECT_FALSE(walk.is_roots());
  }
  EXPECT_EQ(::geteuid(), 0U);
  EXPECT_EQ(owner_of("a"), 0U);
  EXPECT_EQ(owner_of("a/b"), 0U);
  EXPECT_EQ(owner_of("a/b/c"), account->user);
  const Walk nothing(home / "x/y", *account, Missing::leave);
  EXPECT_EQ(nothing.folder(), -1);
  EXPECT_FALSE(std::filesystem::exists(home / "x"));
}

TEST_F(RootsWalk, FollowsRootsLinksThatOnlyRootCouldHavePut) {
  folder("srv/cache", 0);
  link(home / "srv", "absolute", 0);
  link("srv/cache", "relative", 0);
  EXPECT_TRUE(ends_as_root("absolute/cache", "srv/cache"));
  EXPECT_TRUE(ends_as_root("relative", "srv/cache"));
  EXPECT_TRUE(ends_as_root("srv/../relative/.", "srv/cache"));
}

// Of the account, of a group, or of everybody: who may change a folder may put a link into it.
TEST_F(RootsWalk, GivesUpRootsRightsWhereOthersMayChangeTheWay) {
  folder("precious", 0);
  folder("theirs", account->user);
  folder("of-a-group", 0, 0775);
  folder("sticky", 0, 01777);
  folder("of-a-group/inner", 0);
  folder("sticky/roots", 0);
  for (const char* const at : {"theirs/link", "of-a-group/link", "sticky/link"}) {
    link(home / "precious", at, 0);
    EXPECT_FALSE(ends_as_root(at, "precious")) << at;
  }
  link(home / "precious", "theirs/own-link", account->user);
  EXPECT_FALSE(ends_as_root("theirs/own-link", "precious"));
  EXPECT_FALSE(ends_as_root("of-a-group/inner", "of-a-group/inner"));
  EXPECT_FALSE(ends_as_root("sticky", "sticky"));
  EXPECT_TRUE(ends_as_root("sticky/roots", "sticky/roots")) << "nobody else could have put it";
  EXPECT_EQ(::geteuid(), 0U);
}

TEST_F(RootsWalk, MakesNothingWithRootsRightsWhereOthersMayChangeIt) {
  folder("roots", 0);
  folder("theirs", account->user);
  link(home / "roots", "theirs/link", account->user);
  const auto why = why_refused("theirs/link/made");
  EXPECT_NE(why.find("user nobody cannot make"), why.npos) << why;
  EXPECT_NE(why.find("install -d -m 0700 -o nobody"), why.npos) << why;
  EXPECT_FALSE(std::filesystem::exists(home / "roots/made"));
  EXPECT_EQ(why_refused("theirs/made"), "");
  EXPECT_EQ(owner_of("theirs/made"), account->user);
}

TEST_F(RootsWalk, RefusesWhatAThirdUserMayChange) {
  folder("of-third/inner", 0);
  folder("of-third", kThird);
  folder("of-all/inner", 0);
  folder("of-all", 0, 0777);
  folder("theirs-for-all", account->user, 0777);
  link("of-all", "link-of-third", kThird);
  link("loop", "loop", 0);
  write_file(home / "file", "");
  struct Case {
    const char* path;
    const char* says;
  };
  for (const Case& c :
       {Case{"of-third", "user daemon may change"},
        Case{"of-third/inner", "user daemon may change"}, Case{"of-all", "every user may change"},
        Case{"of-all/inner", "every user may change"},
        Case{"theirs-for-all", "every user may change"},
        Case{"link-of-third", "user daemon may change"}, Case{"loop", "Too many levels"},
        Case{"file", "Not a directory"}}) {
    const auto why = why_refused(c.path);
    EXPECT_NE(why.find(c.says), why.npos) << c.path << ": " << why;
    EXPECT_NE(why.find(home.path()), why.npos) << why;
    EXPECT_EQ(::geteuid(), 0U);
  }
}

TEST_F(RootsWalk, LeavesTheRightsAsTheyWere) {
  const std::vector<gid_t> groups{0, 4};
  ASSERT_EQ(::setgroups(groups.size(), groups.data()), 0);
  {
    const Acting acting(*account);
    EXPECT_EQ(::geteuid(), account->user);
    EXPECT_EQ(::getegid(), account->group);
    std::vector<gid_t> now(16);
    now.resize(static_cast<std::size_t>(::getgroups(16, now.data())));
    EXPECT_EQ(std::count(now.begin(), now.end(), 4U), 0);
  }
  std::vector<gid_t> now(16);
  now.resize(static_cast<std::size_t>(::getgroups(16, now.data())));
  EXPECT_EQ(now, groups);
  EXPECT_EQ(::geteuid(), 0U);
  EXPECT_EQ(::getegid(), 0U);
}

}  // namespace
}  // namespace proxy::machine
