// A malformed digest is refused, counted and explained, and the old one stays in use.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

void put32(std::string& digest, std::size_t at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i)
    digest[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
}

std::string changed(std::size_t at, char byte) {
  std::string digest = digest_claiming({"http://origin.test/a"});
  digest[at] = byte;
  return digest;
}

std::string announcing_mask(std::uint32_t bytes) {
  std::string digest = digest_claiming({"http://origin.test/a"});
  put32(digest, 16, bytes);
  return digest;
}

std::string filled(char byte) {
  std::string digest = digest_claiming({});
  std::fill(digest.begin() + 128, digest.end(), byte);
  return digest;
}

Reply endless() {
  Reply reply = Reply(200, {{"Server", "Hearsay/0.1.0"}}).chunked();
  for (int i = 0; i < 40; ++i) reply.send(std::string(100'000, 'x'));
  return reply.wait(Gate());
}

// A good digest, but a line that continues no field stands where `place` says.
enum class Folded { first, after_interim, in_trailers };
Reply folded(Folded place) {
  const std::string digest = digest_claiming({"http://origin.test/a"});
  const std::string line = " a: b\r\n";
  const std::string fields = "Server: squid/5.7\r\nX-Alike: like all\r\n";
  const auto size = std::to_string(digest.size());
  switch (place) {
    case Folded::first:
      return Reply::raw("HTTP/1.1 200 OK\r\n" + line + fields + "Content-Length: " + size +
                        "\r\n\r\n" + digest);
    case Folded::after_interim:
      return Reply::raw("HTTP/1.1 103 Early Hints\r\nX-Alike: like all\r\n\r\nHTTP/1.1 200 OK\r\n" +
                        line + fields + "Content-Length: " + size + "\r\n\r\n" + digest);
    case Folded::in_trailers:
      break;
  }
  std::ostringstream body;
  body << std::hex << digest.size() << "\r\n" << digest << "\r\n0\r\n" << line << "\r\n";
  return Reply::raw("HTTP/1.1 200 OK\r\n" + fields + "Transfer-Encoding: chunked\r\n\r\n" +
                    body.str());
}

struct Hostile {
  const char* name;
  Reply reply;
};

void PrintTo(const Hostile& test, std::ostream* out) {
  *out << test.name;
}

class HostileDigest : public testing::TestWithParam<Hostile> {};

TEST_P(HostileDigest, IsRefusedWithItsReasonWhileTheOldOneStays) {
  PeerScene scene({"/a"}, {{"digest", {{"peer_memory", "1MiB"}}}});
  scene.peer.on("/a", cacheable("from the peer"));
  scene.origin.on("/a", cacheable("from the origin").slow(allowed(std::chrono::seconds(2)), 0));
  scene.peer.on(kDigestPath, GetParam().reply);
  EXPECT_TRUE(await([&] { return scene.books().at("polls_failed") > 0; }));
  const json books = scene.books();
  EXPECT_TRUE(books.at("last_error").is_string()) << books;
  EXPECT_FALSE(books.at("last_error").get<std::string>().empty());
  EXPECT_EQ(books.at("entries"), 1);
  EXPECT_EQ(scene.client->get(scene.origin.url("/a")).body, "from the peer");
}

INSTANTIATE_TEST_SUITE_P(
    Peers, HostileDigest,
    testing::Values(Hostile{"Empty", digest_reply("")},
                    Hostile{"NotADigest", digest_reply(std::string(4000, 'x'))},
                    Hostile{"VersionTooNew", digest_reply(changed(3, 9))},
                    Hostile{"VersionTooOld", digest_reply(changed(1, 2))},
                    Hostile{"NoCapacity", digest_reply([] {
                              std::string digest = digest_claiming({});
                              put32(digest, 4, 0);
                              return digest;
                            }())},
                    Hostile{"NoMask", digest_reply(announcing_mask(0))},
                    Hostile{"NegativeMask", digest_reply(announcing_mask(0xffffffff))},
                    Hostile{"HugeMaskAnnounced", digest_reply(announcing_mask(0x7fffffff))},
                    Hostile{"ShorterMask", digest_reply(announcing_mask(1281))},
                    Hostile{"LongerMask", digest_reply(announcing_mask(1279))},
                    Hostile{"OtherHashCount", digest_reply(changed(21, 7))},
                    Hostile{"NegativeBitsPerEntry",
                            digest_reply(changed(20, static_cast<char>(200)))},
                    Hostile{"TooFull", digest_reply(filled(static_cast<char>(0xff)))},
                    Hostile{"Oversize", digest_reply(digest_claiming({}, 4'000'000))},
                    Hostile{"Cut", Reply(200, {{"Server", "Hearsay/0.1.0"}})
                                       .sized(1408)
                                       .send(digest_claiming({}).substr(0, 500))
                                       .cut()},
                    Hostile{"Endless", endless()}, Hostile{"Unasked304", Reply(304)},
                    Hostile{"Forbidden", Reply(403)},
                    Hostile{"Redirected", Reply(302, {{"Location", "http://127.0.0.1:9/"}})},
                    Hostile{"HangsUp", Reply::hang_up()},
                    Hostile{"FoldedFirstLine", folded(Folded::first)},
                    Hostile{"FoldedFirstLineAfterInterim", folded(Folded::after_interim)},
                    Hostile{"FoldedTrailer", folded(Folded::in_trailers)},
                    Hostile{"Babble", Reply::raw("220 mail.test ESMTP\r\n")}),
    [](const auto& test) { return test.param.name; });

TEST(Peers, WithAHostileDigestFromTheStartAreNeverAsked) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("from the origin"));
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(filled(static_cast<char>(0xff))));
  peer.sign_as("b");
  const ProxyProcess proxy(with_peer("b", peer.port()));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("polls_failed") > 0; }));
  EXPECT_EQ(proxy.digest_peer("b").at("state"), "failing");
  EXPECT_TRUE(proxy.digest_peer("b").at("entries").is_null());
  EXPECT_EQ(Client(proxy.port()).get(origin.url("/a")).body, "from the origin");
  EXPECT_EQ(peer.count("/a"), 0U);
}

// libcurl 7.88 reads freed memory if such an answer follows another one on its handle.
TEST(Peers, WithFoldedFirstLinesKeepNobodyBusy) {
  PeerScene scene({"/a"});
  scene.peer.on(kDigestPath, folded(Folded::first));
  ASSERT_TRUE(await([&] { return scene.books().at("polls_failed") >= 4; }));
  scene.peer.on(kDigestPath, digest_reply(digest_claiming({scene.origin.url("/b")})));
  EXPECT_TRUE(await([&] { return scene.books().at("last_error").is_null(); }));
  EXPECT_EQ(scene.proxy->terminate(std::chrono::seconds(5)), 0);
}

TEST(Peers, AreUsedAgainOnceTheirDigestIsGood) {
  PeerScene scene({"/a"});
  scene.peer.on(kDigestPath, Reply(500));
  ASSERT_TRUE(await([&] { return scene.books().at("polls_failed") > 0; }));
  scene.peer.on(kDigestPath,
                digest_reply(digest_claiming({scene.origin.url("/b"), scene.origin.url("/c")})));
  EXPECT_TRUE(await([&] { return scene.books().at("entries") == 2; }));
  EXPECT_TRUE(scene.books().at("last_error").is_null());
}

}  // namespace
}  // namespace scenario
