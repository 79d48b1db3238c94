#include "config/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace config {
namespace {

using namespace std::chrono_literals;

Settings loaded(std::string_view text) {
  const auto settings = load(text);
  EXPECT_TRUE(settings.has_value()) << (settings ? "" : settings.error().at(0).what);
  return settings ? *settings : Settings{};
}

SettingsErrors errors(std::string_view text) {
  const auto settings = load(text);
  return settings ? SettingsErrors{} : settings.error();
}

TEST(Load, KeepsEveryDefaultThatTheTextDoesNotName) {
  EXPECT_EQ(loaded("{}"), Settings{});
}

TEST(Load, LetsBodiesBeLargerThanMemoryWhereThereIsADisk) {
  const CacheSettings cache = loaded(R"({"cache": {"memory": "8MiB", "max_object": "9GiB",
                                 "disk": {"path": "/var/cache/a", "size": "64MiB"}}})")
                                  .cache;
  EXPECT_EQ(cache.max_object, mebibytes(9 << 10));
  EXPECT_EQ(cache.largest_object(), mebibytes(1)) << "in one piece";
}

TEST(Load, TellsNoControlSocketFromNoSetting) {
  EXPECT_EQ(loaded(R"({"control": "none"})").process.control, "");
  EXPECT_EQ(loaded("{}").process.control, std::nullopt);
}

TEST(Load, RefusesAControlSocketWithAPathThatNoSocketCanHave) {
  const auto control = [](std::size_t bytes) {
    return R"({"control": "/)" + std::string(bytes - 1, 'a') + "\"}";
  };
  EXPECT_TRUE(errors(control(107)).empty());
  ASSERT_EQ(errors(control(108)).size(), 1u);
  EXPECT_NE(errors(control(108))[0].what.find("at most 107 bytes"), std::string::npos);
}

