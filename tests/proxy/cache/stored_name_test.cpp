#include "proxy/cache/stored_name.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

struct Case {
  const char* text;  // as keys, digests and disks in use have it
  StoredName name;
};
constexpr Case kCases[] = {
    {"http://a.test/x", {Space::web, "http://a.test/x"}},
    {"reverse:http://a.test/x", {Space::gateway, "http://a.test/x"}},
    {"reverse:/x", {Space::gateway, "/x"}},
    {"reverse", {Space::web, "reverse"}},
    {"", {Space::web, ""}},
    {"reverse:", {Space::gateway, ""}},
    {"reverse:reverse:x", {Space::gateway, "reverse:x"}},
    {"content:sha256:00", {Space::content, "sha256:00"}},
    {"reverse:content:x", {Space::gateway, "content:x"}},
};

TEST(StoredName, IsOneTextInKeysAndOnDisk) {
  for (const auto& [text, name] : kCases) {
    EXPECT_EQ(name.encode(), text);
    EXPECT_EQ(StoredName::decode(text), name) << text;
  }
}

}  // namespace
}  // namespace proxy::cache
