// A parent fetches from origins for us.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/scenario/peers/parent_scene.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct TwoParents {
  TwoParents() {
    const Fields unstored{{"Cache-Control", "no-store"}};
    p.otherwise([=](const Request&) { return Reply(200, unstored).body("p"); });
    q.otherwise([=](const Request&) { return Reply(200, unstored).body("q"); });
  }
  json settings(const char* first, const char* second) const {
    json settings = with_parent(first, port(first));
    settings["peers"].push_back(with_parent(second, port(second))["peers"][0]);
    return settings;
  }
  std::uint16_t port(std::string_view name) const { return name == "p" ? p.port() : q.port(); }

  ScriptedOrigin origin;
  ScriptedOrigin p;
  ScriptedOrigin q;
};

TEST(Parent, FetchesWhatIsNotStoredHere) {
  ParentScene scene;
  scene.parent.on("/a", cacheable("by the parent"));
  const Response response = scene.get("/a");
  EXPECT_EQ(response.body, "by the parent");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "fwd-status=200; ttl=3600; stored"))
      << response.field("Cache-Status");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "detail=\"parent/p\""))
      << response.field("Cache-Status");
  EXPECT_TRUE(is_hit(scene.get("/a")));
  const Request asked = scene.parent.requests("/a").at(0);
  EXPECT_EQ(asked.target, scene.origin.url("/a"));
  EXPECT_EQ(asked.field("Host"), authority_of(scene.origin.url("/a")));
  EXPECT_FALSE(contains(asked.field("Cache-Control"), "only-if-cached"));
  EXPECT_EQ(scene.origin.count(), 0U);
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/a")).hierarchy, "HIER_NONE") << "the hit";
  EXPECT_EQ(scene.proxy.access_log().front().hierarchy, "CARP");
  EXPECT_EQ(scene.forwarding().at("requests"), 1);
  EXPECT_EQ(scene.proxy.metric("hearsay_parent_requests_total{peer=\"p\"}"), 1);
}

TEST(Parent, IsSentEveryMethod) {
  ParentScene scene;
  scene.parent.on("/a", [](const Request& request) { return Reply().body(request.body); });
  const Response response = scene.client.request("POST", scene.origin.url("/a"), {}, "text");
  EXPECT_EQ(response.body, "text");
  EXPECT_TRUE(contains(response.field("Cache-Status"), "parent/p"))
      << response.field("Cache-Status");
  scene.client.send("OPTIONS " + scene.origin.url("") + " HTTP/1.1\r\nHost: x\r\n\r\n");
  scene.client.read("OPTIONS");
  EXPECT_EQ(scene.parent.requests().back().target, scene.origin.url(""));
  EXPECT_EQ(scene.origin.count(), 0U);
}

TEST(Parent, IsToldTheLoginOfTheSettingsAndNoOther) {
  ParentScene scene(json::object(), {{"login", "me:se cret"}});
  const Fields clients{{"Proxy-Authorization", "Basic eDp5"}};
  scene.parent.on("/a", Reply(503));
  scene.get("/a", clients);
  EXPECT_EQ(scene.parent.requests("/a").at(0).field("Proxy-Authorization"),
            "Basic bWU6c2UgY3JldA==");
  EXPECT_FALSE(scene.origin.requests("/a").at(0).has("Proxy-Authorization"));
}

struct BadParent {
  const char* name;
  Reply reply;
  bool rests;  // afterwards
};

void PrintTo(const BadParent& test, std::ostream* out) {
  *out << test.name;
}

class FailedParent : public testing::TestWithParam<BadParent> {};

TEST_P(FailedParent, IsReplacedByTheOrigin) {
  ParentScene scene;
  scene.parent.on("/a", GetParam().reply);
  const Response response = scene.get("/a");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "from the origin");
  EXPECT_EQ(scene.parent.count("/a"), 1U);
  EXPECT_EQ(scene.forwarding().at("state"), GetParam().rests ? "resting" : "usable");
  EXPECT_EQ(scene.forwarding().at("failures"), GetParam().rests ? 1 : 0);
  EXPECT_EQ(scene.get("/b").body, GetParam().rests ? "from the origin" : "by the parent");
}

