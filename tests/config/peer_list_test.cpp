#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string peers(const std::string& list) {
  return R"({"listen":["127.0.0.1:3128"],"peers":[)" + list + "]}";
}

TEST(Peers, AreSiblingsWhoseDigestIsFoundOutAndWhoseNameIsTheirPlace) {
  const auto settings = load(peers(R"({"url":"http://B.lan:3128/"})"));
  ASSERT_TRUE(settings.has_value());
  PeerSettings expected;
  expected.name = "b.lan-3128";
  expected.url = "http://B.lan:3128/";
  expected.host = "b.lan";
  expected.port = 3128;
  EXPECT_EQ(settings->peers.at(0), expected);
}

TEST(Peers, TakeTheirNameRoleAndDigestFromTheSettings) {
  const auto settings = load(peers(
      R"({"url":"http://b:1","name":"x","role":"sibling","digest":"squid"},{"url":"http://b:2","digest":"none"},{"url":"http://b:3","digest":"native"})"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->peers.at(0).name, "x");
  EXPECT_EQ(settings->peers.at(0).digest, PeerDigest::squid);
  EXPECT_EQ(settings->peers.at(1).digest, PeerDigest::none);
  EXPECT_EQ(settings->peers.at(2).digest, PeerDigest::native);
}

TEST(Peers, AreTrustedAsTheSettingsSay) {
  const auto settings =
      load(peers(R"({"url":"http://b:1","trust":"guest"},{"url":"http://b:2","trust":"site"})"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->peers.at(0).trust, Trust::guest);
  EXPECT_EQ(settings->peers.at(1).trust, Trust::site);
}

TEST(Peers, OfTheRoleParentFetchForTheHostsThatTheSettingsName) {
  const auto settings = load(peers(
      R"({"url":"https://b","role":"parent","weight":3,"for":["*.x.org","y.org:8080"],"not_for":["a.x.org"],"login":"me:s:t"})"));
  ASSERT_TRUE(settings.has_value());
  const PeerSettings& peer = settings->peers.at(0);
  EXPECT_EQ(peer.role, Role::parent);
  EXPECT_TRUE(peer.tls);
  EXPECT_EQ(peer.port, 443);
  EXPECT_EQ(peer.weight, 3u);
  const std::vector<HostSpec> hosts{{"*.x.org", {}}, {"y.org", 8080}};
  EXPECT_EQ(peer.hosts.only, hosts);
  EXPECT_EQ(peer.hosts.never, (std::vector<HostSpec>{{"a.x.org", {}}}));
  EXPECT_EQ(peer.login, "me:s:t");
}

TEST(Peers, NeverSeeTheirPasswordRepeatedInAnError) {
  const auto settings = load(peers(R"({"url":"http://b:1","login":"secret"})"));
  ASSERT_TRUE(settings.has_error());
  EXPECT_EQ(settings.error()[0].what.find("secret"), std::string::npos);
}

TEST(NeverDirect, TakesAListOfHostsOrAll) {
  const std::string parent = R"({"peers":[{"url":"http://b:1","role":"parent"}],"never_direct":)";
  const auto all = load(parent + R"("all"})");
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->never_direct, (std::vector<HostSpec>{{"*", {}}}));
  const auto some = load(parent + R"(["*.x.org","y.org"]})");
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->never_direct, (std::vector<HostSpec>{{"*.x.org", {}}, {"y.org", {}}}));
}

TEST(NeverDirect, IsRefusedWithoutAParentAndWhereItNamesNoHost) {
  for (const std::string text :
       {R"({"never_direct":"all"})", R"({"peers":[{"url":"http://b:1"}],"never_direct":"all"})",
        R"({"peers":[{"url":"http://b:1","role":"parent"}],"never_direct":"some"})",
        R"({"peers":[{"url":"http://b:1","role":"parent"}],"never_direct":[]})"}) {
    const auto settings = load(text);
    ASSERT_TRUE(settings.has_error()) << text;
    EXPECT_TRUE(settings.error()[0].where.ends_with("never_direct")) << settings.error()[0].where;
  }
}

struct Fault {
  std::string list, path, words;
};

// One list serves all members of a site; proxy/server/settings_file.cpp leaves out the entry.
TEST(Peers, MayNameOurselves) {
  EXPECT_TRUE(load(peers(R"({"url":"http://127.0.0.1:3128"},{"url":"http://b:1"})")).has_value());
}

TEST(PacFallback, ListsWhatClientsTryNext) {
  EXPECT_EQ(load("{}")->pages.pac_fallback, (std::vector<std::string>{"neighbours", "DIRECT"}));
  EXPECT_TRUE(load(R"({"pac_fallback":[]})")->pages.pac_fallback.empty());
  const auto settings =
      load(R"({"pac_fallback":["http://B:3128","neighbours","https://[::1]:8443/","DIRECT"]})");
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->pages.pac_fallback,
            (std::vector<std::string>{"PROXY b:3128", "neighbours", "HTTPS [::1]:8443", "DIRECT"}));
  for (const auto& [list, what] :
       {std::pair(R"(["DIRECT","http://b:1"])", "\"DIRECT\" comes before"),
        std::pair(R"(["neighbors"])", "mean \"neighbours\"?"),
        std::pair(R"([7])", "found the number 7"),
        std::pair(R"(["b:3128"])", "like \"http://10.0.0.2:3128\""),
        std::pair(R"("DIRECT")", "a list of proxies")}) {
    const auto wrong = load(std::string("{\"pac_fallback\":") + list + '}');
    ASSERT_TRUE(wrong.has_error()) << list;
    EXPECT_NE(wrong.error().at(0).what.find(what), std::string::npos) << wrong.error().at(0).what;
  }
}

TEST(Peers, AreRefusedWithTheirPlaceAndTheReason) {
  const std::string b = R"({"url":"http://b:1"},)";
  for (const Fault& c : {
           Fault{R"({})", "peers[0]", "\"url\""},
           Fault{R"(7)", "peers[0]", "found the number 7"},
           Fault{R"({"url":7})", "peers[0].url", "found the number 7"},
           Fault{R"({"url":"http://b:1/x"})", "peers[0].url", "without path"},
           Fault{R"({"url":"https://b:1/x"})", "peers[0].url", "without path"},
           Fault{R"({"url":"http://b:1","name":"a b"})", "peers[0].name", "found \"a b\""},
           Fault{R"({"url":"http://b:1","role":"parents"})", "peers[0].role", "mean \"parent\"?"},
           Fault{R"({"url":"http://b:1","role":"parent","trust":"guest"})", "peers[0].trust",
                 "cannot be a parent"},
           Fault{R"({"url":"http://b:1","weight":2})", "peers[0].weight", "is for parents"},
           Fault{R"({"url":"http://b:1","role":"parent","weight":0})", "peers[0].weight",
                 "from 1 to 1000"},
           Fault{R"({"url":"http://b:1","for":["a b"]})", "peers[0].for[0]", "a host like"},
           Fault{R"({"url":"http://b:1","not_for":[]})", "peers[0].not_for", "at least one host"},
           Fault{R"({"url":"http://b:1","login":"name"})", "peers[0].login", "USER:PASSWORD"},
           Fault{R"({"url":"http://b:1","login":":x"})", "peers[0].login", "USER:PASSWORD"},
           Fault{R"({"url":"http://b:1","digest":"squit"})", "peers[0].digest", "mean \"squid\"?"},
           Fault{R"({"url":"http://b:1","trust":"gest"})", "peers[0].trust", "mean \"guest\"?"},
           Fault{b + R"({"url":"http://B:1/"})", "peers[1]", "same host and port as peers[0]"},
           Fault{b + R"({"url":"http://c:1","name":"b-1"})", "peers[1]", "same name as peers[0]"},
       }) {
    const auto settings = load(peers(c.list));
    ASSERT_TRUE(settings.has_error()) << c.list;
    ASSERT_EQ(settings.error().size(), 1u) << c.list;
    EXPECT_TRUE(settings.error()[0].where.ends_with(", " + c.path)) << settings.error()[0].where;
    EXPECT_NE(settings.error()[0].what.find(c.words), std::string::npos)
        << settings.error()[0].what;
  }
}

}  // namespace
}  // namespace config
