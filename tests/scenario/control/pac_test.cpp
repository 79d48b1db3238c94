// The script of /proxy.pac, run by a JavaScript engine as a browser would run it, and the texts of
// /setup.
#include <gtest/gtest.h>

#include <set>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

json pac_settings() {
  return {{"name", "cache-a"},
          {"access",
           {{"own_names", {"cache.example"}},
            {"direct", {"*.lan.example"}},
            {"deny_to", {"loopback", "link-local"}},
            {"connect_ports", {443, "8440-8443"}}}},
          {"peers",
           {{{"url", "http://127.0.0.1:9"}}, {{"url", "http://127.0.0.1:8"}, {"role", "parent"}}}},
          {"never_direct", {"*.far.example"}},
          {"reverse", {{{"host", "shop.example"}, {"to", "http://127.0.0.1:9"}}}}};
}

// The functions that browsers have, as far as the script needs them.
constexpr std::string_view kBrowser = R"(
function isInNet(host, net, mask) {
  function number(text) {
    return text.split(".").reduce(function(sum, part) { return sum * 256 + Number(part); }, 0);
  }
  return (number(host) & number(mask)) === (number(net) & number(mask));
}
)";

struct PacCase {
  std::string_view url, host, answer;
};

TEST(Pac, SendsClientsHereForWhatIsServedAndElsewhereIfNobodyIsHere) {
  ProxyProcess proxy(pac_settings());
  const Response reply = proxy.page("/proxy.pac");
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.field("Content-Type"), "application/x-ns-proxy-autoconfig");
  const std::string indirect = "PROXY " + proxy.address() + "; PROXY 127.0.0.1:9";
  const std::string here = indirect + "; DIRECT";
  std::string script = reply.body + std::string(kBrowser);
  std::string expected;
  for (const PacCase& c : {
           PacCase{"http://www.example.com/", "www.example.com", ""},
           PacCase{"https://www.example.com/", "www.example.com", ""},
           PacCase{"https://www.example.com:8443/", "www.example.com", ""},
           PacCase{"https://www.example.com:8441/", "www.example.com", ""},
           PacCase{"https://www.example.com:8444/", "www.example.com", "DIRECT"},
           PacCase{"wss://www.example.com/", "www.example.com", ""},
           PacCase{"ws://www.example.com/", "www.example.com", "DIRECT"},
           PacCase{"ws://www.example.com:443/", "www.example.com", ""},
           PacCase{"http://www.example.com:8444/", "www.example.com", ""},
           PacCase{"ftp://www.example.com/", "www.example.com", "DIRECT"},
           PacCase{"http://printer/", "printer", "DIRECT"},
           PacCase{"http://localhost:80/", "localhost", "DIRECT"},
           PacCase{"http://Cache.Example/", "Cache.Example", "DIRECT"},
           PacCase{"http://shop.example/", "shop.example", "DIRECT"},
           PacCase{"http://a.shop.example/", "a.shop.example", ""},
           PacCase{"http://a.lan.example/", "a.lan.example", "DIRECT"},
           PacCase{"http://lan.example/", "lan.example", ""},
           PacCase{"http://xlan.example/", "xlan.example", ""},
           PacCase{"http://a.far.example/", "a.far.example", indirect},
           PacCase{"https://a.far.example/", "a.far.example", indirect},
           PacCase{"http://far.example/", "far.example", ""},
           PacCase{"http://127.0.0.1/", "127.0.0.1", "DIRECT"},
           PacCase{"http://169.254.169.254/", "169.254.169.254", "DIRECT"},
           PacCase{"http://10.0.0.9/", "10.0.0.9", ""},
           PacCase{"http://[::1]/", "::1", "DIRECT"},
           PacCase{"http://[fe80::1]/", "fe80::1", "DIRECT"},
           PacCase{"http://[2001:db8::1]/", "2001:db8::1", ""},
       }) {
    script += "print(FindProxyForURL(\"" + std::string(c.url) + "\", \"" + std::string(c.host) +
              "\"));\n";
    expected += (c.answer.empty() ? here : std::string(c.answer)) + '\n';
  }
  const TemporaryDirectory directory;
  write_file(directory / "pac.js", script);
  const Outcome outcome = run_to_end({{"/usr/bin/duk", directory / "pac.js"}});
  EXPECT_EQ(outcome.output, expected) << outcome.errors << reply.body;
}

TEST(Pac, IsForClientsAndNamesThisProxyAsTheyDo) {
  ProxyProcess proxy(
      json{{"access", {{"own_names", {"cache.example"}}, {"monitor", json::array()}}}});
  const auto ask = [&](const std::string& path, const std::string& host) {
    Client client(proxy.port());
    client.send(origin_form_text(host, "GET", path));
    return client.read();
  };
  EXPECT_TRUE(contains(ask("/wpad.dat", "wpad.lan.example").body, "\"PROXY wpad.lan.example:80\""));
  EXPECT_TRUE(contains(ask("/proxy.pac", "cache.example:99").body, "\"PROXY cache.example:99\""));
  EXPECT_EQ(ask("/proxy.pac", "evil.example").status, 403)
      << "a page of another site could read it";
  EXPECT_EQ(ask("/health", "wpad").status, 403);
  ProxyProcess closed(json{{"access", {{"clients", {"10.0.0.0/8"}}, {"admin", json::array()}}}});
  EXPECT_EQ(closed.page("/proxy.pac").status, 403);
}

TEST(Setup, TellsClientsHowToUseThisProxyAsTheyReachIt) {
  ProxyProcess proxy(json{{"access", {{"monitor", json::array()}}}});
  const Response text = proxy.page("/setup");
  ASSERT_EQ(text.status, 200) << text.body;
  EXPECT_TRUE(contains(text.body, "Acquire::http::Proxy \"http://" + proxy.address() + "\";\n"));
  const auto page = json::parse(proxy.page("/setup.json").body);
  EXPECT_EQ(page.at("proxy"), proxy.address());
  std::set<std::string> names;
  for (const auto& client : page.at("clients")) names.insert(client.at("name"));
  for (const auto* const name : {"apt-mirror", "docker", "npm", "pip"})
    EXPECT_TRUE(names.contains(name)) << name;
  ProxyProcess closed(json{{"access", {{"clients", {"10.0.0.0/8"}}, {"admin", json::array()}}}});
  EXPECT_EQ(closed.page("/setup").status, 403);
}

}  // namespace
}  // namespace scenario
