// What the tools of operators make of our pages and logs: Prometheus, Grafana, goaccess.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

const std::string kPromtool = "/usr/bin/promtool";
const std::string kGoaccess = "/usr/bin/goaccess";
const std::filesystem::path kConfig = HEARSAY_CONFIG_DIRECTORY;

// A page of a proxy that has a disk, a neighbour, a parent, and an origin that fails.
std::string all_metrics() {
  const TemporaryDirectory home;
  json settings{{"cache", {{"disk", {{"path", (home / "cache").string()}, {"size", "100MiB"}}}}}};
  const ScriptedOrigin parent;
  ScriptedOrigin sibling;
  settings = with_peer("b", sibling.port(), settings);
  json of_parent = with_peer("p", parent.port())["peers"][0];
  of_parent["role"] = "parent";
  of_parent["for"] = {"p.test"};
  settings["peers"].push_back(of_parent);
  Scene scene(settings);
  const auto url = scene.origin.url("/a");
  sibling.on(kDigestPath, digest_reply(digest_claiming({url})));
  sibling.sign_as("b");
  sibling.on("/a", cacheable("x"));
  EXPECT_TRUE(await([&] { return scene.proxy.digest_peer("b").at("state") == "usable"; }));
  scene.client.get(url);
  return scene.proxy.page("/metrics").body;
}

const std::string& metrics() {
  static const std::string text = all_metrics();
  return text;
}

std::set<std::string> families() {
  std::set<std::string> names;
  std::istringstream lines(metrics());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, type, name;
    words >> hash >> type >> name;
    if (hash == "#" && type == "TYPE") names.insert(name);
  }
  return names;
}

// What a text of PromQL names: metrics, and labels with fixed values.
struct Named {
  std::set<std::string> metrics;
  std::set<std::string> labels;  // why="stalled"
};

Named named_in(const std::string& text) {
  Named named;
  static const std::regex metric("\\b(hearsay|process)_[a-z_]+");
  for (std::sregex_iterator at(text.begin(), text.end(), metric), end; at != end; ++at) {
    std::string name = at->str();
    for (const char* const suffix : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with(suffix)) name.resize(name.size() - std::string_view(suffix).size());
    }
    named.metrics.insert(name);
  }
  static const std::regex label("\\b([a-z_]+)(?:=|!=|=~|!~)\"([^\"$]+)\"");
  for (std::sregex_iterator at(text.begin(), text.end(), label), end; at != end; ++at) {
    std::istringstream values((*at)[2].str());
    for (std::string value; std::getline(values, value, '|');) {
      named.labels.insert((*at)[1].str() + "=\"" + value + '"');
    }
  }
  return named;
}

void expect_known(const std::string& expressions, const std::string& where) {
  const auto known = families();
  const auto named = named_in(expressions);
  EXPECT_GT(named.metrics.size(), 8U) << where;
  for (const auto& name : named.metrics) {
    EXPECT_TRUE(known.contains(name)) << where << ": " << name;
  }
  for (const auto& label : named.labels) {
    if (label.starts_with("job=") || label.starts_with("instance=")) continue;
    EXPECT_TRUE(contains(metrics(), label)) << where << ": " << label;
  }
}

// All values under the key, wherever they are.
void collect(const json& in, const std::string& key, std::string& out) {
  if (in.is_object() && in.contains(key) && in.at(key).is_string()) {
    out += in.at(key).get<std::string>() + '\n';
  }
  for (const auto& inner : in) {
    if (inner.is_structured()) collect(inner, key, out);
  }
}

