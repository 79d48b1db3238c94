// More connections than the limits allow.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/scenario/limits/crowd_scene.hpp"

namespace scenario {
namespace {

json limits_of(std::size_t connections, std::size_t per_client) {
  return {{"connections", connections},
          {"connections_per_client", per_client},
          {"requests_per_client", per_client}};
}

int health(const ProxyProcess& proxy, Client& client) {
  client.send(origin_form_text(proxy.address(), "GET", "/health"));
  return client.read().status;
}

TEST(ConnectionLimits, IdleOnesMakeRoomForAnotherClientAndTheLogSaysSo) {
  CrowdScene scene(limits_of(8, 8));
  scene.gather(8);
  for (auto& client : scene.crowd) EXPECT_EQ(client->get(scene.url()).status, 200);
  Client other(scene.proxy.port(), kOther);
  EXPECT_EQ(other.get(scene.url()).status, 200);
  const auto line = scene.proxy.logged("error:idle-connection");
  EXPECT_EQ(line.client, "127.0.0.1");
  EXPECT_EQ(line.result, "NONE_NONE_CROWDED");
}

TEST(ConnectionLimits, WithAPartOfAHeadMakeRoomToo) {
  CrowdScene scene(limits_of(8, 8));
  scene.gather(8);
  for (auto& client : scene.crowd) client->send("GET " + scene.url() + " HTT");
  Client other(scene.proxy.port(), kOther);
  EXPECT_EQ(other.get(scene.url()).status, 200);
}

TEST(ConnectionLimits, OfOneClientAreHalfOfAllByDefault) {
  CrowdScene scene(json{{"connections", 8}});
  scene.gather_busy(4);
  Client fifth(scene.proxy.port());
  fifth.send(request_text("GET", scene.url()));
  EXPECT_EQ(fifth.read().status, 503) << "let in to the reserve for monitors";
  Client other(scene.proxy.port(), kOther);
  EXPECT_EQ(other.get(scene.url()).status, 200);
}

TEST(ConnectionLimits, AreRefusedUnansweredToThoseWhoDoNotWatchOverTheProxy) {
  CrowdScene scene(limits_of(4, 4), json{{"monitor", {"127.0.0.2"}}, {"admin", json::array()}});
  scene.gather_busy(4);
  Client fifth(scene.proxy.port());
  EXPECT_TRUE(fifth.is_closed());
  Client other(scene.proxy.port(), kOther);
  EXPECT_EQ(health(scene.proxy, other), 200);
}

TEST(ConnectionLimits, LeaveAMonitorOurOwnPagesEvenIfItsOwnClientHasTakenAll) {
  CrowdScene scene(limits_of(4, 4));
  scene.gather_busy(4);
  Client monitor(scene.proxy.port());
  EXPECT_EQ(health(scene.proxy, monitor), 200);
  EXPECT_TRUE(monitor.is_closed()) << "the place is for the next one";
  EXPECT_EQ(Client(scene.proxy.port()).get(scene.url()).status, 503);
}

TEST(ConnectionLimits, LeaveAPlaceForAClientThatHasFew) {
  CrowdScene scene(limits_of(4, 4));
  scene.gather_busy(4);
  EXPECT_EQ(Client(scene.proxy.port(), kOther).get(scene.url()).status, 200);
}

TEST(ConnectionLimits, LetAMonitorPassACrowdThatSaysNothing) {
  CrowdScene scene(limits_of(4, 4));
  scene.gather_busy(4);
  scene.gather(40);
  for (const std::uint8_t from : {kCrowd, kOther}) {
    Client monitor(scene.proxy.port(), from);
    EXPECT_EQ(health(scene.proxy, monitor), 200);
  }
}

TEST(ConnectionLimits, WithTooManyRequestsUnderWayGet429) {
  CrowdScene scene(json{{"requests_per_client", 3}});
  scene.gather_busy(3);
  Client fourth(scene.proxy.port());
  EXPECT_EQ(fourth.get(scene.url("/stored")).status, 429);
  EXPECT_EQ(fourth.get(scene.url(), {{"Cache-Control", "only-if-cached"}}).status, 504);
  Client other(scene.proxy.port(), kOther);
  EXPECT_EQ(other.get(scene.url("/stored")).status, 200);
  const Response hit = fourth.get(scene.url("/stored"));
  EXPECT_EQ(hit.status, 200) << "a hit takes nothing from others";
  EXPECT_TRUE(is_hit(hit));
  scene.gate.open();
  for (auto& client : scene.crowd) EXPECT_EQ(client->read().status, 200);
  EXPECT_TRUE(await([&] { return fourth.get(scene.url()).status == 200; }));
}

TEST(Descriptors, ThatRanOutComeBackFromIdleConnectionsAndTheLogSaysSo) {
  CrowdScene scene(json::object());
  Client before(scene.proxy.port(), kOther);
  EXPECT_EQ(before.get(scene.url()).status, 200);
  const rlimit few{64, 64};
  ASSERT_EQ(::prlimit(scene.proxy.process().pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  scene.gather(100);  // the kernel accepts those that the proxy cannot
  EXPECT_TRUE(await([&] {
    return contains(scene.proxy.process().errors(), "file descriptors of this process");
  }));
  EXPECT_TRUE(await([&] {  // the first attempts may find none left for themselves or the origin
    try {
      return Client(scene.proxy.port(), kOther).get(scene.url()).status == 200;
    } catch (const std::exception&) {
      return false;
    }
  }));
}

// A proxy that may have 96 descriptors from its start on.
struct FewDescriptors {
  FewDescriptors() {
    origin.otherwise([](const Request&) { return Reply().body("hello"); });
    origin.on("/waits", Reply().wait(gate).body("hello"));
    json settings = settings_for_tests(directory / "access.log");
    settings["listen"] = {"127.0.0.1:" + std::to_string(reserved.port())};
    write_file(directory / "settings.json", settings.dump());
    auto command = serve_command(directory / "settings.json");
    const std::vector<std::string> limited{"/bin/sh", "-c", "ulimit -n 96 && exec \"$@\"", "sh"};
    command.arguments.insert(command.arguments.begin(), limited.begin(), limited.end());
    proxy.emplace(command);
    EXPECT_TRUE(await([&] { return contains(proxy->output(), "listening on"); })) << errors();
  }
  ~FewDescriptors() { gate.open(); }

  std::string errors() { return proxy->errors(); }
  std::string health_request() const {
    return origin_form_text("127.0.0.1:" + std::to_string(reserved.port()), "GET", "/health");
  }

  std::ptrdiff_t open_descriptors() const {
    const std::filesystem::directory_iterator open("/proc/" + std::to_string(proxy->pid()) + "/fd");
    return std::distance(begin(open), end(open));
  }

  Gate gate;
  ScriptedOrigin origin;
  const TemporaryDirectory directory;
  const ReservedPort reserved;
  std::optional<ChildProcess> proxy;
};

TEST(Descriptors, ThatAreFewAreSaidInHealth) {
  FewDescriptors scene;
  Client client(scene.reserved.port());
  client.send(scene.health_request());
  const auto page = json::parse(client.read("GET").body);
  EXPECT_EQ(page.at("status"), "degraded");
  EXPECT_EQ(page.at("reasons").at(0).at("what"), "descriptors") << page;
}

TEST(Descriptors, AreKeptForOriginsAndOwnPages) {
  FewDescriptors scene;
  EXPECT_TRUE(contains(scene.errors(), "enough for 42 client connections")) << scene.errors();
  std::vector<std::unique_ptr<Client>> crowd;
  const auto slow =
      request_text("POST", scene.origin.url("/slow"), {{"Content-Length", "2"}}) + 'x';
  for (int i = 0; i < 150; ++i) {
    crowd.push_back(std::make_unique<Client>(scene.reserved.port()));
    crowd.back()->send(slow);  // those that are let in hold a connection to the origin, too
  }
  for (int i = 0; i < 10; ++i) {
    Client other(scene.reserved.port(), kOther);
    EXPECT_EQ(other.get(scene.origin.url("/" + std::to_string(i))).status, 200);
    other.send(scene.health_request());
    EXPECT_EQ(other.read().status, 200);
  }
  EXPECT_TRUE(contains(scene.errors(), "file descriptors of this process")) << scene.errors();
  EXPECT_FALSE(contains(scene.errors(), "reached limits.connections")) << "which would not help";
}

// The crowds' connections and those to the origin would take all 96.
TEST(Descriptors, OfRequestsThatWaitForAnOriginLeaveSomeForOwnPages) {
  FewDescriptors scene;
  std::vector<std::unique_ptr<Client>> crowd;
  for (int i = 0; i < 42; ++i) {
    const std::uint8_t from = i % 2 == 0 ? kCrowd : kOther;
    crowd.push_back(std::make_unique<Client>(scene.reserved.port(), from));
    crowd.back()->send(request_text("POST", scene.origin.url("/waits"), {}, "x"));
  }
  EXPECT_TRUE(await([&] { return contains(scene.errors(), "file descriptors of this process"); }));
  await_halt([&] { return scene.origin.count("/waits"); });
  EXPECT_GT(scene.origin.count("/waits"), 10U);
  EXPECT_LE(scene.open_descriptors(), 96 - 96 / 16) << "half of the last eighth";
  for (int i = 0; i < 10; ++i) {
    Client monitor(scene.reserved.port());
    monitor.send(scene.health_request());
    EXPECT_EQ(monitor.read().status, 200);
  }
}

}  // namespace
}  // namespace scenario
