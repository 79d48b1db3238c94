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
  const PeerSettings expected{"b.lan-3128",  "http://B.lan:3128/",  "b.lan",    3128,
                              Role::sibling, PeerDigest::automatic, Trust::site};
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

struct Fault {
  std::string list, path, words;
};

TEST(Peers, AreRefusedWithTheirPlaceAndTheReason) {
  const std::string b = R"({"url":"http://b:1"},)";
  for (const Fault& c : {
           Fault{R"({})", "peers[0]", "\"url\""},
           Fault{R"(7)", "peers[0]", "found the number 7"},
           Fault{R"({"url":7})", "peers[0].url", "found the number 7"},
           Fault{R"({"url":"http://b:1/x"})", "peers[0].url", "without path"},
           Fault{R"({"url":"https://b:1"})", "peers[0].url", "not built yet"},
           Fault{R"({"url":"http://localhost:3128"})", "peers[0].url", "we listen"},
           Fault{R"({"url":"http://b:1","name":"a b"})", "peers[0].name", "found \"a b\""},
           Fault{R"({"url":"http://b:1","role":"parent"})", "peers[0].role", "not built yet"},
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
