#include "proxy/machine/sandbox.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/temporary_directory.hpp"

namespace proxy::machine::sandbox {
namespace {

namespace fs = std::filesystem;

const char* const kSettingsFile = "/etc/hearsay/hearsay.json";

bool has(const std::vector<Grant>& grants, const Grant& wanted) {
  return std::find(grants.begin(), grants.end(), wanted) != grants.end();
}
bool names(const std::vector<Grant>& grants, const fs::path& path) {
  return std::any_of(grants.begin(), grants.end(),
                     [&](const Grant& grant) { return grant.path == path; });
}

std::vector<Grant> for_log(const std::string& path) {
  config::Settings settings;
  settings.log = {config::LogTarget::file, path, config::LogFormat::squid};
  return grants_for(settings, kSettingsFile);
}
std::vector<Grant> for_cache(const std::string& path) {
  config::Settings settings;
  settings.cache.disk = config::DiskSettings{.path = path, .size = config::mebibytes(64)};
  return grants_for(settings, kSettingsFile);
}

TEST(Grants, CoverTheFoldersOfWhatTheSettingsName) {
  config::Settings settings;
  settings.process.included = {"/srv/shared/peers.json"};
  settings.access.lists.block = {"/srv/lists/ads"};
  settings.access.lists.allow = {"/srv/exceptions/few"};
  settings.pages.folder = "/srv/pages/";
  settings.gateway.reverse.resize(1);
  settings.gateway.reverse[0].known = "/srv/site/urls";
  settings.gateway.mirrors.ca = {{"a.test", "/srv/authorities/a.pem"}};
  const auto grants = grants_for(settings, kSettingsFile);
  for (const char* folder : {"/etc/hearsay", "/srv/shared", "/srv/lists", "/srv/exceptions",
                             "/srv/site", "/srv/pages", "/srv/authorities"}) {
    EXPECT_TRUE(has(grants, {folder, Use::read})) << folder;
  }
  EXPECT_TRUE(names(for_log("/var/log/hearsay/access.log"), "/var/log/hearsay"));
  EXPECT_TRUE(has(for_cache("/var/cache/hearsay"), {"/var/cache", Use::store}));
  EXPECT_TRUE(has(for_cache("/var/cache/hearsay/"), {"/var/cache", Use::store}));
}

TEST(Grants, CoverTheNearestFolderOfALogWhoseFolderComesLate) {
  const support::TemporaryDirectory home;
  EXPECT_TRUE(has(for_log(home / "late/logs/access.log"), {home.path(), Use::append}));
  EXPECT_TRUE(has(for_cache(home / "late/cache"), {home.path(), Use::store}));
}

// The sandbox cannot grant it once it is there.
TEST(Grants, HaveTheMissingFolderMadeWhereOthersKeepFilesAbove) {
  for (const char* folder : {"/nowhere", "/tmp/hearsay-nowhere/logs", "/var/log/nowhere"}) {
    const auto grants = for_log(std::string(folder) + "/access.log");
    EXPECT_TRUE(has(grants, {folder, Use::append, Make::folder})) << folder;
    EXPECT_FALSE(names(grants, fs::path(folder).parent_path())) << folder;
  }
  EXPECT_TRUE(has(for_cache("/tmp/hearsay-nowhere/cache"),
                  {"/tmp/hearsay-nowhere", Use::store, Make::folder}));
}

TEST(Grants, LetTheControlSocketBeRemovedFromAFolderOfItsOwn) {
  config::Settings settings;
  settings.process.control = "/srv/hearsay/control.sock";
  EXPECT_TRUE(has(grants_for(settings, kSettingsFile), {"/srv/hearsay", Use::remove}));
  settings.process.control = "/tmp/control.sock";
  EXPECT_FALSE(names(grants_for(settings, kSettingsFile), "/tmp"));
  EXPECT_FALSE(names(grants_for(settings, kSettingsFile), "/tmp/control.sock"));
}

TEST(Grants, WriteNowhereWithoutALogFileAndADisk) {
  config::Settings settings;
  settings.process.control = "";
  for (const Grant& grant : grants_for(settings, kSettingsFile)) {
    EXPECT_EQ(grant.use, Use::read) << grant.path;
  }
}

TEST(Grants, CoverOnlyTheFileWhereOthersKeepFilesToo) {
  for (const char* log : {"/access.log", "/etc/access.log", "/home/eve/access.log",
                          "/tmp/access.log", "/root/access.log", "/dev/tty"}) {
    const auto grants = for_log(log);
    EXPECT_TRUE(has(grants, {log, Use::append, Make::file})) << log;
    EXPECT_FALSE(has(grants, {fs::path(log).parent_path(), Use::append})) << log;
  }
  EXPECT_TRUE(has(for_cache("/cache"), {"/cache", Use::store, Make::folder}));
  EXPECT_TRUE(has(grants_for({}, "/etc/hearsay.json"), {"/etc/hearsay.json", Use::read}));
  EXPECT_TRUE(names(for_log("/developer/access.log"), "/developer"));
}

TEST(Grants, FollowLinks) {
  const support::TemporaryDirectory home;
  fs::create_directory(home / "real");
  support::write_file(home / "real/access.log", "");
  fs::create_symlink(home / "real/access.log", home / "access.log");
  EXPECT_TRUE(has(for_log(home / "access.log"), {fs::canonical(home / "real"), Use::append}));
}

TEST(Grants, KeepTheSecretsOfEtcFromRoot) {
  const auto grants = grants_for({}, kSettingsFile);
  EXPECT_EQ(names(grants, "/etc"), ::geteuid() != 0);
  for (const char* path : {"/", "/etc/ssl", "/etc/shadow", "/etc/ssl/private", "/proc", "/home"}) {
    EXPECT_FALSE(names(grants, path)) << path;
  }
  EXPECT_TRUE(names(grants, "/etc/hosts"));
}

TEST(Grants, CoverTheCertificatesThatTheEnvironmentNames) {
  ::setenv("SSL_CERT_DIR", "/srv/certificates:/srv/more", 1);
  const auto grants = grants_for({}, kSettingsFile);
  ::unsetenv("SSL_CERT_DIR");
  EXPECT_TRUE(has(grants, {"/srv/certificates"}));
  EXPECT_TRUE(has(grants, {"/srv/more"}));
}

}  // namespace
}  // namespace proxy::machine::sandbox