TEST_P(FailedParent, IsReplacedByNobodyIfTheOriginMayNotBeAsked) {
  ParentScene scene(json{{"never_direct", "all"}});
  scene.parent.on("/a", GetParam().reply);
  EXPECT_GE(scene.get("/a").status, 500);
  EXPECT_EQ(scene.origin.count(), 0U);
  EXPECT_EQ(scene.get("/b").body, "by the parent") << "a parent that rests is better than none";
}

INSTANTIATE_TEST_SUITE_P(Parent, FailedParent,
                         testing::Values(BadParent{"HangsUp", Reply::hang_up(), true},
                                         BadParent{"Garbage", Reply::raw("?\r\n\r\n"), true},
                                         BadParent{"RefusesOurLogin", Reply(407), true},
                                         BadParent{"BadGateway", Reply(502), false},
                                         BadParent{"Overloaded", Reply(503), false},
                                         BadParent{"TimedOut", Reply(504), false},
                                         BadParent{"FindsALoop", Reply(508), false}),
                         [](const auto& test) { return test.param.name; });

TEST(Parent, ThatCannotBeReachedIsReplacedByTheOrigin) {
  const ReservedPort nobody;
  ScriptedOrigin origin;
  origin.on("/a", cacheable("from the origin"));
  const ProxyProcess proxy(with_parent("p", nobody.port()));
  EXPECT_EQ(Client(proxy.port()).get(origin.url("/a")).body, "from the origin");
  EXPECT_EQ(proxy.digest_peer("p").at("forwarding").at("state"), "resting");
}

// How a request is sent that gets its answer from the origin, though the parent is silent.
struct SilentCase {
  const char* name;
  const char* method;
  Fields fields;
};

void PrintTo(const SilentCase& test, std::ostream* out) {
  *out << test.name;
}

class SilentParent : public testing::TestWithParam<SilentCase> {};