TEST(Load, TakesEverySettingFromTheText) {
  const Settings s = loaded(R"({
    "name": "cache-a", "listen": ["[::]:80", "127.0.0.1:0"], "threads": 3,
    "user": "me", "sandbox": false, "control": "/srv/control.sock",
    "cache": {"memory": "1GiB", "max_object": "7MiB", "stale_if_error": "2h",
              "offline": true, "key_in_status": true, "targeted": ["A", "B"],
              "disk": {"path": "/var/cache/a", "size": "64MiB", "admit": "second"}},
    "digest": {"bits_per_entry": 16, "period": "1s", "poll": "2s", "squid_bits_per_entry": 5,
               "squid_period": "30s", "squid_pause": "0ms", "peer_memory": "1MiB",
               "false_miss_sample": 0.25, "check_sample": 0.5, "check_pause": "9s",
               "confirm_sample": 0.125, "prefer": "latency", "site_collapse": "off",
               "duplicates": "never"},
    "reverse": [], "forwarded": "append", "forwarded_drop": ["X-A"], "forwarded_pass": ["X-B"], "forward": false,
    "access": {"clients": ["any"], "monitor": [], "admin": ["::1"], "peers": ["10.0.0.0/8"],
               "deny_to": [], "own_names": ["Cache-A.test"], "direct": ["*.lan"], "connect_ports": ["8443-8445", 443],
               "block": ["/etc/hearsay/ads", "b"], "allow": ["c"]},
    "log": {"access": "/var/log/hearsay.log", "format": "json"},
    "timeouts": {"head": "1s", "body": "2s", "connect": "3s", "first_byte": "4s",
                 "keep_alive": "5s", "peer_connect": "6ms", "peer_first_byte": "7ms", "drain": "0s", "hand_over": "9s",
                 "unreachable": "8s"},
    "limits": {"connections": 5, "head": "8KiB", "fields": 50, "bytes_per_client": "1MiB",
               "connections_per_client": 4, "requests_per_client": 3, "heads": "2MiB",
               "least_rate": "0B"},
    "contact": "room 7", "pages": "/srv/pages"})");
  EXPECT_EQ(s.pages.contact, "room 7");
  EXPECT_EQ(s.pages.folder, "/srv/pages");
  EXPECT_EQ(s.process.name, "cache-a");
  EXPECT_EQ(s.process.listen, (std::vector<HostPort>{{"::", 80}, {"127.0.0.1", 0}}));
  EXPECT_EQ(s.process.threads, 3u);
  EXPECT_EQ(s.process.user, "me");
  EXPECT_FALSE(s.process.sandbox);
  EXPECT_EQ(s.process.control, "/srv/control.sock");
  EXPECT_EQ(s.cache, (CacheSettings{ByteSize{1ULL << 30},
                                    mebibytes(7),
                                    2h,
                                    true,
                                    true,
                                    {"A", "B"},
                                    {"A", "B"},
                                    DiskSettings{"/var/cache/a", mebibytes(64), Admit::second},
                                    false}));
  EXPECT_EQ(s.digest, (DigestSettings{16,
                                      1s,
                                      2s,
                                      {5, 30s, 0ms},
                                      mebibytes(1),
                                      false,
                                      {0.25, 0.5, 0.125},
                                      9s,
                                      Prefer::latency,
                                      SiteCollapse::off,
                                      Duplicates::never}));
  EXPECT_EQ(s.gateway.forwarded, (ForwardedSettings{Forwarded::append, {"X-A"}, {"X-B"}}));
  EXPECT_EQ(s.gateway.forward, false);
  EXPECT_EQ(s.access.own_names, std::vector<std::string>{"cache-a.test"});
  EXPECT_EQ(s.access.direct, (std::vector<HostSpec>{{"*.lan", std::nullopt}}));
  EXPECT_EQ(s.access.clients, *parse_networks("any"));
  EXPECT_TRUE(s.access.monitor.empty());
  EXPECT_EQ(s.access.admin, *parse_networks("::1"));
  EXPECT_EQ(s.access.peers, *parse_networks("10.0.0.0/8"));
  EXPECT_TRUE(s.access.deny_to.empty());
  EXPECT_FALSE(s.access.deny_to_self);
  EXPECT_EQ(s.access.connect_ports, (std::vector<PortRange>{{8443, 8445}, {443, 443}}));
  EXPECT_EQ(s.access.lists.block, (std::vector<std::string>{"/etc/hearsay/ads", "b"}));
  EXPECT_EQ(s.access.lists.allow, std::vector<std::string>{"c"});
  EXPECT_EQ(s.log, (LogSettings{LogTarget::file, "/var/log/hearsay.log", LogFormat::json}));
  EXPECT_EQ(s.timeouts, (Timeouts{1s, 2s, 3s, 4s, 5s, 6ms, 7ms, 0s, 9s, 8s}));
  EXPECT_EQ(s.limits,
            (Limits{5, kibibytes(8), 50, mebibytes(1), 4, 3, mebibytes(2), false, ByteSize{0}}));
}

TEST(Load, LetsAClientHaveHalfOfAllConnectionsByDefault) {
  const Limits limits = loaded(R"({"limits":{"connections":100}})").limits;
  EXPECT_EQ(limits.most_connections_per_client(), 50u);
  EXPECT_EQ(limits.most_requests_per_client(), 50u);
  EXPECT_EQ(loaded(R"({"limits":{"connections":1}})").limits.most_connections_per_client(), 1u);
}

TEST(Load, MeasuresWhatAClientMayLeaveUnreadByTheMemory) {
  EXPECT_EQ(loaded(R"({"cache":{"memory":"64MiB"}})").bytes_per_client(), mebibytes(2));
}

TEST(Load, TellsTheLogTargetsApart) {
  EXPECT_EQ(loaded(R"({"log":{"access":"stdout"}})").log.access, LogTarget::standard_output);
  EXPECT_EQ(loaded(R"({"log":{"access":"none"}})").log.access, LogTarget::none);
}

// By default clients reach neither this machine nor the metadata services.
TEST(Load, ReadsLoopbackInDenyToAsThisMachineAndLinkLocalWithMetadata) {
  const AccessSettings access =
      loaded(R"({"access":{"deny_to":["loopback","link-local"]}})").access;
  EXPECT_EQ(access, AccessSettings{});
  const AccessSettings narrowed = loaded(R"({"access":{"deny_to":["10.0.0.0/8"]}})").access;
  EXPECT_EQ(narrowed.deny_to, *parse_networks("10.0.0.0/8"));
  EXPECT_FALSE(narrowed.deny_to_self);
}

struct LoadCase {
  std::string_view text, where, words;
};

