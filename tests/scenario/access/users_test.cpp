// access.users: who asks, by Basic proxy authentication.
#include <gtest/gtest.h>

#include "digest/base64.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

// "secret", by bcrypt.
constexpr const char* kQuick = "$2y$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa";
constexpr const char* kAnna = "Basic YW5uYTpzZWNyZXQ=";
constexpr const char* kAnnaWrongly = "Basic YW5uYTpTZWNyZXQ=";
constexpr const char* kBob = "Basic Ym9iOnNlY3JldA==";

struct Users {
  Users() { write("anna", kQuick); }
  void write(const std::string& name, const std::string& hash) const {
    write_file(file(), name + ":" + hash + "\nbob:" + kQuick + "\n");
  }
  std::string file() const { return (directory / "htpasswd").string(); }
  json settings(const json& rules, json settings = json::object()) const {
    settings["access"]["rules"] = rules;
    settings["access"]["users"] = {{"file", file()}, {"realm", "the lab"}};
    return settings;
  }

  TemporaryDirectory directory;
};

json for_all_users() {
  return json::array({{{"name", "staff"}, {"action", "allow"}, {"users", {"*"}}}});
}

struct SignedIn : Users, Scene {
  explicit SignedIn(const json& rules = for_all_users(), const json& more = json::object())
      : Scene(Users::settings(rules, more)) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }
  Response get(const std::string& path, const std::string& credentials) {
    Fields fields;
    if (!credentials.empty()) fields.emplace_back("Proxy-Authorization", credentials);
    return client.get(origin.url(path), fields);
  }
};

TEST(UsersOfTheProxy, AreAskedForTheirPasswordAndServedOnTheSameConnection) {
  SignedIn scene;
  for (const char* given : {"", kAnnaWrongly, "Bearer x", "Basic ?"}) {
    const Response asked = scene.get("/a", given);
    EXPECT_EQ(asked.status, 407) << given;
    EXPECT_EQ(asked.field("Proxy-Authenticate"), "Basic realm=\"the lab\", charset=\"UTF-8\"");
    EXPECT_TRUE(contains(nearest_cache_status(asked), "detail=\"denied/staff\""));
  }
  EXPECT_EQ(scene.get("/a", kAnna).body, "hello");
  EXPECT_TRUE(is_hit(scene.get("/a", kBob))) << "what is stored is for all users";
  EXPECT_EQ(scene.get("/a", "").status, 407) << "stored or not";
}

TEST(UsersOfTheProxy, TellTheirPasswordToNobodyElse) {
  SignedIn scene;
  EXPECT_EQ(scene.get("/a", kAnna).status, 200);
  EXPECT_EQ(
      scene.client.request("POST", scene.origin.url("/b"), {{"Proxy-Authorization", kAnna}}, "x")
          .status,
      200);
  for (const char* path : {"/a", "/b"}) {
    const auto requests = scene.origin.requests(path);
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_FALSE(requests[0].has("Proxy-Authorization"));
  }
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/a")).user, "anna");
  const auto log = read_file(scene.proxy.access_log_path());
  EXPECT_FALSE(contains(log, "YW5uY")) << log;
  EXPECT_FALSE(contains(log, "secret")) << log;
}

// Or the stored response would hold the password, on disk too.
TEST(UsersOfTheProxy, AreNotToldApartByWhatIsStored) {
  SignedIn scene;
  const Fields fields{{"Cache-Control", "max-age=3600"}, {"Vary", "Proxy-Authorization"}};
  scene.origin.on("/vary", Reply(200, fields).body("hello"));
  EXPECT_EQ(scene.get("/vary", kAnna).status, 200);
  EXPECT_TRUE(is_hit(scene.get("/vary", kBob)));
  const Response shown = scene.proxy.page("/admin/cache/show?url=" + scene.origin.url("/vary"));
  EXPECT_TRUE(contains(shown.body, "/vary")) << shown.body;
  EXPECT_FALSE(contains(shown.body, "YW5uY")) << shown.body;
}

TEST(UsersOfTheProxy, HaveRulesOfTheirOwn) {
  SignedIn scene(json::array({{{"action", "allow"}, {"to", {"localhost"}}},
                              {{"name", "no-bob"}, {"action", "deny"}, {"users", {"bob"}}},
                              {{"action", "allow"}, {"users", {"*"}}}}));
  const auto open = "http://localhost:" + std::to_string(scene.origin.port()) + "/open";
  EXPECT_EQ(scene.client.get(open).status, 200) << "needs no user";
  EXPECT_EQ(scene.get("/a", "").status, 407);
  EXPECT_EQ(scene.get("/a", kAnna).status, 200);
  const Response denied = scene.get("/a", kBob);
  EXPECT_EQ(denied.status, 403);
  EXPECT_TRUE(contains(nearest_cache_status(denied), "detail=\"denied/no-bob\""));
}

