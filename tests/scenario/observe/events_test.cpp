// What the program says of itself on stderr.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The lines that were said, but for warnings about this machine's limits.
std::vector<std::string> said_by(ProxyProcess& proxy) {
  auto lines = lines_of(proxy.process().errors());
  std::erase_if(lines, [](const auto& line) { return contains(line, "file descriptors are"); });
  return lines;
}

TEST(Events, OfTheStartAreFiveLines) {
  const TemporaryDirectory home;
  const auto disk = (home / "cache").string();
  const ScriptedOrigin peer;
  json settings = with_peer("b", peer.port(), {{"name", "cache-a"}, {"sandbox", false}});
  settings["cache"]["disk"] = {{"path", disk}, {"size", "100MiB"}};
  settings["limits"]["connections"] = 100;  // so few need no warning of the descriptors
  ProxyProcess proxy(settings);
  auto lines = lines_of(proxy.process().errors());
  // The peer serves no digest, which may be found out already.
  std::erase_if(lines, [](const auto& line) { return contains(line, "peer b is down"); });
  ASSERT_EQ(lines.size(), 5U) << proxy.process().errors();
  EXPECT_TRUE(contains(lines[0], "Hearsay/")) << lines[0];
  EXPECT_TRUE(contains(lines[0], "named cache-a")) << lines[0];
  EXPECT_TRUE(contains(lines[1], "listens on " + proxy.address())) << lines[1];
  EXPECT_TRUE(contains(lines[2], "0 on disk, ")) << lines[2];
  EXPECT_TRUE(contains(lines[2], disk)) << lines[2];
  EXPECT_TRUE(contains(lines[3], "knows 1 sibling: b")) << lines[3];
  EXPECT_TRUE(contains(lines[4], "limits: ") && contains(lines[4], "sandbox: off")) << lines[4];
  EXPECT_EQ(proxy.process().output(), "listening on " + proxy.address() + "\n");
}

TEST(Events, AreObjectsWhereTheSettingsAskForThem) {
  ProxyProcess proxy(json{{"log", {{"events", "json"}}}});
  proxy.terminate();
  const auto lines = lines_of(proxy.process().errors());
  ASSERT_GE(lines.size(), 6U);
  for (const auto& text : lines) {
    const json line = json::parse(text);
    EXPECT_TRUE(line.at("time").get<std::string>().ends_with("Z")) << text;
    EXPECT_TRUE(line.contains("level") && line.contains("text")) << text;
  }
  EXPECT_EQ(json::parse(lines.back()).at("text"), "stopped");
}

TEST(Events, TellOfAPeerOnceThatItIsDownAndOnceThatItIsBack) {
  auto peer = std::make_unique<ProxyProcess>();
  const auto port = peer->port();
  ProxyProcess proxy(with_peer("b", port));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  peer->process().signal(SIGKILL);
  peer->process().wait();
  const auto times = [&](std::string_view text) {
    const auto lines = said_by(proxy);
    return std::count_if(lines.begin(), lines.end(),
                         [&](const auto& line) { return contains(line, text); });
  };
  EXPECT_TRUE(await([&] { return times("peer b is down") == 1; }, std::chrono::seconds(5)));
  peer.reset();
  peer = std::make_unique<ProxyProcess>(json{{"listen", {"127.0.0.1:" + std::to_string(port)}}});
  EXPECT_TRUE(await([&] { return times("peer b is back") == 1; }));
  EXPECT_EQ(times("peer b is down"), 1);
}

TEST(Events, TellWhichFolderOfTheDiskCannotBeMade) {
  const TemporaryDirectory home;
  write_file(home / "file", "");
  ProxyProcess proxy(json{
      {"cache", {{"disk", {{"path", (home / "file/x/cache").string()}, {"size", "100MiB"}}}}}});
  const std::string said = proxy.process().errors();
  EXPECT_TRUE(contains(said, "cannot be created: Not a directory")) << said;
}

TEST(Disk, MakesTheFoldersAboveIt) {
  const TemporaryDirectory home;
  Scene scene(
      json{{"cache", {{"disk", {{"path", (home / "x/y/cache").string()}, {"size", "100MiB"}}}}}});
  EXPECT_EQ(json::parse(scene.proxy.page("/health").body).at("status"), "ok");
  EXPECT_TRUE(std::filesystem::is_directory(home.path() / "x/y/cache"));
}

}  // namespace
}  // namespace scenario
