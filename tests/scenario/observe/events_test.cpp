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
  for (const auto& text : lines_of(proxy.process().output())) {
    EXPECT_TRUE(json::accept(text)) << text;
  }
}

TEST(Events, AreObjectsWhereTheProxyDoesNotStart) {
  const TemporaryDirectory home;
  const support::Listener taken;
  write_file(home / "file", "");
  for (const json& fault :
       {json{{"listen", {"127.0.0.1:" + std::to_string(taken.port())}}},
        json{{"control", (home / "file").string()}},
        json{{"access", {{"block", {(home / "absent").string()}}}}}, json{{"listem", 1}}}) {
    json settings = settings_for_tests(home / "log");
    settings.merge_patch(json{{"log", {{"events", "json"}}}});
    settings.merge_patch(fault);
    write_file(home / "settings.json", settings.dump());
    const auto ended = run_to_end(serve_command(home / "settings.json"));
    EXPECT_NE(ended.exit_code, 0);
    ASSERT_FALSE(ended.errors.empty()) << fault;
    for (const auto& line : lines_of(ended.errors)) {
      EXPECT_TRUE(json::accept(line)) << line;
    }
  }
}

// A program reads each line of stdout.
TEST(Events, LeaveStdoutToAnAccessLogAsJson) {
  const TemporaryDirectory home;
  json settings = settings_for_tests(home / "log");
  settings["log"] = {{"access", "stdout"}, {"format", "json"}};
  write_file(home / "settings.json", settings.dump());
  ChildProcess proxy(serve_command(home / "settings.json"));
  EXPECT_TRUE(await([&] { return contains(proxy.errors(), "limits: "); }));
  proxy.signal(SIGTERM);
  EXPECT_EQ(proxy.wait(), 0);
  EXPECT_EQ(proxy.output(), "");
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
  for (const auto& [path, why] :
       {std::pair{(home / "file/x/cache").string(), "Not a directory"},
        std::pair{(home / "file/cache").string(), "Not a directory"},
        std::pair{std::string("/proc/cache"), "No such file or directory"}}) {
    ProxyProcess proxy(json{{"cache", {{"disk", {{"path", path}, {"size", "100MiB"}}}}}});
    const std::string said = proxy.process().errors();
    EXPECT_TRUE(contains(said, path + ": this folder cannot be created: " + why)) << said;
    EXPECT_TRUE(contains(proxy.page("/health").body, why)) << path;
  }
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