TEST_P(SilentParent, IsLeftForTheOriginAndRests) {
  ParentScene scene(kSparesTheOrigin);
  scene.parent.on("/a", Reply().wait(Gate()));
  const auto begun = Clock::now();
  const Response response =
      scene.client.request(GetParam().method, scene.origin.url("/a"), GetParam().fields);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
  EXPECT_LT(Clock::now() - begun, 20s) << "nobody waits for timeouts.first_byte";
  EXPECT_EQ(scene.forwarding().at("state"), "resting");
  EXPECT_EQ(scene.get("/b").body, "from the origin");
  EXPECT_EQ(scene.parent.count("/b"), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Parent, SilentParent,
    testing::Values(SilentCase{"Get", "GET", {}},
                    SilentCase{"FreshCopyWanted", "GET", {{"Cache-Control", "no-cache"}}},
                    SilentCase{"Credentials", "GET", {{"Authorization", "Basic eDp5"}}},
                    SilentCase{"Head", "HEAD", {}}),
    [](const auto& test) { return test.param.name; });

TEST(Parents, ThatAreSilentLeaveTheRequestToTheOriginAndRest) {
  TwoParents scene;
  json settings = scene.settings("p", "q");
  settings.update(kSparesTheOrigin);
  ProxyProcess proxy(settings);
  Client client(proxy.port());
  for (auto* parent : {&scene.p, &scene.q}) parent->on("/a", Reply().wait(Gate()));
  scene.origin.on("/a", cacheable("from the origin"));
  EXPECT_EQ(client.get(scene.origin.url("/a")).body, "from the origin") << "both are silent";
  for (const char* name : {"p", "q"}) {
    EXPECT_EQ(proxy.digest_peer(name).at("forwarding").at("state"), "resting") << name;
  }
}

TEST(Parent, ThatIsTriedAgainHasTheOriginBesideItAtOnce) {
  ParentScene scene(kSparesTheOrigin);
  scene.parent.on("/a", Reply::hang_up());
  scene.get("/a");
  scene.parent.otherwise([](const Request&) { return Reply().wait(Gate()); });
  scene.origin.on("/b", Reply(200, {{"Cache-Control", "no-store"}}).body("from the origin"));
  // Only the request that tries the parent could wait for it.
  const auto asked_again = [&] {
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(scene.get("/b").body, "from the origin");
    const auto took = std::chrono::steady_clock::now() - begun;
    if (scene.parent.count("/b") == 0) return false;
    EXPECT_LT(took, allowed(500ms));
    return true;
  };
  EXPECT_TRUE(await(asked_again, 2 * kPatience));  // its rest lasts for ten seconds
}

TEST(Parent, ThatRestsMakesNoRequestAskTheOriginTwice) {
  ParentScene scene(kSparesTheOrigin);
  scene.parent.on("/a", Reply::hang_up());
  scene.get("/a");
  Gate gate;
  scene.origin.on("/b", cacheable("from the origin").wait(gate));
  scene.client.send(request_text("GET", scene.origin.url("/b")));
  ASSERT_TRUE(scene.origin.await_requests("/b", 1));
  EXPECT_FALSE(await([&] { return scene.origin.count("/b") > 1; }, 1s)) << "no second question";
  gate.open();
  EXPECT_EQ(scene.client.read().body, "from the origin");
}

TEST(Parent, ThatCutsABodyIsReplacedByTheOrigin) {
  ParentScene scene;
  const std::string body = numbered_bytes(3U << 20);
  const Fields fields{{"Cache-Control", "max-age=60"}, {"ETag", "\"v1\""}};
  scene.parent.on("/a", Reply(200, fields).sized(body.size()).send(body.substr(0, 2U << 20)).cut());
  scene.origin.on("/a", [=](const Request& request) {
    const auto first = std::stoul(request.field("Range").substr(6));
    auto part = fields;
    part.emplace_back("Content-Range", "bytes " + std::to_string(first) + '-' +
                                           std::to_string(body.size() - 1) + '/' +
                                           std::to_string(body.size()));
    return Reply(206, part).body(body.substr(first));
  });
  const Response response = scene.get("/a");
  EXPECT_TRUE(response.whole);
  EXPECT_TRUE(response.body == body);
  EXPECT_EQ(scene.forwarding().at("failures"), 1);
}

TEST(Parent, IsAskedAgainAtOnceIfTheOriginCannotBeReached) {
  const ReservedPort nobody;
  ScriptedOrigin parent;
  parent.on("/a", Reply::hang_up());
  parent.on("/b", cacheable("by the parent"));
  const ProxyProcess proxy(with_parent("p", parent.port()));
  Client client(proxy.port());
  const auto origin = "http://127.0.0.1:" + std::to_string(nobody.port());
  EXPECT_EQ(client.get(origin + "/a").status, 502);
  EXPECT_EQ(client.get(origin + "/b").body, "by the parent") << "though it rests";
}

TEST(Parent, IsAskedForNoAddressThatIsDeniedHere) {
  ParentScene scene(json{{"access", {{"deny_to", {"10.0.0.0/8", "127.0.0.0/8"}}}}});
  EXPECT_EQ(scene.client.get("http://localhost:1/").status, 403);
  EXPECT_EQ(scene.get("/a").status, 403);
  EXPECT_EQ(scene.parent.count(), 0U);
}

TEST(Parent, WhoseAnswerThisProxyRefusesDoesNotRest) {
  ParentScene scene;
  scene.parent.on("/a", Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"));
  EXPECT_EQ(scene.get("/a").body, "from the origin");
  EXPECT_EQ(scene.forwarding().at("state"), "usable");
}

TEST(Parent, IsTheOnlyWayToHostsThatNeverDirectNames) {
  ScriptedOrigin other;
  other.on("/a", cacheable("from the other origin"));
  ScriptedOrigin origin;
  ScriptedOrigin parent;
  parent.otherwise([](const Request&) { return Reply(503); });
  json settings = with_parent("p", parent.port());
  settings["never_direct"] = {authority_of(origin.url("/"))};
  const ProxyProcess proxy(settings);
  Client client(proxy.port());
  EXPECT_EQ(client.get(origin.url("/a")).status, 503) << "the parent's answer";
  EXPECT_EQ(origin.count(), 0U);
  EXPECT_EQ(client.get(other.url("/a")).body, "from the other origin");
}

TEST(Parent, IsAskedForItsHostsOnly) {
  ScriptedOrigin first;
  ScriptedOrigin second;
  for (auto* origin : {&first, &second}) origin->on("/a", cacheable("from the origin"));
  for (const char* list : {"for", "not_for"}) {
    ParentScene scene(json::object(), {{list, {authority_of(first.url("/"))}}});
    const bool takes_first = std::string_view(list) == "for";
    EXPECT_EQ(scene.client.get(first.url("/a")).body,
              takes_first ? "by the parent" : "from the origin");
    EXPECT_EQ(scene.client.get(second.url("/a")).body,
              takes_first ? "from the origin" : "by the parent");
  }
}

TEST(Parent, IsAskedForWhatItsDigestClaimsByOnlyIfCached) {
  ScriptedOrigin origin;
  ScriptedOrigin parent;
  parent.on(kDigestPath, digest_reply(digest_claiming({origin.url("/a"), origin.url("/b")})));
  parent.sign_as("b");
  parent.on("/a", cacheable("from the parent's store"));
  parent.on("/b", [](const Request& request) {
    const bool has_to_hold = contains(request.field("Cache-Control"), "only-if-cached");
    return has_to_hold ? Reply(504) : cacheable("by the parent");
  });
  json settings = with_parent("p", parent.port());
  settings["peers"][0].erase("digest");
  ProxyProcess proxy(settings);
  ASSERT_TRUE(await([&] { return proxy.digest_peer("p").at("state") == "usable"; }));
  Client client(proxy.port());
  const Response held = client.get(origin.url("/a"));
  EXPECT_EQ(held.body, "from the parent's store");
  EXPECT_TRUE(contains(held.field("Cache-Status"), "peer/p")) << held.field("Cache-Status");
  EXPECT_EQ(proxy.logged(origin.url("/a")).hierarchy, "CD_PARENT_HIT");
  EXPECT_EQ(client.get(origin.url("/b")).body, "by the parent");
  EXPECT_EQ(parent.count("/b"), 2U) << "first its store, then the parent itself";
  EXPECT_EQ(origin.count(), 0U);
}

TEST(Parent, IsNotAskedBackByItsOwnParent) {
  const Listener at_a;
  const Listener at_b;
  ScriptedOrigin origin;
  origin.on("/a", cacheable("from the origin"));
  const ProxyProcess a(Neighbours::named("a", with_parent("b", at_b.port())), at_a);
  const ProxyProcess b(Neighbours::named("b", with_parent("a", at_a.port())), at_b);
  EXPECT_EQ(Client(a.port()).get(origin.url("/a")).body, "from the origin");
  EXPECT_EQ(origin.count(), 1U);
}

// Which parent, by its name, answers for each of these paths.
std::vector<std::string> answered_by(ProxyProcess& proxy, const ScriptedOrigin& origin) {
  Client client(proxy.port());
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back(client.get(origin.url("/" + std::to_string(i))).body);
  }
  return names;
}

TEST(Parents, ShareTheUrlsAtEveryProxyAlike) {
  const TwoParents scene;
  ProxyProcess one(scene.settings("p", "q"));
  ProxyProcess other(scene.settings("q", "p"));
  const auto names = answered_by(one, scene.origin);
  EXPECT_EQ(names, answered_by(one, scene.origin));
  EXPECT_EQ(names, answered_by(other, scene.origin));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 2U);
}

TEST(Parents, TakeOverWhatOneOfThemFails) {
  TwoParents scene;
  ProxyProcess proxy(scene.settings("p", "q"));
  const auto before = answered_by(proxy, scene.origin);
  scene.p.otherwise([](const Request&) { return Reply::hang_up(); });
  const auto after = answered_by(proxy, scene.origin);
  EXPECT_EQ(after, std::vector<std::string>(40, "q"));
  const auto given = std::count(before.begin(), before.end(), "p");
  EXPECT_LE(scene.p.count(), static_cast<std::size_t>(given) + 2)
      << "one request finds out, on an old connection and on a new one";
}

}  // namespace
}  // namespace scenario
