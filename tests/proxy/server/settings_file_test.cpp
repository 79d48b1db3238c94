#include "proxy/server/settings_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

namespace proxy::server {
namespace {

std::string peers_left(const std::string& listen, const std::string& peers) {
  const support::TemporaryDirectory folder;
  support::write_file(folder / "a.json", "{\"listen\":" + listen + ",\"peers\":" + peers + "}");
  const auto settings = SettingsFile(folder / "a.json").read_settings();
  if (!settings) return settings.error().at(0).what;
  std::string left;
  for (const auto& peer : settings->peers) left += std::to_string(peer.place) + peer.host + ' ';
  return left;
}

TEST(SettingsFile, LeavesOutTheNeighbourThatIsThisProxyByItsAddress) {
  const std::string site = R"([{"url":"http://127.0.0.1:3128"},{"url":"http://localhost:3128"},
      {"url":"http://[::1]:3128"},{"url":"http://192.0.2.1:3128"},{"url":"http://127.0.0.1:81"}])";
  const std::string others = "3192.0.2.1 4127.0.0.1 ";
  EXPECT_EQ(peers_left(R"(["0.0.0.0:3128"])", site), others) << "each address of this machine";
  EXPECT_EQ(peers_left(R"(["[::]:3128"])", site), others);
  EXPECT_EQ(peers_left(R"(["127.0.0.1:3128"])", site), "2::1 " + others);
  EXPECT_EQ(peers_left(R"(["192.0.2.1:3128"])", site), "0127.0.0.1 1localhost 2::1 4127.0.0.1 ");
}

}  // namespace
}  // namespace proxy::server