TEST(UsersOfTheProxy, OpenTunnels) {
  SignedIn scene;
  const auto port = std::to_string(scene.origin.port());
  scene.proxy.reload(scene.settings(for_all_users(),
                                    json{{"access", {{"connect_ports", {scene.origin.port()}}}}}));
  const std::string line = "CONNECT 127.0.0.1:" + port + " HTTP/1.1\r\nHost: 127.0.0.1:" + port;
  scene.client.send(line + "\r\n\r\n");
  EXPECT_EQ(scene.client.read("CONNECT").status, 407);
  scene.client.send(line + "\r\nProxy-Authorization: " + kAnna + "\r\n\r\n");
  EXPECT_EQ(scene.client.read("CONNECT").status, 200);
  EXPECT_EQ(scene.client.request("GET", "/in-the-tunnel").body, "hello");
  scene.client.leave();
  EXPECT_EQ(scene.proxy.logged("127.0.0.1:" + port).user, "anna");
}

TEST(UsersOfTheProxy, MayGuessSoOftenAndNoMore) {
  SignedIn scene;
  const auto guess = [&](int number) {
    const std::string text = "anna:guess " + std::to_string(number);
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    return scene.get("/a", "Basic " + digest::to_base64(bytes));
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(guess(i).status, 407) << i;
  const Response refused = guess(10);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.field("Retry-After"), "6");
  EXPECT_EQ(guess(3).status, 407) << "is known, and costs nothing";
  Client other(scene.proxy.port(), 2);
  EXPECT_EQ(other.get(scene.origin.url("/a"), {{"Proxy-Authorization", kAnna}}).status, 200);
}

TEST(UsersOfTheProxy, FollowTheFileAtAReload) {
  SignedIn scene;
  EXPECT_EQ(scene.get("/a", kAnna).status, 200);
  scene.write("anna", "$2y$04$abcdefghijklmnopqrstuu0HtfOlPbTiymk5tcV.3TsFPDd3SYZqu");
  EXPECT_EQ(scene.get("/a", kAnna).status, 200);
  const auto settings = scene.settings(for_all_users());
  scene.proxy.reload(settings);
  EXPECT_EQ(scene.get("/a", kAnna).status, 407);
  scene.write("anna", "secret");
  scene.proxy.reload(settings);
  EXPECT_EQ(scene.get("/a", kBob).status, 200) << "those in force stay";
  const auto said = scene.proxy.process().errors();
  EXPECT_TRUE(contains(said, "line 1")) << said;
  EXPECT_TRUE(contains(said, "plain password")) << said;
}

TEST(UsersOfTheProxy, ThatCannotBeReadStopTheStart) {
  const TemporaryDirectory directory;
  const json settings{{"listen", {"127.0.0.1:0"}},
                      {"access", {{"users", {{"file", "/nowhere/htpasswd"}}}}}};
  write_file(directory / "settings.json", settings.dump());
  const Outcome outcome = run_to_end(serve_command(directory / "settings.json"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(contains(outcome.errors, "/nowhere/htpasswd (setting access.users): cannot be read"))
      << outcome.errors;
}

TEST(UsersOfTheProxy, KeepToTheContractOfSiblings) {
  SignedIn scene;
  const Response refused =
      scene.client.get(scene.origin.url("/a"), {{"Cache-Control", "only-if-cached"}});
  EXPECT_EQ(refused.status, 504);
  EXPECT_EQ(refused.field("Proxy-Authenticate"), "");
}

TEST(UsersOfTheProxy, AreNotAskedForAPasswordWhileTheProxyDrains) {
  SignedIn scene;
  Gate gate;
  scene.origin.on("/slow", Reply().sized(5).send("he").wait(gate).send("llo"));
  scene.client.send(
      request_text("GET", scene.origin.url("/slow"), {{"Proxy-Authorization", kAnna}}));
  Response response = scene.client.read_head();
  scene.proxy.process().signal(SIGTERM);
  const auto status_for_one_who_comes = [&] {
    try {
      return Client(scene.proxy.port()).get(scene.origin.url("/a")).status;
    } catch (const std::runtime_error&) {
      return 0;  // it came just before the drain
    }
  };
  EXPECT_TRUE(await([&] { return status_for_one_who_comes() == 503; }));
  gate.open();
  scene.client.read_rest(response);
}

// curl asks without credentials first where it may choose the scheme.
TEST(UsersOfTheProxy, AreServedByCurl) {
  SignedIn scene;
  const auto fetch = [&](const std::string& user) {
    const Command command{{"/usr/bin/curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                           "--noproxy", "", "--proxy-anyauth", "-x", scene.proxy.url(), "-U", user,
                           scene.origin.url("/a")}};
    return run_to_end(command).output;
  };
  EXPECT_EQ(fetch("anna:secret"), "200");
  EXPECT_EQ(fetch("anna:guess"), "407");
}

}  // namespace
}  // namespace scenario
