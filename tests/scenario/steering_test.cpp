// Fields that a client writes to steer an origin. What the origin answers to one client must not
// reach others.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// An origin whose body shows the field, and which names it in Vary if `varies`.
void show(ScriptedOrigin& origin, const std::string& name, bool varies) {
  origin.on("/a", [=](const Request& request) {
    Reply reply = cacheable("saw " + request.field(name));
    return varies ? reply.with("Vary", name) : reply;
  });
}

TEST(ConnectionOptions, NoFieldThatTheyNameSelectsAVariant) {
  for (const char* name : {"Accept-Language", "Origin", "Accept", "Accept-Encoding", "User-Agent",
                           "X-Forwarded-Proto", "X-Unknown"}) {
    Scene scene;
    show(scene.origin, name, true);
    const auto url = scene.origin.url("/a");
    const auto poison = scene.client.get(url, {{name, "de"}, {"Connection", name}});
    EXPECT_EQ(poison.body, "saw ") << name;
    EXPECT_EQ(scene.client.get(url, {{name, "de"}}).body, "saw de") << name;
    EXPECT_TRUE(is_hit(scene.client.get(url))) << name << " the poisoned one had none";
  }
}

struct Gateway {
  explicit Gateway(json more = json::object())
      : proxy([&] {
          more["reverse"] = {{{"host", "www.test"}, {"to", origin.url("")}}};
          return more;
        }()) {}
  Response ask(const Fields& fields) {
    client.send(origin_form_text("www.test", "GET", "/a", fields));
    return client.read("GET");
  }

  ScriptedOrigin origin;
  ProxyProcess proxy;
  Client client{proxy.port()};
};

const char* const kSteering[] = {
    "X-Forwarded-Host",       "X-Forwarded-Proto",     "X-Forwarded-Port",
    "X-Forwarded-Prefix",     "X-Forwarded-Scheme",    "X-Forwarded-Server",
    "X-Original-URL",         "X-Rewrite-URL",         "X-Host",
    "X-HTTP-Method-Override", "X_Forwarded_Host",      "X.Forwarded.Host",
    "X~Forwarded!Host",       "x.http|method+override"};

TEST(ReverseSteering, ByDefaultAndWithRemoveNoFieldOfTheFamilyReachesTheOrigin) {
  for (const json& settings :
       {json::object(), json{{"forwarded", "replace"}}, json{{"forwarded", "remove"}}}) {
    Gateway gateway(settings);
    for (const std::string name : kSteering) {
      show(gateway.origin, name, false);
      EXPECT_EQ(gateway.ask({{name, "evil"}, {"Cache-Control", "no-cache"}}).body, "saw ") << name;
    }
    show(gateway.origin, "X-Real-IP", false);
    const Fields said{{"X-Real-IP", "192.0.2.7"}, {"Cache-Control", "no-cache"}};
    EXPECT_EQ(gateway.ask(said).body, "saw ");
  }
}

TEST(ReverseSteering, WhereAFieldPassesItSelectsWhatIsStored) {
  for (const json& settings : {json{{"forwarded", "off"}}, json{{"forwarded", "append"}}}) {
    for (const std::string name : kSteering) {
      Gateway gateway(settings);
      show(gateway.origin, name, false);
      EXPECT_EQ(gateway.ask({{name, "evil"}}).body, "saw evil") << name;
      EXPECT_EQ(gateway.ask({}).body, "saw ") << name;
      EXPECT_TRUE(is_hit(gateway.ask({{name, "evil"}}))) << name;
      EXPECT_TRUE(is_hit(gateway.ask({}))) << name;
    }
  }
}

TEST(ReverseSteering, ForwardedWithAHostSelectsAndWithAnAddressDoesNot) {
  Gateway gateway(json{{"forwarded", "append"}});
  show(gateway.origin, "Forwarded", false);
  EXPECT_EQ(gateway.ask({{"Forwarded", "host=evil"}}).body, "saw host=evil, for=127.0.0.1");
  EXPECT_EQ(gateway.ask({{"Forwarded", "for=192.0.2.7"}}).body, "saw for=192.0.2.7, for=127.0.0.1");
  EXPECT_TRUE(is_hit(gateway.ask({{"X-Forwarded-For", "192.0.2.9"}})));
}

// A CGI server reads the client's own spelling and ours as one variable.
TEST(ReverseSteering, WhatTellsTheClientInOddSpellingIsMergedWithOurs) {
  Gateway gateway(json{{"forwarded", "append"}});
  gateway.ask({{"X.Forwarded_For", "192.0.2.7"}});
  const Request request = gateway.origin.requests("/a").at(0);
  EXPECT_EQ(request.field("X-Forwarded-For"), "192.0.2.7, 127.0.0.1");
  EXPECT_FALSE(request.has("X.Forwarded_For"));
}

TEST(ReverseSteering, TheSettingsNameMoreFieldsAndLetSomeThrough) {
  Gateway gateway(
      json{{"forwarded_drop", {"X-Tenant"}}, {"forwarded_pass", {"X-Forwarded-Proto"}}});
  show(gateway.origin, "X-Tenant", false);
  EXPECT_EQ(gateway.ask({{"X-Tenant", "evil"}}).body, "saw ");
  gateway.origin.on(
      "/a", [](const Request& request) { return cacheable(request.field("X-Forwarded-Proto")); });
  EXPECT_EQ(gateway.ask({{"X-Forwarded-Proto", "https"}}).body, "https") << "not what is stored";
  EXPECT_TRUE(is_hit(gateway.ask({{"X-Forwarded-Proto", "https"}})));
  EXPECT_EQ(gateway.ask({}).body, "saw ") << "stored before";
}

// Also where the response without the field came first, and from disk.
TEST(ReverseSteering, AFieldThatPassesSelectsOnDiskToo) {
  const TemporaryDirectory home;
  Gateway gateway(
      json{{"forwarded", "off"},
           {"cache", {{"disk", {{"path", (home / "c").string()}, {"size", "64MiB"}}}}}});
  show(gateway.origin, "X-Forwarded-Proto", false);
  const Fields secure{{"X-Forwarded-Proto", "https"}};
  EXPECT_EQ(gateway.ask({}).body, "saw ");
  EXPECT_TRUE(await([&] { return gateway.proxy.metric("hearsay_disk_entries") == 1; }));
  EXPECT_EQ(gateway.ask(secure).body, "saw https");
  EXPECT_TRUE(is_hit(gateway.ask(secure)));
  EXPECT_EQ(gateway.ask({}).body, "saw ");
}

TEST(ForwardSteering, WhatAClientWroteIsStoredForItsLikeAlone) {
  Scene scene;
  show(scene.origin, "X-Forwarded-Host", false);
  const auto url = scene.origin.url("/a");
  EXPECT_EQ(scene.client.get(url, {{"X-Forwarded-Host", "evil"}}).body, "saw evil");
  EXPECT_EQ(scene.client.get(url).body, "saw ");
}

TEST(RawBytes, OfATargetAreEncodedInKeyAndRequestAlike) {
  Scene scene;
  scene.origin.otherwise([](const Request& request) { return cacheable(request.target); });
  EXPECT_EQ(scene.client.get(scene.origin.url("/\xc3\xbc?\xff")).body, "/%C3%BC?%FF");
  EXPECT_TRUE(is_hit(scene.client.get(scene.origin.url("/%C3%BC?%FF"))));
}

}  // namespace
}  // namespace scenario
