#include "config/client_setups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace config {
namespace {

const ClientSetup& named(std::string_view name) {
  const auto all = client_setups();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const ClientSetup& setup) { return setup.name == name; });
  if (found == all.end()) throw std::runtime_error("no such file");
  return *found;
}

TEST(ClientSetups, AreTheFilesOfTheFolder) {
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(CONFIG_FOLDER "clients")) {
    std::ifstream in(file.path());
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(setup_file(named(file.path().filename().string()), {"cache.example", 3128}), content);
    ++files;
  }
  EXPECT_EQ(client_setups().size(), files);
}

TEST(ClientSetups, NameTheProxyAsTheReaderReachesIt) {
  const auto& proxy = named("environment");
  EXPECT_EQ(setup_text(proxy, {"a.lan", 80}),
            "export http_proxy=http://a.lan:80 https_proxy=http://a.lan:80\n"
            "export no_proxy=localhost,127.0.0.1,a.lan\n");
  EXPECT_EQ(setup_text(proxy, {"::1", 3128}),
            "export http_proxy=http://[::1]:3128 https_proxy=http://[::1]:3128\n"
            "export no_proxy=localhost,127.0.0.1,::1\n");
  EXPECT_EQ(setup_text(named("apt-proxy"), {"cache.example.com", 80}),
            "Acquire::http::Proxy \"http://cache.example.com:80\";\n");
}

TEST(ClientSetups, EachNamesTheProxy) {
  for (const auto& setup : client_setups()) {
    EXPECT_NE(setup_text(setup, {"a.lan", 99}).find("a.lan:99"), std::string::npos) << setup.name;
    EXPECT_EQ(setup_text(setup, {"a.lan", 99}).find("cache.example"), std::string::npos);
  }
}

}  // namespace
}  // namespace config