TEST(MetricsPage, LeavesPromtoolSilent) {
  if (!std::filesystem::exists(kPromtool)) GTEST_SKIP() << "no promtool";
  const TemporaryDirectory home;
  write_file(home / "metrics", metrics());
  const Outcome outcome = run_to_end(
      {{"/bin/sh", "-c", kPromtool + " check metrics < " + (home / "metrics").string()}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output + outcome.errors, "");
}

TEST(GrafanaDashboard, ShowsOnlyWhatThereIs) {
  const json dashboard = json::parse(read_file(kConfig / "grafana.json"));
  std::string expressions;
  collect(dashboard, "expr", expressions);
  expect_known(expressions, "grafana.json");
  std::set<int> ids;
  for (const json& panel : dashboard.at("panels")) {
    EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << "an id is there twice";
    if (panel.at("type") != "row") {
      EXPECT_FALSE(panel.at("targets").empty()) << panel.at("title");
    }
  }
}

TEST(Alerts, WatchOnlyWhatThereIs) {
  expect_known(read_file(kConfig / "alerts.yml"), "alerts.yml");
}

TEST(Alerts, SayWhatHappensAndWhatToDo) {
  if (!std::filesystem::exists(kPromtool)) GTEST_SKIP() << "no promtool";
  const Outcome outcome = run_to_end({{kPromtool, "check", "rules", kConfig / "alerts.yml"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  const std::string text = read_file(kConfig / "alerts.yml");
  const auto times = [&text](const std::string& word) {
    std::size_t count = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
  };
  EXPECT_GT(times("- alert: "), 10U);
  EXPECT_EQ(times("\n          summary: "), times("- alert: "));
  EXPECT_EQ(times("\n          description: "), times("- alert: "));
}

TEST(Alerts, PageForWhatClientsFeelAndForNothingElse) {
  const std::string text = read_file(kConfig / "alerts.yml");
  static const std::regex alert(R"(- alert: (\w+)[\s\S]*?severity: (\w+) )");
  std::set<std::string> pages;
  for (std::sregex_iterator at(text.begin(), text.end(), alert), end; at != end; ++at) {
    const auto severity = (*at)[2].str();
    EXPECT_TRUE(severity == "page" || severity == "ticket") << severity;
    if (severity == "page") pages.insert((*at)[1]);
  }
  EXPECT_EQ(pages, (std::set<std::string>{"HearsayDown", "HearsayRestarts", "HearsayRequestsFail",
                                          "HearsayNamesFail", "HearsayOriginFails",
                                          "HearsayConnectionsShort", "HearsayDescriptorsShort",
                                          "HearsayThreadStuck", "HearsayHitsSlow"}));
}

// A cause, as the series that differ from those of a proxy where all is well, and the alert that
// fires for it.
struct Cause {
  const char* alert;
  std::map<std::string, std::string> series;
};

// One sample a minute, for half an hour.
const std::map<std::string, std::string> kAllIsWell{
    {R"(up{job="hearsay",instance="a"})", "1x30"},
    {R"(process_start_time_seconds{job="hearsay",instance="a"})", "1000x30"},
    {R"(hearsay_requests_total{instance="a",result="hit"})", "0+6000x30"},
    {R"(hearsay_requests_total{instance="a",result="miss"})", "0+600x30"},
    {R"(hearsay_requests_total{instance="a",result="failed"})", "0+6x30"},
    {R"(hearsay_troubles{instance="a",what="disk"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="peer"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="dns"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="origin"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="settings"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="log"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="offline"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="line"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="clock"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="memory"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="heads"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="connections"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="descriptors"})", "0x30"},
    {R"(hearsay_troubles{instance="a",what="thread"})", "0x30"},
    {R"(hearsay_disk_up{instance="a"})", "1x30"},
    {R"(hearsay_peer_up{instance="a",peer="b"})", "1x30"},
    {R"(hearsay_peer_state{instance="a",peer="b",state="resting",reason="lies"})", "_x30"},
    {R"(hearsay_peer_state{instance="a",peer="b",state="down",reason="poll-failed"})", "_x30"},
    {R"(hearsay_peer_rests_total{instance="a",peer="b",reason="lies"})", "0x30"},
    {R"(hearsay_peer_rests_total{instance="a",peer="b",reason="contradicted"})", "0x30"},
    {R"(hearsay_peer_rests_total{instance="a",peer="b",reason="refused"})", "0x30"},
    {R"(hearsay_clock_skew_seconds{instance="a"})", "0x30"},
    {R"(hearsay_access_log_dropped_total{instance="a"})", "0x30"},
    {R"(hearsay_request_first_byte_seconds_bucket{instance="a",outcome="hit",le="0.1"})",
     "0+6000x30"},
    {R"(hearsay_request_first_byte_seconds_bucket{instance="a",outcome="hit",le="1"})",
     "0+6000x30"},
    {R"(hearsay_request_first_byte_seconds_bucket{instance="a",outcome="hit",le="+Inf"})",
     "0+6000x30"},
};

std::string trouble(const std::string& what) {
  return "hearsay_troubles{instance=\"a\",what=\"" + what + "\"}";
}

std::vector<Cause> causes() {
  const std::string failed = R"(hearsay_requests_total{instance="a",result="failed"})";
  return {
      {"", {}},
      {"HearsayDown", {{R"(up{job="hearsay",instance="a"})", "0x30"}}},
      {"HearsayRestarts",
       {{R"(process_start_time_seconds{job="hearsay",instance="a"})", "1000+60x30"}}},
      {"HearsayRequestsFail", {{failed, "0+6000x30"}}},
      {"HearsayOriginFails", {{trouble("origin"), "1x30"}, {failed, "0+6000x30"}}},
      {"HearsayNamesFail", {{trouble("dns"), "1x30"}, {failed, "0+6000x30"}}},
      {"HearsaySettingsNotInForce", {{trouble("settings"), "1x30"}}},
      {"HearsayLogNotReopened", {{trouble("log"), "1x30"}}},
      {"HearsayOffline", {{trouble("offline"), "1x30"}}},
      {"HearsayDiskFails",
       {{R"(hearsay_disk_up{instance="a"})", "0x30"}, {trouble("disk"), "1x30"}}},
      {"HearsayPeerDown",
       {{R"(hearsay_peer_up{instance="a",peer="b"})", "0x30"},
        {R"(hearsay_peer_rests_total{instance="a",peer="b",reason="refused"})", "0+1x30"},
        {trouble("peer"), "1x30"}}},
      // It rests for a minute, and again each time when it is asked.
      {"HearsayPeerLies",
       {{R"(hearsay_peer_rests_total{instance="a",peer="b",reason="lies"})", "0+1x30"},
        {R"(hearsay_peer_state{instance="a",peer="b",state="resting",reason="lies"})", "1x30"},
        {R"(hearsay_peer_up{instance="a",peer="b"})", "0x30"},
        {trouble("peer"), "1x30"}}},
      // It ends two minutes after its lie, which was long ago.
      {"HearsayPeerDown",
       {{R"(hearsay_peer_rests_total{instance="a",peer="b",reason="lies"})", "0 1x29"},
        {R"(hearsay_peer_state{instance="a",peer="b",state="resting",reason="lies"})", "1x2 stale"},
        {R"(hearsay_peer_state{instance="a",peer="b",state="down",reason="poll-failed"})",
         "_x3 1x26"},
        {R"(hearsay_peer_up{instance="a",peer="b"})", "0x30"},
        {trouble("peer"), "1x30"}}},
      {"HearsayPeerLies",
       {{R"(hearsay_peer_rests_total{instance="a",peer="b",reason="contradicted"})", "0x24 1x5"},
        {R"(hearsay_peer_up{instance="a",peer="b"})", "1x24 0 1x5"}}},
      {"HearsayClockWrong",
       {{R"(hearsay_clock_skew_seconds{instance="a"})", "-7200x30"}, {trouble("clock"), "1x30"}}},
      {"HearsayMemoryShort", {{trouble("memory"), "1x30"}}},
      {"HearsayConnectionsShort", {{trouble("connections"), "1x30"}}},
      {"HearsayConnectionsShort", {{trouble("heads"), "1x30"}}},
      {"HearsayDescriptorsShort", {{trouble("descriptors"), "1x30"}}},
      {"HearsayThreadStuck", {{trouble("thread"), "1x30"}}},
      {"HearsayHitsSlow",
       {{R"(hearsay_request_first_byte_seconds_bucket{instance="a",outcome="hit",le="0.1"})",
         "0+3000x30"}}},
      {"HearsayLogLosesLines", {{R"(hearsay_access_log_dropped_total{instance="a"})", "0x24 9x5"}}},
  };
}

// A file for `promtool test rules`: the alerts that fire after half an hour.
std::string alert_tests() {
  std::string text = "rule_files: ['" + (kConfig / "alerts.yml").string() +
                     "']\nevaluation_interval: 1m\ntests:\n";
  for (const Cause& cause : causes()) {
    auto series = kAllIsWell;
    for (const auto& [name, values] : cause.series) series.at(name) = values;
    text += "  - interval: 1m\n    input_series:\n";
    for (const auto& [name, values] : series) {
      text += "      - { series: '" + name + "', values: '" + values + "' }\n";
    }
    text +=
        "    promql_expr_test:\n"
        "      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n"
        "        eval_time: 29m\n        exp_samples:\n";
    const std::string alert = cause.alert;
    text += alert.empty() ? "          []\n"
                          : "          - { labels: '{alertname=\"" + alert + "\"}', value: 1 }\n";
  }
  return text;
}

TEST(Alerts, FireForTheirCauseAndForNoOther) {
  if (!std::filesystem::exists(kPromtool)) GTEST_SKIP() << "no promtool";
  const TemporaryDirectory home;
  write_file(home / "tests.yml", alert_tests());
  const Outcome outcome = run_to_end({{kPromtool, "test", "rules", home / "tests.yml"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  std::set<std::string> tested;
  for (const Cause& cause : causes()) tested.insert(cause.alert);
  const std::string text = read_file(kConfig / "alerts.yml");
  static const std::regex alert("- alert: (\\w+)");
  for (std::sregex_iterator at(text.begin(), text.end(), alert), end; at != end; ++at) {
    EXPECT_TRUE(tested.contains((*at)[1].str())) << (*at)[1].str() << " has no test";
  }
}

TEST(SquidsLog, IsReadByGoaccess) {
  if (!std::filesystem::exists(kGoaccess)) GTEST_SKIP() << "no goaccess";
  Scene scene;
  scene.origin.on("/a", cacheable("x"));
  scene.origin.on("/b", cacheable("x", "no-store"));
  scene.origin.on("/cut", Reply::hang_up());
  for (const char* const path : {"/a", "/a", "/b", "/cut", "/a%20b"}) {
    scene.client.get(scene.origin.url(path));
  }
  scene.client.request("PURGE", scene.origin.url("/a"), kOnPurpose);
  scene.proxy.page("/health");
  Client malformed(scene.proxy.port());
  malformed.send("nonsense\r\n\r\n");
  malformed.read();
  ASSERT_TRUE(await([&] { return scene.proxy.access_log().size() == 8; }));
  const TemporaryDirectory home;
  // As proxy/pages/README.md has it.
  const Outcome outcome =
      run_to_end({{kGoaccess, scene.proxy.access_log_path(), "--no-global-config",
                   "--log-format=%x.%^ %~%L %h %^/%s %b %^ %U %^", "--datetime-format=%s",
                   "--no-strict-status", "--no-progress", "-o", home / "report.json"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output << outcome.errors;
  const json general = json::parse(read_file(home / "report.json")).at("general");
  EXPECT_EQ(general.at("valid_requests"), 8);
  EXPECT_EQ(general.at("failed_requests"), 0);
}

}  // namespace
}  // namespace scenario
