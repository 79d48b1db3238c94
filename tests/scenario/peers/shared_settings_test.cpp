// One settings file for all members of a site: each leaves out the neighbour that is itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

struct SharedSite {
  explicit SharedSite(const std::string& role = "sibling") {
    json peers = json::array();
    for (const char* name : {"a", "b"}) {
      const auto port = sockets[peers.size()].port();
      // By a name, so that only an answer to a poll can tell whose it is.
      peers.push_back({{"url", "http://localhost:" + std::to_string(port)}, {"name", name}});
      if (role == "parent" && peers.size() == 2) peers.back()["role"] = role;
    }
    write_file(folder / "peers.json", json{{"peers", peers}}.dump() + " // of all members");
    for (const char* name : {"a", "b"}) {
      ::setenv("HEARSAY_TEST_MEMBER", name, 1);
      members.emplace_back(settings(), sockets[members.size()]);
    }
  }
  // The same for all members.
  json settings() const {
    return {{"include", {folder / "peers.json"}}, {"name", "${HEARSAY_TEST_MEMBER}"}};
  }
  bool knows_alone(std::size_t member, std::string_view name) const {
    const json peers = members[member].digest().at("peers");
    return peers.size() == 1 && peers[0].at("name") == name && peers[0].at("state") == "usable";
  }

  const support::TemporaryDirectory folder;
  ScriptedOrigin origin;
  std::deque<Listener> sockets{2};
  std::deque<ProxyProcess> members;
};

TEST(SharedSettings, EachMemberKnowsTheOthersAlone) {
  SharedSite site;
  EXPECT_TRUE(await([&] { return site.knows_alone(0, "b") && site.knows_alone(1, "a"); }))
      << site.members[0].digest().dump(2);
  EXPECT_EQ(site.members[0].digest().at("name"), "a");
  EXPECT_EQ(site.members[0].metric("hearsay_peer_up{peer=\"a\"}"), 0);
  EXPECT_FALSE(contains(site.members[0].page("/metrics").body, "peer=\"a\""));
  EXPECT_EQ(site.members[0].page("/health").status, 200) << site.members[0].page("/health").body;
}

TEST(SharedSettings, AParentAsksNotItself) {
  SharedSite site("parent");
  site.origin.on("/x", cacheable("hello"));
  ASSERT_TRUE(await([&] { return site.knows_alone(1, "a"); }));
  EXPECT_EQ(Client(site.members[1].port()).get(site.origin.url("/x")).body, "hello");
  const auto line = site.members[1].logged(site.origin.url("/x"));
  EXPECT_EQ(line.hierarchy, "HIER_DIRECT");
}

// The sandbox is closed by then.
TEST(SharedSettings, AreReadAgainByAReloadWithErrorsThatNameTheirFile) {
  SharedSite site;
  auto& member = site.members[1];
  const std::string file = site.folder / "peers.json";
  write_file(file, "{\n\"peers\": [{\"url\": \"http://127.0.0.1:1\", \"nam\": \"c\"}]}");
  member.reload(site.settings());
  EXPECT_TRUE(contains(member.process().errors(), file + ", line 2, column 41, peers[0].nam"))
      << member.process().errors();
  write_file(file, R"({"peers": [{"url": "http://127.0.0.1:1", "name": "c"}]})");
  member.reload(site.settings());
  EXPECT_TRUE(await([&] { return member.digest().at("peers").at(0).at("name") == "c"; }));
}

}  // namespace
}  // namespace scenario
