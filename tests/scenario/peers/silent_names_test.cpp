// What neighbours are asked and blamed for while the name servers are silent.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

// This process and its children have one name server, which never answers.
class SilentNameServer {
 public:
  SilentNameServer() {
    support::write_file(file_, "nameserver 127.0.0.53\n");
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(53);
    ::inet_pton(AF_INET, "127.0.0.53", &at.sin_addr);
    made_ = ::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
            ::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount(file_.c_str(), kPlace, nullptr, MS_BIND, nullptr) == 0;
    why_not_ = std::strerror(errno);
  }
  SilentNameServer(const SilentNameServer&) = delete;
  SilentNameServer& operator=(const SilentNameServer&) = delete;
  ~SilentNameServer() {
    if (made_) ::umount2(kPlace, MNT_DETACH);
    ::close(socket_);
  }
  bool made() const { return made_; }
  std::string why_not() const { return std::string("no name server is possible: ") + why_not_; }

 private:
  static constexpr const char* kPlace = "/etc/resolv.conf";

  TemporaryDirectory home_;
  const std::filesystem::path file_ = home_ / "resolv.conf";
  const int socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  bool made_ = false;
  const char* why_not_ = "";
};

TEST(SilentNames, AnOfflineProxyAsksItsNeighboursAndBlamesNone) {
  const SilentNameServer names;
  if (!names.made()) GTEST_SKIP() << names.why_not();
  ScriptedOrigin peer;
  peer.on(kDigestPath, digest_reply(digest_claiming({"http://nowhere.test/a"})));
  peer.sign_as("b");
  peer.on("/a", cacheable("from b"));
  auto settings = with_peer("b", peer.port(),
                            json{{"cache", {{"offline", true}}},
                                 {"timeouts", {{"peer_connect", "100ms"}}},
                                 {"access", {{"deny_to", {"loopback", "10.0.0.0/8"}}}}});
  settings["peers"].push_back({{"name", "c"}, {"url", "http://c.test:3128"}});
  ProxyProcess proxy(settings);
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  // Before that, a late answer might still come, and deny the address.
  ASSERT_TRUE(await([&] { return contains(proxy.page("/health").body, "name resolution"); }));
  const auto given = Client(proxy.port()).get("http://nowhere.test/a");
  EXPECT_EQ(given.body, "from b") << nearest_cache_status(given);
  EXPECT_EQ(Client(proxy.port()).get("http://10.0.0.1/a").status, 403) << "what is known to be so";
  ASSERT_TRUE(await([&] { return proxy.digest_peer("c").at("state") == "failing"; }));
  EXPECT_EQ(proxy.digest_peer("c").at("last_error"), "the name of its host was not resolved");
  for (const json& reason : json::parse(proxy.page("/health").body).at("reasons")) {
    EXPECT_NE(reason.at("what"), "peer") << reason;
  }
}

}  // namespace
}  // namespace scenario
