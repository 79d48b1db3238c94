#include "proxy/command/any_digest.hpp"

#include "tests/proxy/command/digest_invocation.hpp"
#include "tests/support/scripted_origin.hpp"

namespace proxy::command {
namespace {

using support::Reply;
using support::ScriptedOrigin;

constexpr const char* kNative = "/digest/native";
constexpr const char* kSquid = "/squid-internal-periodic/store_digest";

std::string squids_digest() {
  return read_file(FUZZ_CORPUS "/squid_digest/idle_squid");
}

std::string native_digest() {
  const digest::Shape shape{.bits = 960, .hashes = 8, .derivation = digest::Derivation::salted};
  digest::NativeDigest native{1, 2, 80, 0, 0, *digest::BloomFilter::create(shape)};
  native.checksum = digest::checksum_of(native.filter.bytes());
  const auto bytes = digest::encode_snapshot(native);
  return {bytes.begin(), bytes.end()};
}

Reply ok(std::string body) {
  Reply reply(200);
  reply.body(std::move(body));
  return reply;
}

TEST(Fetch, TakesAHearsaysDigestFirst) {
  ScriptedOrigin proxy;
  proxy.on(kNative, ok(native_digest()));
  for (const char* path : {"", "/"}) {
    const Json told = json_of(run_digest({"info", "--json", proxy.url(path)}));
    EXPECT_EQ(told.at("kind"), "native");
    EXPECT_EQ(told.at("url"), proxy.url(kNative));
    EXPECT_EQ(told.at("epoch"), "0000000000000001");
    EXPECT_EQ(told.at("generation"), 2);
    EXPECT_EQ(told.at("capacity"), 80);
    EXPECT_EQ(told.at("salted"), true);
  }
  EXPECT_EQ(proxy.count(kSquid), 0U);
}

TEST(Fetch, TakesASquidsWhereThereIsNoOther) {
  ScriptedOrigin proxy;
  proxy.on(kSquid, ok(squids_digest()));
  for (const Reply& other : {Reply(404), Reply(400), Reply(403), ok("<html>")}) {
    proxy.on(kNative, other);
    const Json told = json_of(run_digest({"info", "--json", proxy.url("/")}));
    EXPECT_EQ(told.at("kind"), "squid");
    EXPECT_EQ(told.at("entries"), 51);
  }
}

TEST(Fetch, TakesADigestOfAnyPathAsItStands) {
  ScriptedOrigin server;
  server.on("/saved/digest", ok(squids_digest()));
  EXPECT_EQ(run_digest({"info", server.url("/saved/digest")}).code, 0);
  EXPECT_EQ(server.count(), 1U);
  const std::string icon = "http://squid.test:9003/squid-internal-static/icons/SN.png";
  EXPECT_EQ(run_digest({"query", server.url("/saved/digest"), icon}).code, 0);
}

TEST(Fetch, SaysThatItIsRefusedAndWhatToDo) {
  ScriptedOrigin proxy;
  proxy.otherwise([](const support::Request&) { return Reply(403); });
  const Said said = run_digest({"info", proxy.url("")});
  EXPECT_EQ(said.code, 2);
  for (const char* part : {kNative, "refused (403)", "access.peers", "http_access"}) {
    EXPECT_TRUE(contains(said.err, part)) << said.err;
  }
}

TEST(Fetch, SaysThatThereIsNoDigestYet) {
  ScriptedOrigin proxy;
  const Said said = run_digest({"info", proxy.url("")});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "404")) << said.err;
  EXPECT_TRUE(contains(said.err, "building")) << said.err;
}

TEST(Fetch, IsBoundedInSizeAndTime) {
  ScriptedOrigin proxy;
  Reply endless(200);
  endless.chunked();
  for (int i = 0; i < 70; ++i) endless.send(std::string(std::size_t{1} << 20, 'x'));
  proxy.on("/endless", endless);
  const Said large = run_digest({"info", proxy.url("/endless")});
  EXPECT_EQ(large.code, 2);
  EXPECT_TRUE(contains(large.err, "larger than any digest")) << large.err;

  Reply silent(200);
  silent.wait(support::Gate());
  proxy.on("/silent", silent);
  const Said slow = run_digest({"info", "--timeout", "0.2", proxy.url("/silent")});
  EXPECT_EQ(slow.code, 2);
  EXPECT_TRUE(contains(slow.err, "timed out")) << slow.err;

  proxy.on("/cut", Reply(200).sized(1000).send("x").cut());
  EXPECT_EQ(run_digest({"info", proxy.url("/cut")}).code, 2);
}

TEST(Fetch, FollowsNoRedirect) {
  ScriptedOrigin proxy;
  proxy.on("/there", ok(squids_digest()));
  proxy.on("/here", Reply(302, {{"Location", proxy.url("/there")}}));
  const Said said = run_digest({"info", proxy.url("/here")});
  EXPECT_EQ(said.code, 2);
  EXPECT_TRUE(contains(said.err, "302")) << said.err;
}

}  // namespace
}  // namespace proxy::command
