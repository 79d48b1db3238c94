#include "proxy/command/squid/parts.hpp"

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

constexpr std::string_view kAcls =
    "acl lan dstdomain .lan.example\nacl one dstdomain one.lan.example\nacl me src 10.0.0.1\n";

std::string with(std::string_view lines) {
  return settings_of(imported(std::string(kAcls) + std::string(lines)));
}

TEST(SquidPeers, AreCarriedOverWithTheirOptions) {
  const std::string all = with(
      "cache_peer A.example parent 3128 3130 no-query no-digest weight=3 login=me:x name=up\n"
      "cache_peer 10.0.0.2 sibling 3128 0\n"
      "cache_peer ::1 parent 443 0 tls\n");
  EXPECT_TRUE(has(all,
                  R"({"url":"http://a.example:3128","role":"parent","name":"up","digest":"none",)"
                  R"("weight":3,"login":"me:x"},)"
                  R"({"url":"http://10.0.0.2:3128","role":"sibling"},)"
                  R"({"url":"https://[::1]:443","role":"parent"}])"))
      << all;
}

TEST(SquidPeers, AreLeftOutWithTheReason) {
  struct Case {
    std::string_view line, why;
  };
  for (const Case& c :
       {Case{"cache_peer a multicast 3128 0", "no multicast"},
        Case{"cache_peer a parent 0 0", "host and port"},
        Case{"cache_peer a/b parent 1 0", "host and port"},
        Case{"cache_peer a parent 1", "not complete"},
        Case{"cache_peer a parent 80 0 originserver", "no port is an accelerator"},
        Case{"cache_peer 127.0.0.1 sibling 3128 0", "where we listen"},
        Case{"cache_peer a sibling 1 0 digest-url=http://a/b", "digest-url"},
        Case{"cache_peer a sibling 1 0 magic=3", "magic: is not known"},
        Case{"cache_peer a parent 1 0 login=PASS", "passwords are not passed on"}}) {
    const auto import = imported(c.line);
    EXPECT_TRUE(has(told_of(import, 1), "left: ")) << c.line;
    EXPECT_TRUE(has(told_of(import, 1), c.why)) << told_of(import, 1);
  }
  const auto twins = imported(
      "cache_peer a parent 1 0\ncache_peer a sibling 1 0\n"
      "cache_peer b parent 1 0 name=x\ncache_peer c parent 1 0 name=x");
  EXPECT_TRUE(has(told_of(twins, 2), "same host and port"));
  EXPECT_TRUE(has(told_of(twins, 4), "has its name"));
}

TEST(SquidPeers, AreChosenByHosts) {
  const std::string_view peer = "cache_peer a parent 1 0 name=p\n";
  const auto chosen = [&](std::string_view lines) {
    const std::string all = with(std::string(peer) + std::string(lines));
    const auto begin = all.find("\"name\":\"p\"") + 10;
    return all.substr(begin, all.find('}', begin) - begin);
  };
  EXPECT_EQ(chosen("cache_peer_access p allow lan\ncache_peer_access p deny all"),
            R"(,"for":["lan.example","*.lan.example"])");
  EXPECT_EQ(chosen("cache_peer_access p deny lan\ncache_peer_access p allow all"),
            R"(,"not_for":["lan.example","*.lan.example"])");
  EXPECT_EQ(chosen("always_direct allow lan"), R"(,"not_for":["lan.example","*.lan.example"])");
  EXPECT_EQ(chosen("cache_peer_access p allow lan"), R"(,"for":["lan.example","*.lan.example"])");
  EXPECT_EQ(chosen("cache_peer_access p deny one\ncache_peer_access p allow lan\n"
                   "cache_peer_access p deny me\ncache_peer_access p deny all"),
            R"(,"for":["lan.example","*.lan.example"],"not_for":["one.lan.example"])")
      << "the third line adds nothing";
  EXPECT_EQ(chosen("cache_peer_access p allow all\ncache_peer_access p deny lan"), "");
  EXPECT_EQ(chosen("cache_peer_domain p .lan.example"),
            R"(,"for":["lan.example","*.lan.example"])");
  EXPECT_EQ(chosen("cache_peer_domain p !one.lan.example .lan.example"),
            R"(,"for":["lan.example","*.lan.example"],"not_for":["one.lan.example"])");
  EXPECT_EQ(chosen("always_direct deny all\nalways_direct allow lan"), "");
}

// A parent that is asked for all would see requests that are not meant for it.
TEST(SquidPeers, AreLeftOutWhereHostsDoNotSayWhatTheyAreAskedFor) {
  for (const std::string_view lines :
       {"cache_peer_access p allow me", "cache_peer_access p deny me",
        "cache_peer_access p allow lan me\ncache_peer_access p deny all",
        "cache_peer_access p allow one\ncache_peer_access p deny lan\n"
        "cache_peer_access p allow all",
        "cache_peer_access p deny !lan", "if 1=1\ncache_peer_access p deny all\nendif",
        "cache_peer_domain p .lan.example !one.lan.example", "cache_peer_domain p a/b",
        "cache_peer_access p allow lan\ncache_peer_domain p .lan.example"}) {
    const auto import =
        imported(std::string(kAcls) + "cache_peer a parent 1 0 name=p\n" + std::string(lines));
    EXPECT_FALSE(has(settings_of(import), "\"peers\"")) << settings_of(import);
    EXPECT_TRUE(has(told_of(import, 4), "left: the peer is left out: ")) << told_of(import, 4);
    EXPECT_FALSE(import.is_complete());
  }
  const auto import = imported("cache_peer a parent 1 0\ncache_peer_access a deny all\n");
  EXPECT_FALSE(has(settings_of(import), "\"peers\""));
  EXPECT_TRUE(has(told_of(import, 1), "changed: the peer is left out: cache_peer_access lets no"));
}

TEST(SquidPeers, GetAllRequestsIfTheyAreParents) {
  const auto told = [](std::string_view lines) { return told_of(imported(lines), 1); };
  EXPECT_TRUE(
      has(told("cache_peer a parent 1 0"), "changed: requests that Squid sends to origins"));
  EXPECT_EQ(told("cache_peer a parent 1 0\nnonhierarchical_direct off"), "");
  EXPECT_EQ(told("cache_peer a parent 1 0\nnever_direct allow all"), "");
  EXPECT_EQ(told("cache_peer a sibling 1 0"), "");
}

TEST(SquidPeers, AreTheOnlyWayWhereNeverDirectSaysSo) {
  const std::string_view peer = "cache_peer a parent 1 0\n";
  const auto never = [&](std::string_view lines) {
    const std::string all = with(std::string(peer) + std::string(lines));
    const auto begin = all.find("\"never_direct\"");
    return begin == all.npos ? "" : all.substr(begin, all.find(",\"access\"") - begin);
  };
  EXPECT_EQ(never("never_direct allow all"), R"("never_direct":"all")");
  EXPECT_EQ(never("never_direct allow lan"), R"("never_direct":["lan.example","*.lan.example"])");
  EXPECT_EQ(never("always_direct allow lan\nnever_direct allow all"), "");
  EXPECT_EQ(never("never_direct deny lan\nnever_direct allow all"), "");
  EXPECT_EQ(never("never_direct deny all"), "");
  EXPECT_TRUE(has(told_of(imported("never_direct allow all"), 1), "no parent"));
}

}  // namespace
}  // namespace proxy::command::squid
