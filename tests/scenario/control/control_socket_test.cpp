// The control socket: whom it lets in, and to what.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/scenario/control/steered.hpp"

namespace scenario {
namespace {

TEST(ControlSocket, IsForOwnerAndGroupAndIsRemovedAtTheEnd) {
  Steered scene;
  struct stat status {};
  ASSERT_EQ(::lstat(scene.socket().c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777U, 0660U);
  EXPECT_EQ(scene.proxy.terminate(), 0);
  EXPECT_NE(::lstat(scene.socket().c_str(), &status), 0);
}

TEST(ControlSocket, ReplacesThatOfADeadProxyButNotThatOfALivingOne) {
  const TemporaryDirectory directory;
  const auto settings = with_control(directory / "control.sock");
  {
    ProxyProcess killed(settings);
    killed.process().signal(SIGKILL);
    killed.process().wait(kPatience);
  }
  const ProxyProcess living(settings);
  EXPECT_EQ(hearsay({"status", "--socket", (directory / "control.sock").string()}).exit_code, 0);
  try {
    const ProxyProcess second(settings);
    FAIL() << "two proxies have one control socket";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(contains(error.what(), "another proxy listens there")) << error.what();
  }
  EXPECT_EQ(hearsay({"status", "--socket", (directory / "control.sock").string()}).exit_code, 0);
}

TEST(ControlSocket, NeverRemovesAFileThatIsNoSocket) {
  const TemporaryDirectory directory;
  write_file(directory / "precious", "text");
  EXPECT_THROW(ProxyProcess(with_control(directory / "precious")), std::runtime_error);
  EXPECT_EQ(read_file(directory / "precious"), "text");
}

TEST(ControlSocket, GivesAdminsRightsWhateverTheAddressesMay) {
  const json nobody{
      {"admin", json::array()}, {"monitor", json::array()}, {"clients", {"loopback"}}};
  const Steered scene(json{{"access", nobody}});
  EXPECT_EQ(scene.proxy.page("/health").status, 403);
  EXPECT_EQ(scene.steer("status").exit_code, 0);
  EXPECT_EQ(scene.steer("reload").exit_code, 0);
}

TEST(ControlSocket, ForwardsNothing) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return Reply().body("hello"); });
  const Steered scene;
  const auto ask = [&](const std::string& url) {
    return run_to_end(
        {.arguments = {"/usr/bin/curl", "-s", "-o", "-", "-w", "%{http_code}", "--unix-socket",
                       scene.socket().string(), "--request-target", url, "http://localhost/"}});
  };
  EXPECT_TRUE(contains(ask(origin.url("/a")).output, "404")) << ask(origin.url("/a")).output;
  EXPECT_EQ(origin.count("/a"), 0U);
}

TEST(ControlSocket, LetsTheOperatorInWhenAllIsFull) {
  const Steered scene(json{{"limits", {{"connections", 2}}}});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(std::make_unique<Client>(scene.proxy.port()));
  EXPECT_EQ(scene.steer("status").exit_code, 0);
}

TEST(ControlSocket, AnswersWhileTheProxyDrains) {
  ScriptedOrigin origin;
  Gate gate;
  origin.on("/slow", Reply().sized(11).send("hello ").wait(gate).send("world"));
  Steered scene;
  Client client(scene.proxy.port());
  client.send(request_text("GET", origin.url("/slow")));
  Response response = client.read_head();
  scene.proxy.process().signal(SIGTERM);
  EXPECT_TRUE(await([&] { return contains(scene.steer("status").output, ": draining\n"); }));
  EXPECT_EQ(scene.steer("status", {"--strict"}).exit_code, 1);
  EXPECT_EQ(scene.steer("reload").exit_code, 1);
  gate.open();
  client.read_rest(response);
  EXPECT_EQ(response.body, "hello world");
}

}  // namespace
}  // namespace scenario
