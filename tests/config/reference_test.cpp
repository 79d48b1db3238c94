#include "config/reference.hpp"

#include <gtest/gtest.h>

#include <set>

namespace config {
namespace {

std::vector<SettingText> all() {
  return read_reference(reference_text());
}

TEST(Reference, HasEachSettingWithItsValueAndItsMeaning) {
  std::set<std::string> paths;
  for (const SettingText& setting : all()) {
    EXPECT_TRUE(paths.insert(setting.path).second) << setting.path << " is there twice";
  }
  for (const char* path : {"name",
                           "listen",
                           "control",
                           "cache",
                           "cache.memory",
                           "cache.disk",
                           "cache.targeted",
                           "peers",
                           "never_direct",
                           "reverse",
                           "mirrors.hosts",
                           "forwarded",
                           "forward",
                           "rules",
                           "access.rules",
                           "access.users",
                           "access.block",
                           "log.events",
                           "timeouts.hand_over",
                           "limits.connections_per_client",
                           "limits.bandwidth_per_client"}) {
    EXPECT_TRUE(paths.contains(path)) << path;
  }
  EXPECT_FALSE(paths.contains("url")) << "is a part of peers";
}

TEST(Reference, ExplainsASettingOrASection) {
  EXPECT_EQ(describe_setting(all(), "threads"),
            "threads = 0\n    Threads that serve connections; 0 is one per core.\n");
  const auto memory = describe_setting(all(), "cache.memory");
  EXPECT_TRUE(memory.starts_with("cache.memory, such as \"256MiB\"\n    Memory for stored"))
      << memory;
  EXPECT_NE(describe_setting(all(), "cache").find("\ncache.offline = false\n"), std::string::npos);
  EXPECT_NE(describe_setting(all(), "peers").find("    { \"url\": "), std::string::npos);
  EXPECT_EQ(describe_setting(all(), "cach"), "");
  EXPECT_TRUE(describe_setting(all(), "").starts_with("include\nname\nlisten\n"));
}

TEST(Reference, IsAManualPage) {
  const auto page = settings_page(all(), "Hearsay/1.2");
  EXPECT_TRUE(page.starts_with(".TH HEARSAY.JSON 5 \"\" \"Hearsay/1.2\"\n"));
  EXPECT_NE(page.find(".TP\n.B cache.memory, such as \\(dq256MiB\\(dq\n"), std::string::npos);
  EXPECT_NE(page.find(".BR hearsay (1)\n"), std::string::npos);
}

}  // namespace
}  // namespace config
