#include "proxy/pages/own_pages.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/client/arrival.hpp"
#include "proxy/pages/texts.hpp"
#include "tests/peers/samples.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

using nlohmann::json;

struct Asked {
  const char* name;
  std::string line;
  std::optional<std::string> page;  // its path; "" answers 404
};
class OwnPageAt : public testing::TestWithParam<Asked> {};

TEST_P(OwnPageAt, IsForOriginFormAndForOurOwnAddress) {
  const Scene scene;
  const policy::TextRequest request("", GetParam().line + " HTTP/1.1");
  request.parsed->pin(scene.policy);
  client::record_arrival(scene.client, *request.parsed);
  const auto* const page = own_page(scene.client, *request);
  ASSERT_EQ(page != nullptr, GetParam().page.has_value());
  if (page) {
    EXPECT_EQ(page->path, *GetParam().page);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, OwnPageAt,
    testing::Values(Asked{"Index", "GET /", "/"}, Asked{"Digest", "GET /digest", "/digest"},
                    Asked{"Query", "GET /digest?x", "/digest"},
                    Asked{"Native", "GET /digest/native?epoch=1&since=2", "/digest/native"},
                    Asked{"StoreDigest", "GET /squid-internal-periodic/store_digest",
                          "/squid-internal-periodic/store_digest"},
                    Asked{"Health", "GET /health", "/health"},
                    Asked{"Metrics", "GET /metrics", "/metrics"},
                    Asked{"Purge", "POST /admin/purge", "/admin/purge"},
                    Asked{"List", "GET /admin/cache/list?prefix=a", "/admin/cache/list"},
                    Asked{"Show", "GET /admin/cache/show?url=a", "/admin/cache/show"},
                    Asked{"Verify", "POST /admin/cache/verify", "/admin/cache/verify"},
                    Asked{"Drop", "POST /admin/cache/drop", "/admin/cache/drop"},
                    Asked{"NoSuchPage", "GET /else", ""}, Asked{"Options", "OPTIONS *", ""},
                    Asked{"OurSocket", "GET http://127.0.0.1:3128/digest", "/digest"},
                    Asked{"AnotherPort", "GET http://127.0.0.1:3129/digest", std::nullopt},
                    Asked{"AnotherHost", "GET http://a.test:3128/digest", std::nullopt},
                    Asked{"Tunnel", "CONNECT 127.0.0.1:3128", std::nullopt}),
    [](const auto& tested) { return tested.param.name; });

// In reverse mode the pages of a mapped host are the origin's, but no mapping hides our own pages
// at our own address.
struct AskedMapped {
  const char* name;
  std::string line;
  std::string host;
  bool ours;
};
class OwnPageBesideMappings : public testing::TestWithParam<AskedMapped> {};

TEST_P(OwnPageBesideMappings, IsForOurOwnAddress) {
  auto settings = client::quiet_settings();
  settings.gateway.reverse.resize(2);
  settings.gateway.reverse[0].host = "*";
  settings.gateway.reverse[1].host = "www.example.com";
  for (auto& mapping : settings.gateway.reverse) mapping.to = {{false, "10.0.0.9", 80}};
  Scene scene(settings);
  const std::string text =
      GetParam().line + " HTTP/1.0\r\n" + "Host: " + GetParam().host + "\r\n\r\n";
  const auto request = policy::parse_request(text, {}).value();
  request->pin(scene.policy);
  client::record_arrival(scene.client, *request);
  ASSERT_FALSE(request->terms().chooses_origin);
  EXPECT_EQ(own_page(scene.client, *request) != nullptr, GetParam().ours);
}

INSTANTIATE_TEST_SUITE_P(
    Targets, OwnPageBesideMappings,
    testing::Values(AskedMapped{"Address", "GET /metrics", "127.0.0.1:3128", true},
                    AskedMapped{"Localhost", "GET /health", "localhost:3128", true},
                    AskedMapped{"Name", "GET /digest", "cache-a:3128", true},
                    AskedMapped{"Absolute", "GET http://127.0.0.1:3128/digest", "x", true},
                    AskedMapped{"Purge", "POST /admin/purge", "127.0.0.1:3128", true},
                    AskedMapped{"PurgeOfASite", "POST /admin/purge", "a.test", false},
                    AskedMapped{"NameWithoutPort", "GET /digest", "cache-a", false},
                    AskedMapped{"AnotherAddress", "GET /digest", "10.0.0.1:3128", false},
                    AskedMapped{"Site", "GET /health", "a.test", false},
                    AskedMapped{"SiteByName", "GET /metrics", "www.example.com", false},
                    AskedMapped{"Index", "GET /", "127.0.0.1:3128", false},
                    AskedMapped{"Else", "GET /else", "127.0.0.1:3128", false},
                    AskedMapped{"Options", "OPTIONS *", "a.test", false},
                    AskedMapped{"NeighbourByAnyName", "GET /digest/native", "b.lan:3128", true},
                    AskedMapped{"NativeOfASite", "GET /digest/native", "www.example.com", false},
                    AskedMapped{"Squid", "GET /squid-internal-periodic/store_digest", "b.lan",
                                true}),
    [](const auto& tested) { return tested.param.name; });

std::string served(Scene& scene, policy::Request& request, const OwnPage& page) {
  request.pin(scene.policy);
  server::Http1Body body(scene.input, request.framing);
  return scene.received(serve_own(scene.shared.pages, scene.client, request, page, body));
}

struct Reader {
  const char* name;
  std::string path;
  std::string client;
  std::string lines;
  std::string status;
};
class OwnPageAccess : public testing::TestWithParam<Reader> {};

TEST_P(OwnPageAccess, FollowsTheSettingsAndLetsNobodyBeUsedToRead) {
  auto settings = client::quiet_settings();
  settings.peers.push_back(peers::samples::peer("b"));
  settings.peers[0].host = "10.9.9.9";
  settings.digest.squid.pause = {};
  Scene scene(settings);
  scene.client.address = *config::parse_address(GetParam().client);
  const std::string text = "GET " + GetParam().path + " HTTP/1.1\r\n" + GetParam().lines + "\r\n";
  const auto request = policy::parse_request(text, {}).value();
  scene.response.begin({1, false, false});
  request->pin(scene.policy);
  client::record_arrival(scene.client, *request);
  const auto page = own_page(scene.client, *request);
  ASSERT_TRUE(page);
  EXPECT_EQ(served(scene, *request, *page).substr(9, 3), GetParam().status);
  EXPECT_EQ(scene.record.tag, observe::Tag::own_page) << "neither denied nor a miss";
}

const std::string kHost = "Host: 127.0.0.1\r\n";
const std::string kMeant = "X-Hearsay: 1\r\n";
const std::string kStoreDigest = "/squid-internal-periodic/store_digest";
const std::string kNative = "/digest/native";
const std::string kOfSquid =
    "Accept: application/cache-digest\r\nVia: 1.1 a (squid/5.7)\r\nX-Forwarded-For: ::\r\n";

INSTANTIATE_TEST_SUITE_P(
    Audience, OwnPageAccess,
    testing::Values(
        Reader{"Monitor", "/digest", "192.168.0.1", kHost, "200"},
        Reader{"Stranger", "/digest", "203.0.113.1", kHost, "403"},
        Reader{"StrangerToMetrics", "/metrics", "203.0.113.1", kHost, "403"},
        Reader{"StrangerToHealth", "/health", "203.0.113.1", kHost, "403"},
        Reader{"ThroughAProxy", "/digest", "127.0.0.1", kHost + "Via: 1.1 b\r\n", "403"},
        Reader{"ForwardedFor", "/digest", "127.0.0.1", kHost + "X-Forwarded-For: x\r\n", "403"},
        Reader{"ReboundName", "/digest", "127.0.0.1", "Host: evil.test\r\n", "403"},
        Reader{"OurName", "/digest", "127.0.0.1", "Host: cache-a:3128\r\n", "200"},
        Reader{"Localhost", "/digest", "127.0.0.1", "Host: localhost:3128\r\n", "200"},
        Reader{"SquidItself", kStoreDigest, "10.9.9.9", kHost + kOfSquid, "200"},
        Reader{"ClientOfASquid", kStoreDigest, "10.9.9.9",
               kHost + kOfSquid + "X-Forwarded-For: 10.0.0.1\r\n", "403"},
        Reader{"StoreDigestThroughAPeer", kStoreDigest, "10.9.9.9", kHost + "Via: 1.1 b\r\n",
               "403"},
        Reader{"StoreDigestOfAReboundName", kStoreDigest, "10.9.9.9", "Host: evil.test\r\n", "403"},
        Reader{"NativeOfAReboundName", kNative, "10.9.9.9", "Host: evil.test\r\n", "403"},
        Reader{"NativeToASquid", kNative, "10.9.9.9", kHost + kOfSquid, "403"},
        Reader{"AdminToTheStoreDigest", kStoreDigest, "127.0.0.1", kHost, "200"},
        Reader{"MonitorToTheStoreDigest", kStoreDigest, "192.168.0.1", kHost, "403"},
        Reader{"PeerToTheNativeDigest", kNative, "10.9.9.9", kHost, "200"},
        Reader{"AdminToTheNativeDigest", kNative, "127.0.0.1", kHost, "200"},
        Reader{"MonitorToTheNativeDigest", kNative, "192.168.0.1", kHost, "403"},
        Reader{"NativeDigestThroughAPeer", kNative, "10.9.9.9", kHost + "Via: 1.1 b\r\n", "403"},
        Reader{"MonitorToPurge", "/admin/purge", "192.168.0.1", kHost + kMeant, "403"},
        Reader{"AdminToPurge", "/admin/purge", "127.0.0.1", kHost + kMeant, "405"},
        Reader{"PurgeByAWebPage", "/admin/purge", "127.0.0.1", kHost, "403"},
        Reader{"PurgeMeantOtherwise", "/admin/purge", "127.0.0.1", kHost + "X-Hearsay: 0\r\n",
               "403"},
        Reader{"PurgeThroughAProxy", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "X-Forwarded-For: x\r\n", "403"},
        Reader{"PurgeByAReboundName", "/admin/purge", "127.0.0.1", "Host: evil.test\r\n" + kMeant,
               "403"},
        // kHost has no port, so neither has the origin of our own pages.
        Reader{"PurgeByAPageOfOurs", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Origin: http://127.0.0.1\r\nSec-Fetch-Site: same-origin\r\n",
               "405"},
        Reader{"PurgeByAPageBehindTls", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Origin: https://127.0.0.1\r\n", "405"},
        Reader{"PurgeByTheUser", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Sec-Fetch-Site: none\r\n", "405"},
        Reader{"PurgeByAPageInASandbox", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Origin: null\r\n", "403"},
        Reader{"PurgeByAPageOfAnotherOrigin", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Origin: http://127.0.0.1:81\r\n", "403"},
        Reader{"PurgeByTwoOrigins", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Origin: http://127.0.0.1\r\nOrigin: http://127.0.0.1\r\n", "403"},
        Reader{"PurgeFromAnotherSite", "/admin/purge", "127.0.0.1",
               kHost + kMeant + "Sec-Fetch-Site: same-site\r\n", "403"},
        Reader{"AdminFromAnotherSite", "/hearsay/requests", "127.0.0.1",
               kHost + "Sec-Fetch-Site: cross-site\r\n", "403"},
        Reader{"AdminByAPageInASandbox", "/hearsay/requests", "127.0.0.1",
               kHost + "Origin: null\r\n", "403"},
        Reader{"MonitorFromAnotherSite", "/digest", "192.168.0.1",
               kHost + "Sec-Fetch-Site: cross-site\r\n", "200"},
        Reader{"MonitorToTheRequests", "/hearsay/requests", "192.168.0.1", kHost, "403"},
        Reader{"StrangerToTheSignIn", "/hearsay/sign-in", "203.0.113.1", kHost, "200"},
        Reader{"SignInThroughAProxy", "/hearsay/sign-in", "203.0.113.1", kHost + "Via: 1.1 b\r\n",
               "403"},
        Reader{"AdminToTickets", "/admin/tickets", "127.0.0.1", kHost + kMeant, "403"},
        Reader{"NoSuchPage", "/else", "127.0.0.1", kHost, "404"}),
    [](const auto& tested) { return tested.param.name; });

std::string answer_to(const std::string& line, const std::string& lines = "") {
  auto settings = client::quiet_settings();
  settings.digest.squid.pause = {};
  Scene scene(settings);
  const std::string text = line + " HTTP/1.1\r\nHost: 127.0.0.1:3128\r\n" + lines + "\r\n";
  const auto request = policy::parse_request(text, {}).value();
  scene.response.begin({1, request->is_head(), false});
  request->pin(scene.policy);
  client::record_arrival(scene.client, *request);
  return served(scene, *request, *own_page(scene.client, *request));
}

TEST(OwnPages, OthersThanGetAreRefused) {
  EXPECT_EQ(answer_to("DELETE /digest").substr(9, 3), "405");
}

TEST(OwnPages, TheIndexListsThePagesOfTheTable) {
  const auto text = answer_to("GET /");
  EXPECT_NE(text.find("\n/metrics             counters"), std::string::npos) << text;
  EXPECT_NE(text.find("\n/admin/purge         POST: drops"), std::string::npos) << text;
  EXPECT_EQ(text.find("store_digest"), std::string::npos) << "it is for neighbours";
}

TEST(OwnPages, OptionsTellsTheMethodsOfAnyPath) {
  for (const auto* target : {"/digest", "/else", "*"}) {
    const auto text = answer_to(std::string("OPTIONS ") + target);
    EXPECT_EQ(text.substr(9, 3), "200");
    EXPECT_NE(text.find("\r\nAllow: GET, HEAD, OPTIONS\r\n"), std::string::npos) << text;
  }
}

TEST(OwnPages, HealthSaysOk) {
  const auto text = answer_to("GET /health");
  EXPECT_TRUE(text.ends_with("\r\n\r\n{\"status\":\"ok\",\"reasons\":[]}\n")) << text;
  EXPECT_NE(text.find("Cache-Control: no-store\r\n"), std::string::npos) << text;
}

TEST(StoreDigest, IsServedAsSquidReadsIt) {
  const auto text = answer_to("GET " + kStoreDigest);
  EXPECT_NE(text.find("Content-Type: application/cache-digest\r\n"), std::string::npos);
  for (const auto* field : {"Date: ", "Last-Modified: ", "Expires: ", "ETag: \"", "Server: "}) {
    EXPECT_NE(text.find(field), std::string::npos) << field;
  }
  const auto body = text.substr(text.find("\r\n\r\n") + 4);
  EXPECT_TRUE(
      digest::decode(std::span(reinterpret_cast<const std::uint8_t*>(body.data()), body.size())));
}

TEST(StoreDigest, IsNotSentAgainToWhoHasIt) {
  const auto whole = answer_to("HEAD " + kStoreDigest);
  const auto at = whole.find("Last-Modified: ") + 15;
  const auto changed = whole.substr(at, whole.find("\r\n", at) - at);
  const auto text = answer_to("GET " + kStoreDigest, "If-None-Match: *\r\n");
  EXPECT_EQ(text.substr(9, 3), "304");
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

std::string field_of(const std::string& text, const std::string& name) {
  const auto at = text.find(name + ": ") + name.size() + 2;
  return text.substr(at, text.find("\r\n", at) - at);
}

digest::NativeDigest native_in(const std::string& text) {
  const std::string body = text.substr(text.find("\r\n\r\n") + 4);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
  return *digest::decode_native({bytes, body.size()}, nullptr, 1 << 20);
}

TEST(NativeDigest, IsServedWithItsTagAndNotStoredOnTheWay) {
  const auto text = answer_to("GET " + kNative + "?epoch=00000000000000ab&since=3");
  EXPECT_EQ(text.substr(9, 3), "200");
  EXPECT_EQ(field_of(text, "Content-Type"), "application/vnd.hearsay.digest");
  EXPECT_EQ(field_of(text, "Cache-Control"), "no-store");
  EXPECT_TRUE(field_of(text, "Server").starts_with("Hearsay/"));
  const auto digest = native_in(text);
  EXPECT_EQ(field_of(text, "ETag"), peers::native_etag(digest.epoch, digest.generation));
}

TEST(NativeDigest, IsNotSentAgainToWhoHasIt) {
  const auto text = answer_to("GET " + kNative, "If-None-Match: *\r\n");
  EXPECT_EQ(text.substr(9, 3), "304");
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
  EXPECT_EQ(answer_to("GET " + kNative, "If-None-Match: \"other\"\r\n").substr(9, 3), "200");
}

TEST(DigestJson, HasEveryFieldOfTheLiveFilterAndOfTheSquidForm) {
  const Scene scene;
  const auto page = json::parse(digest_json(scene.shared.pages, *scene.policy));
  EXPECT_EQ(page["name"], "cache-a");
  for (const auto* filter : {&page, &page["squid"]}) {
    EXPECT_TRUE((*filter)["epoch"].is_string());
    EXPECT_EQ((*filter)["built_at"].get<std::string>().size(), 24U) << "RFC 3339";
    for (const auto* number :
         {"generation", "entries", "capacity", "bits", "bits_per_entry", "hashes", "bits_set",
          "fill_ratio", "false_positive_rate", "age_seconds", "bytes"}) {
      EXPECT_TRUE((*filter)[number].is_number()) << number;
    }
  }
  EXPECT_EQ(page["peers"], json::array());
  const json nothing{{"requests", 0}, {"bytes", 0}, {"not_modified", 0}};
  EXPECT_EQ(page["served"], (json{{"native", nothing}, {"squid", nothing}}));
}

TEST(DigestJson, HasEveryFieldOfEachPeerAndNullWhereNothingIsKnown) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b"), peers::samples::peer("c")};
  settings.peers[1].host = "c.test";
  Scene scene(settings);
  const auto now = std::chrono::steady_clock::now();
  scene.directory.update(0, peers::samples::report_of({"x"}, now));
  const auto claimants = scene.directory.claimants(peers::samples::key("x"), now);
  ASSERT_EQ(claimants.size(), 1U);
  scene.directory.record(claimants[0],
                         {peers::ClaimOutcome::true_hit, std::chrono::milliseconds(2), 10}, now);
  scene.directory.record(claimants[0],
                         {peers::ClaimOutcome::false_hit, {}, 0, peers::FalseHit::gone}, now);
  claimants[0]->accuracy.probed();
  claimants[0]->accuracy.missed();
  const auto page = json::parse(digest_json(scene.shared.pages, *scene.policy));
  const auto& known = page["peers"][0];
  EXPECT_EQ(known["name"], "b");
  EXPECT_EQ(known["url"], "http://127.0.0.1:3128");
  EXPECT_EQ(known["trust"], "site");
  EXPECT_EQ(known["kind"], "hearsay");
  EXPECT_EQ(known["state"], "usable");
  EXPECT_EQ(known["claims"], 1);
  EXPECT_EQ(known["true_hits"], 1);
  EXPECT_EQ(known["false_hits"], 1);
  EXPECT_EQ(known["false_hit_causes"], (json{{"absent", 0},
                                             {"gone", 1},
                                             {"stale", 0},
                                             {"variant", 0},
                                             {"refused", 0},
                                             {"untold", 0},
                                             {"unknown", 0},
                                             {"unfit", 0}}));
  EXPECT_EQ(known["probes"], 1);
  EXPECT_EQ(known["false_misses"], 1);
  EXPECT_EQ(known["false_miss_rate"], 1.0);
  EXPECT_EQ(known["checks"], 0);
  EXPECT_EQ(known["contradictions"], 0);
  EXPECT_EQ(known["bytes_sent"], 0);
  EXPECT_EQ(known["lookups"], 1);
  EXPECT_TRUE(known["observed_false_positive_rate"].is_null());
  EXPECT_EQ(known["bytes_saved"], 10);
  EXPECT_EQ(known["first_byte_ms"], 2.0);
  EXPECT_TRUE(known["entries"].is_number());
  EXPECT_TRUE(known["false_positive_rate"].is_number());
  EXPECT_GE(known["age_seconds"], 0.0);
  const auto& unknown = page["peers"][1];
  EXPECT_EQ(unknown["kind"], "unknown");
  for (const auto* field :
       {"entries", "generation", "age_seconds", "false_positive_rate", "bytes_sent",
        "observed_false_positive_rate", "false_miss_rate", "first_byte_ms"}) {
    ASSERT_TRUE(unknown.contains(field)) << field;
    EXPECT_TRUE(unknown[field].is_null()) << field;
  }
}

}  // namespace
}  // namespace proxy::pages