void expect_one_error(const LoadCase& c) {
  const SettingsErrors found = errors(c.text);
  ASSERT_EQ(found.size(), 1u) << c.text;
  EXPECT_EQ(found[0].where, c.where) << c.text;
  EXPECT_NE(found[0].what.find(c.words), std::string::npos) << found[0].what;
}

TEST(Load, SaysWhereItWentWrongWhatWasExpectedAndWhatStoodThere) {
  for (const LoadCase& c : {
           LoadCase{R"({"name":"a b"})", "line 1, column 9, name", "found \"a b\""},
           LoadCase{R"({"name":7})", "line 1, column 9, name", "found the number 7"},
           LoadCase{R"({"listen":[]})", "line 1, column 11, listen", "at least one"},
           LoadCase{R"({"listen":"x:1"})", "line 1, column 11, listen", "a list of"},
           LoadCase{R"({"listen":["x:1"]})", "line 1, column 12, listen[0]", "found \"x:1\""},
           LoadCase{R"({"listen":["[::]:1","[::]:1"]})", "line 1, column 21, listen[1]", "twice"},
           LoadCase{R"({"threads":-1})", "line 1, column 12, threads", "the number -1"},
           LoadCase{R"({"threads":1.5})", "line 1, column 12, threads", "the number 1.5"},
           LoadCase{R"({"threads":1025})", "line 1, column 12, threads", "from 0 to 1024"},
           LoadCase{R"({"threads":"2"})", "line 1, column 12, threads", "found \"2\""},
           LoadCase{R"({"control":"run/a.sock"})", "line 1, column 12, control", "whole path"},
           LoadCase{R"({"control":true})", "line 1, column 12, control", "\"none\""},
           LoadCase{R"({"sandbox":"no"})", "line 1, column 12, sandbox", "true or false"},
           LoadCase{R"({"cache":null})", "line 1, column 10, cache", "found null"},
           LoadCase{R"({"cache":{"memory":"1MB"}})", "line 1, column 20, cache.memory",
                    "found \"1MB\"; write \"1MiB\""},
           LoadCase{R"({"timeouts":{"drain":5}})", "line 1, column 22, timeouts.drain",
                    "found the number 5; say the unit: \"5s\""},
           LoadCase{R"({"cache":{"memory":"1KiB"}})", "line 1, column 20, cache.memory",
                    "\"1MiB\""},
           LoadCase{R"({"cache":{"memory":"1MiB","max_object":"2MiB"}})",
                    "line 1, column 40, cache.max_object", "to \"1MiB\""},
           LoadCase{R"({"cache":{"offline":"yes"}})", "line 1, column 21, cache.offline",
                    "true or false"},
           LoadCase{R"({"contact":"a\nb"})", "line 1, column 12, contact",
                    "expected whom people may ask, in one line of at most 200 bytes"},
           LoadCase{R"({"pages":""})", "line 1, column 10, pages",
                    "expected the path of a folder, such as \"/etc/hearsay/pages\""},
           LoadCase{R"({"cache":{"stale_if_error":5}})", "line 1, column 28, cache.stale_if_error",
                    "to"},
           LoadCase{R"({"cache":{"targeted":["A B"]}})", "line 1, column 23, cache.targeted[0]",
                    "found \"A B\""},
           LoadCase{R"({"cache":{"targeted":["A","A","A","A","A","A","A","A","A"]}})",
                    "line 1, column 22, cache.targeted", "at most 8"},
           LoadCase{R"({"cache":{"disk":{"size":"64MiB"}}})", "line 1, column 18, cache.disk",
                    "\"path\" is missing"},
           LoadCase{R"({"cache":{"disk":{"path":"/a","size":"64MiB","admit":"third"}}})",
                    "line 1, column 54, cache.disk.admit",
                    "expected \"first\" or \"second\"; found \"third\""},
           LoadCase{R"({"cache":{"disk":{"path":"/a","size":"63MiB"}}})",
                    "line 1, column 38, cache.disk.size", "64MiB"},
           LoadCase{R"({"cache":{"disk":{"path":"/a"}}})", "line 1, column 18, cache.disk",
                    "\"size\" is missing"},
           LoadCase{R"({"digest":{"bits_per_entry":3}})",
                    "line 1, column 29, digest.bits_per_entry", "from 4 to 127"},
           LoadCase{R"({"digest":{"squid_bits_per_entry":128}})",
                    "line 1, column 35, digest.squid_bits_per_entry", "from 4 to 127"},
           LoadCase{R"({"digest":{"false_miss_sample":1.5}})",
                    "line 1, column 32, digest.false_miss_sample", "from 0 to 1"},
           LoadCase{R"({"digest":{"false_miss_sample":-0.1}})",
                    "line 1, column 32, digest.false_miss_sample", "from 0 to 1"},
           LoadCase{R"({"digest":{"false_miss_sample":"1"}})",
                    "line 1, column 32, digest.false_miss_sample", "from 0 to 1"},
           LoadCase{R"({"digest":{"check_sample":2}})", "line 1, column 27, digest.check_sample",
                    "from 0 to 1"},
           LoadCase{R"({"digest":{"check_pause":"2m"}})", "line 1, column 26, digest.check_pause",
                    "to \"1m\""},
           LoadCase{R"({"digest":{"confirm_sample":2}})",
                    "line 1, column 29, digest.confirm_sample", "from 0 to 1"},
           LoadCase{R"({"digest":{"period":5}})", "line 1, column 21, digest.period", "\"250ms\""},
           LoadCase{R"({"digest":{"squid_pause":"3s"}})", "line 1, column 26, digest.squid_pause",
                    "to \"2s\""},
           LoadCase{R"({"access":{"clients":["privat"]}})", "line 1, column 23, access.clients[0]",
                    "did you mean \"private\"?"},
           LoadCase{R"({"access":{"clients":["loopbak"]}})", "line 1, column 23, access.clients[0]",
                    "did you mean \"loopback\"?"},
           LoadCase{R"({"access":{"admin":[true]}})", "line 1, column 21, access.admin[0]",
                    "found true"},
           LoadCase{R"({"access":{"own_names":["*.a"]}})", "line 1, column 25, access.own_names[0]",
                    "without port and without"},
           LoadCase{R"({"access":{"direct":["*"]}})", "line 1, column 22, access.direct[0]",
                    "without port"},
           LoadCase{R"({"access":{"connect_ports":[0]}})",
                    "line 1, column 29, access.connect_ports[0]", "from 1 to 65535"},
           LoadCase{R"({"access":{"connect_ports":["9-8"]}})",
                    "line 1, column 29, access.connect_ports[0]", "a port or a range"},
           LoadCase{R"({"access":{"block":"ads"}})", "line 1, column 20, access.block",
                    "a list of"},
           LoadCase{R"({"access":{"allow":[""]}})", "line 1, column 21, access.allow[0]", "path"},
           LoadCase{R"({"access":{"block":["a\u0000b"]}})", "line 1, column 21, access.block[0]",
                    "path"},
           LoadCase{R"({"log":{"access":""}})", "line 1, column 18, log.access", "path of a file"},
           LoadCase{R"({"log":{"format":"Json"}})", "line 1, column 18, log.format",
                    "mean \"json\"?"},
           LoadCase{R"({"timeouts":{"drain":"2h"}})", "line 1, column 22, timeouts.drain",
                    "\"1h\""},
           LoadCase{R"({"limits":{"fields":1}})", "line 1, column 21, limits.fields", "from 10"},
           LoadCase{R"([])", "line 1, column 1", "found a list"},
       }) {
    expect_one_error(c);
  }
}

