// https:// in an absolute-form target: the proxy speaks TLS to the origin, and accepts only an
// origin whose certificate it can verify.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

// `openssl s_server`, which answers "/NAME" with the file NAME in its directory.
class TlsOrigin {
 public:
  explicit TlsOrigin(const std::string& name) {
    write_file(directory_ / "hello", "hello over TLS");
    const Outcome made = run_to_end(
        {{"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
          "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
          "subjectAltName=" + name, "-keyout", directory_ / "key.pem", "-out", certificate()}});
    if (made.exit_code != 0) throw std::runtime_error(made.errors);
    Command command{{"/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                     certificate(), "-key", directory_ / "key.pem", "-WWW", "-naccept", "8"}};
    command.directory = directory_.path();
    server_ = std::make_unique<ChildProcess>(command);
    if (!await([this] { return contains(server_->output(), "ACCEPT 127.0.0.1:"); })) {
      throw std::runtime_error("openssl s_server: " + server_->errors());
    }
  }

  std::string certificate() const { return directory_ / "certificate.pem"; }
  std::string url() const {
    const std::string said = server_->output();
    const auto port = said.find("127.0.0.1:") + 10;
    return "https://127.0.0.1:" + said.substr(port, said.find('\n', port) - port) + "/hello";
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<ChildProcess> server_;
};

// Makes proxies trust the certificates in this file, by a variable that they inherit.
struct Trust {
  explicit Trust(const std::string& file) { ::setenv("SSL_CERT_FILE", file.c_str(), 1); }
  ~Trust() { ::unsetenv("SSL_CERT_FILE"); }
};

TEST(Tls, ReachesAnOriginThatProvesItsName) {
  const TlsOrigin origin("IP:127.0.0.1");
  const Trust trust(origin.certificate());
  Scene scene;
  const Response response = scene.client.get(origin.url());
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "hello over TLS");
}

TEST(Tls, ReachesAnOriginThatWeStandInFor) {
  const TlsOrigin origin("IP:127.0.0.1");
  const Trust trust(origin.certificate());
  const std::string url = origin.url();
  const json mapping{{"host", "*"}, {"to", url.substr(0, url.rfind('/'))}};
  const ProxyProcess proxy(json{{"reverse", json::array({mapping})}});
  Client client(proxy.port());
  client.send("GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(client.read().body, "hello over TLS");
}

TEST(Tls, TrustsAnIssuerThatIsAddedBeforeAReload) {
  const TlsOrigin origin("IP:127.0.0.1");
  const TemporaryDirectory directory;
  write_file(directory / "trusted.pem", "");
  const Trust trust(directory / "trusted.pem");
  Scene scene;
  EXPECT_EQ(scene.client.get(origin.url()).status, 502);
  // Replaced, as tools do it.
  write_file(directory / "new.pem", read_file(origin.certificate()));
  std::filesystem::rename(directory / "new.pem", directory / "trusted.pem");
  scene.proxy.reload(json::object());
  EXPECT_EQ(scene.client.get(origin.url()).body, "hello over TLS");
}

TEST(Tls, Says502ForAnIssuerNobodyTrusts) {
  const TlsOrigin origin("IP:127.0.0.1");
  Scene scene;
  EXPECT_EQ(scene.client.get(origin.url()).status, 502);
}

TEST(Tls, Says502ForAnotherName) {
  const TlsOrigin origin("IP:127.0.0.2");
  const Trust trust(origin.certificate());
  Scene scene;
  EXPECT_EQ(scene.client.get(origin.url()).status, 502);
}

}  // namespace
}  // namespace scenario
