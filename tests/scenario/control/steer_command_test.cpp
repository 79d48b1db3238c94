// `hearsay status` and the other subcommands that steer a running proxy.
#include <gtest/gtest.h>

#include "tests/scenario/control/steered.hpp"

namespace scenario {
namespace {

TEST(SteerCommand, SaysWhatToDoIfNoProxyListens) {
  const TemporaryDirectory directory;
  const auto socket = (directory / "none.sock").string();
  const Outcome outcome = hearsay({"status", "--socket", socket});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(contains(outcome.errors, "no proxy listens at " + socket + ": is it running?"))
      << outcome.errors;
  const ReservedPort nobody;
  const auto url = "http://127.0.0.1:" + std::to_string(nobody.port());
  EXPECT_EQ(hearsay({"status", "--url", url}).exit_code, 3);
  EXPECT_EQ(hearsay({"status", "--url", url, "--socket", socket}).exit_code, 2);
  EXPECT_EQ(hearsay({"status", "--url", "nonsense://x"}).exit_code, 2);
}

TEST(SteerCommand, FindsTheSocketBySettings) {
  const Steered scene;
  const auto file = scene.directory / "settings.json";
  write_file(file, with_control(scene.socket()).dump());
  EXPECT_EQ(hearsay({"status", "--config", file.string()}).exit_code, 0);
  write_file(file, R"({"control": "none"})");
  EXPECT_EQ(hearsay({"status", "--config", file.string()}).exit_code, 2);
  write_file(file, R"({"control": 7})");
  EXPECT_EQ(hearsay({"status", "--config", file.string()}).exit_code, 2);
}

TEST(SteerCommand, AsksAProxyElsewhereSubjectToItsRights) {
  const ProxyProcess open;
  EXPECT_EQ(hearsay({"status", "--url", open.url() + "/"}).exit_code, 0);
  const ProxyProcess closed(json{{"access", {{"admin", json::array()}}}});
  const Outcome refused = hearsay({"reload", "--url", closed.url()});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.errors, "access.admin")) << refused.errors;
}

TEST(StatusCommand, SaysWhatDoesNotWork) {
  const ReservedPort nobody;
  const Steered scene(with_peer("b", nobody.port()));
  EXPECT_TRUE(await([&] { return contains(scene.steer("status").output, ": degraded\n"); }));
  const Outcome outcome = scene.steer("status", {"--strict"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(contains(outcome.output, "  peer b: ")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "neighbours  0 of 1 work\n")) << outcome.output;
  EXPECT_EQ(json::parse(scene.steer("status", {"--json"}).output).at("status"), "degraded");
}

TEST(ReloadCommand, AppliesTheSettingsAndSaysWhatNeedsARestart) {
  Steered scene;
  scene.proxy.write_settings(with_control(scene.socket(), json{{"threads", 3}}));
  const Outcome outcome = scene.steer("reload");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, " are in force\n")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "threads changed, which needs a restart")) << outcome.output;
  scene.proxy.write_settings(
      with_control(scene.socket(), json{{"access", {{"clients", {"192.0.2.0/24"}}}}}));
  EXPECT_EQ(json::parse(scene.steer("reload", {"--json"}).output).at("applied"), true);
  Client client(scene.proxy.port());
  EXPECT_EQ(client.get("http://192.0.2.1/").status, 403);
}

TEST(ReloadCommand, SaysEachErrorWithItsPlaceAndChangesNothing) {
  Steered scene;
  scene.proxy.write_settings(json{{"threds", 3}, {"cache", {{"memory", 7}}}});
  const Outcome outcome = scene.steer("reload");
  EXPECT_EQ(outcome.exit_code, 1);
  for (const auto* text :
       {"settings.json, line ", "threds", "cache.memory", "nothing was reloaded"}) {
    EXPECT_TRUE(contains(outcome.output, text)) << outcome.output;
  }
  const auto page = scene.proxy.page("/admin/reload", kOnPurpose, "POST");
  EXPECT_EQ(page.status, 422);
  EXPECT_EQ(json::parse(page.body).at("errors").size(), 2U);
  EXPECT_EQ(scene.proxy.page("/admin/reload", {}, "POST").status, 403);
  EXPECT_EQ(scene.proxy.page("/admin/reload", kOnPurpose).status, 405);
}

TEST(CacheCommandOfARunningProxy, AsksTheControlSocketThatTheSettingsName) {
  const Steered scene(json{{"access", {{"admin", json::array()}}}});
  const auto list = [&] {
    return hearsay({"cache", "list", "--config", scene.proxy.settings_file().string()});
  };
  EXPECT_EQ(list().exit_code, 0) << list().errors;
  EXPECT_EQ(scene.proxy.page("/admin/cache/list", kOnPurpose).status, 403);
}

}  // namespace
}  // namespace scenario