TEST(Load, SuggestsTheAddressThatWasMeant) {
  const auto what = [](const std::string& text) {
    const SettingsErrors found = errors(text);
    return found.size() == 1 ? found[0].what : "";
  };
  const auto listen = [&](const std::string& text) {
    return what("{\"listen\":[\"" + text + "\"]}");
  };
  EXPECT_TRUE(listen("localhost:3128").ends_with("; did you mean \"127.0.0.1:3128\"?"));
  for (const std::string text : {":3128", "*:3128", "3128"}) {
    EXPECT_TRUE(listen(text).ends_with("\"0.0.0.0:3128\" for all of its addresses")) << text;
  }
  EXPECT_TRUE(listen("cache.example:3128").ends_with("found \"cache.example:3128\""));
  EXPECT_TRUE(
      what(R"({"access":{"clients":["10.0.0.1/8"]}})").ends_with("did you mean \"10.0.0.0/8\"?"));
  EXPECT_TRUE(what(R"({"access":{"clients":["10.0.0.1/0"]}})").starts_with("expected "));
}

// A slip must not become an open proxy because somebody follows the advice.
TEST(Load, NeverSuggestsToLetEverybodyIn) {
  for (const std::string word : {"lan", "an", "anny", "ay", "al", "alle", "Any", "ANY", "ally"}) {
    for (const std::string list : {"clients", "monitor", "admin", "peers"}) {
      const SettingsErrors found = errors("{\"access\":{\"" + list + "\":[\"" + word + "\"]}}");
      ASSERT_EQ(found.size(), 1u) << word;
      EXPECT_EQ(found[0].what.find("did you mean \"a"), std::string::npos) << found[0].what;
    }
  }
}

