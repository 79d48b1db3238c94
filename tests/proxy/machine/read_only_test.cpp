#include "proxy/machine/folders.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_directory.hpp"

namespace proxy::machine {
namespace {

using support::TemporaryDirectory;

bool says(const WriteAdvice& advice, std::string_view text, bool needs_restart) {
  return advice.text.find(text) != std::string::npos && advice.needs_restart == needs_restart;
}

TEST(WriteAdvice, SaysToMakeAMissingFolderAndWhetherTheSandboxCanHaveIt) {
  const TemporaryDirectory home;
  EXPECT_TRUE(says(write_advice(home / "late", home / "late/log"), "make the folder", false));
  const auto shared = write_advice("/tmp/hearsay-nowhere", "/tmp/hearsay-nowhere/log");
  EXPECT_TRUE(says(shared,
                   "make the folder /tmp/hearsay-nowhere for the user of the proxy, then "
                   "restart the proxy",
                   true))
      << shared.text;
}

TEST(WriteAdvice, BlamesTheSandboxForWhatTheUserMayWrite) {
  const TemporaryDirectory home;
  const auto advice = [&](const char* file) { return write_advice(home.path(), home / file); };
  EXPECT_TRUE(says(advice("new"), "restart the proxy: its sandbox", true));
  support::write_file(home / "old", "");
  EXPECT_TRUE(says(advice("old"), "restart the proxy: its sandbox", true));
  if (::geteuid() == 0) return;  // root may write everything
  ::chmod((home / "old").c_str(), 0400);
  EXPECT_TRUE(says(advice("old"), "give the folder", false));
}

}  // namespace
}  // namespace proxy::machine
