// An unmodified Squid as a parent, and as a child.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/interop/neighbourhood.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace interop {
namespace {

// Settings by which everything goes through the parent "squid".
json through_parent(const std::string& url, const json& more = json::object()) {
  json peer{{"name", "squid"}, {"url", url}, {"role", "parent"}, {"digest", "none"}};
  peer.update(more);
  return {{"peers", json::array({peer})}, {"never_direct", "all"}};
}

std::string at(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

bool came_through(const Request& request, std::string_view proxy) {
  return contains(request.field("Via"), proxy);
}

TEST(SquidAsParent, FetchesForUs) {
  const Origin origin;
  const ReservedPort nobody;
  const SquidProcess squid{nobody.port()};
  const ProxyProcess ours(through_parent("http://" + at(squid.port())));
  const auto urls = origin.urls("page", 20);
  get_all(ours.port(), urls);
  EXPECT_EQ(origin.count(), urls.size());
  for (const auto& request : origin.requests()) {
    EXPECT_TRUE(came_through(request, "squid-a.test")) << request.field("Via");
  }
  const Response response = Client(ours.port()).get(origin.url("/page/new"));
  EXPECT_TRUE(contains(response.field("Cache-Status"), "parent/squid"))
      << response.field("Cache-Status");
}

TEST(SquidAsParent, OpensTunnelsForUs) {
  const Origin origin;
  const ReservedPort nobody;
  const SquidProcess squid{nobody.port()};
  json settings = through_parent("http://" + at(squid.port()));
  settings["access"]["connect_ports"] = {origin.port()};
  const ProxyProcess ours(settings);
  Client client(ours.port());
  client.send("CONNECT " + at(origin.port()) + " HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_EQ(client.read("CONNECT").status, 200);
  client.send("GET /inside HTTP/1.1\r\nHost: inside\r\n\r\n");
  EXPECT_EQ(client.read().body, "page /inside");
}

TEST(SquidAsParent, IsPassedByWhenItIsDown) {
  const Origin origin;
  const ReservedPort nobody;
  json settings = through_parent("http://" + at(nobody.port()));
  settings.erase("never_direct");
  const ProxyProcess ours(settings);
  get_all(ours.port(), origin.urls("page", 5));
  EXPECT_EQ(origin.count(), 5U);
}

// Squid speaks TLS to us, and wants a login.
TEST(SquidAsParent, IsReachedOverTlsAndToldOurLogin) {
  const Origin origin;
  const TemporaryDirectory files;
  const std::string key = files / "key.pem";
  const std::string certificate = files / "certificate.pem";
  const Outcome made =
      run_to_end({{"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test",
                   "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate}});
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const Outcome hashed = run_to_end({{"/usr/bin/openssl", "passwd", "-apr1", "secret"}});
  write_file(files / "users", "me:" + hashed.output);
  ASSERT_EQ(run_to_end({{"/usr/bin/chmod", "-R", "a+rX", files.path()}}).exit_code, 0);
  const ReservedPort tls_port;
  const ReservedPort nobody;
  const SquidProcess squid{nobody.port(), SquidProcess::Neighbour::sibling,
                           "https_port " + at(tls_port.port()) + " tls-cert=" + certificate +
                               " tls-key=" + key +
                               "\nauth_param basic program /usr/lib/squid/basic_ncsa_auth " +
                               std::string(files / "users") +
                               "\nacl known proxy_auth REQUIRED\nhttp_access deny !known\n"};
  ::setenv("SSL_CERT_FILE", certificate.c_str(), 1);
  const auto url = "https://" + at(tls_port.port());
  const ProxyProcess ours(through_parent(url, {{"login", "me:secret"}}));
  const ProxyProcess wrong(through_parent(url, {{"login", "me:wrong"}}));
  ::unsetenv("SSL_CERT_FILE");
  get_all(ours.port(), origin.urls("page", 5));
  const Response refused = Client(wrong.port()).get(origin.url("/other"));
  EXPECT_EQ(refused.status, 502);
  EXPECT_TRUE(contains(refused.body, "does not accept the login")) << refused.body;
  EXPECT_EQ(origin.count(), 5U);
}

TEST(SquidAsChild, IsGivenEverythingThatItAsksFor) {
  const Origin origin;
  const ProxyProcess ours;
  const SquidProcess squid{ours.port(), SquidProcess::Neighbour::parent};
  const auto urls = origin.urls("page", 20);
  get_all(squid.port(), urls);
  EXPECT_EQ(origin.count(), urls.size());
  for (const auto& request : origin.requests()) {
    EXPECT_TRUE(came_through(request, "squid-a.test")) << request.field("Via");
  }
  const auto by_us = [](const LogLine& line) { return line.from == "127.0.0.1"; };
  // Squid writes a line after its client has the response.
  EXPECT_TRUE(await([&] { return logged(squid.access_log(), urls, by_us) == urls.size(); }));
  get_all(ours.port(), urls);
  EXPECT_EQ(origin.count(), urls.size()) << "we have stored them";
}

}  // namespace
}  // namespace interop