TEST(Load, RefusesUnknownAndRepeatedKeys) {
  expect_one_error({R"({"treads":1})", "line 1, column 2, treads", "did you mean \"threads\"?"});
  expect_one_error({R"({"zzz":1})", "line 1, column 2, zzz", "known here: \"name\", \"listen\""});
  expect_one_error({R"({"log":{"acces":"none"}})", "line 1, column 9, log.acces", "\"access\""});
  expect_one_error({R"({"threads":1,"threads":2})", "line 1, column 14, threads", "twice"});
  expect_one_error({R"({"peers":[{"url":"http://b","url":"http://c"}]})",
                    "line 1, column 29, peers[0].url", "twice"});
}

TEST(Load, CountsLinesThroughCommentsAndEscapes) {
  expect_one_error({"\xEF\xBB\xBF{ // \"{\n  /* , \n */ \"na\\\"me\" : 1 }",
                    "line 3, column 5, na\"me", "is not a setting"});
  expect_one_error({"{\r\n\"log\":{\"access\":\"a\\\\\"},//\r\n\"x\":[[1],{\"y\":-1e3}]}",
                    "line 3, column 1, x", ""});
}

TEST(Load, TellsEveryFaultAtOnceInTheOrderOfTheText) {
  const SettingsErrors found =
      errors("{\"threads\": -1,\n\"nam\": 1,\n\"cache\": 5,\n\"name\": \"\"}");
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].where, "line 1, column 13, threads");
  EXPECT_EQ(found[1].where, "line 2, column 1, nam");
  EXPECT_EQ(found[2].where, "line 3, column 10, cache");
  EXPECT_EQ(found[3].where, "line 4, column 9, name");
}

TEST(Load, LocatesTheFirstFaultOfWhatIsNotJson) {
  expect_one_error({"{\n  \"threads\": 1,\n}", "line 2, column 15", "no comma"});
  expect_one_error({"", "line 1, column 1", "is empty"});
  expect_one_error({"{} x", "line 1, column 4", "end before this"});
  expect_one_error({"{\"a\":1e999}", "line 1, column 6", "too long for any setting"});
  expect_one_error({"{\"a\":\"\xff\"}", "line 1, column 7", "UTF-8"});
}

TEST(Load, BoundsDepthAndSizeBeforeItBuilds) {
  for (const char open : {'[', '{'}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += open == '{' ? "{\"a\":" : "[";
    const SettingsErrors found = errors(deep);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_LT(found[0].what.size(), 100u);
  }
  expect_one_error({std::string(300 * 1024, ' '), "line 1, column 1", "longer than"});
}

TEST(Load, KeepsErrorsShortAndPrintableWhateverTheTextHolds) {
  const std::string junk(100'000, '\x01');
  for (const std::string& text :
       {"{\"" + std::string(100'000, 'k') + "\":1}",
        "{\"name\":\"" + std::string(100'000, 'n') + "\"}",
        std::string("{\"name\":\"\\u001b[31m\"}"), "{\"a\":\"" + junk, std::string(100'000, 'x')}) {
    for (const SettingsError& error : errors(text)) {
      const std::string line = error.where + error.what;
      EXPECT_LT(line.size(), 400u);
      EXPECT_TRUE(
          std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
    EXPECT_FALSE(errors(text).empty());
  }
}

}  // namespace
}  // namespace config
