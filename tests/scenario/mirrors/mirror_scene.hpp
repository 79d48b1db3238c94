// An https origin with a certificate of a test's own authority, and settings that mirror it.
#pragma once

#include <openssl/evp.h>

#include <array>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/tls_front.hpp"

namespace scenario {

// "/https/HOST:PORT/PATH" of "https://HOST:PORT/PATH".
inline std::string mirror_path(const std::string& url) {
  const auto scheme_end = url.find("://");
  return "/" + url.substr(0, scheme_end) + "/" + url.substr(scheme_end + 3);
}

inline std::string sha256_of(const std::string& bytes) {
  std::array<unsigned char, 32> hash{};
  EVP_Digest(bytes.data(), bytes.size(), hash.data(), nullptr, EVP_sha256(), nullptr);
  std::string hex;
  for (const auto byte : hash) {
    hex += "0123456789abcdef"[byte / 16];
    hex += "0123456789abcdef"[byte % 16];
  }
  return hex;
}

struct HttpsOrigin {
  // `name`: the subjectAltName of its certificate.
  explicit HttpsOrigin(const std::string& name = "IP:127.0.0.1")
      : front(authority, name, plain.port()) {
    write_file(directory / "ca.pem", authority.pem());
  }

  json settings(const std::vector<std::string>& hosts) const {
    return {{"mirrors", {{"hosts", hosts}, {"ca", {{"127.0.0.1", directory / "ca.pem"}}}}}};
  }
  json settings() const { return settings({front.authority()}); }
  std::string url(const std::string& path) const { return front.url(path); }

  TemporaryDirectory directory;
  Authority authority;
  ScriptedOrigin plain;
  TlsFront front;
};

// The one range that is asked for, or the whole.
inline Reply part_of(const std::string& body, const Request& request) {
  const auto range = request.field("Range");
  if (range.empty()) return Reply(200).body(body);
  const auto dash = range.find('-');
  const auto first = std::stoul(range.substr(6, dash - 6));
  auto last = body.size() - 1;
  if (dash + 1 < range.size()) last = std::min(last, std::stoul(range.substr(dash + 1)));
  const auto text = "bytes " + std::to_string(first) + '-' + std::to_string(last) + '/' +
                    std::to_string(body.size());
  return Reply(206, {{"Content-Range", text}}).body(body.substr(first, last - first + 1));
}

// A client that takes the proxy for the server.
struct MirrorClient {
  explicit MirrorClient(const ProxyProcess& proxy) : host(proxy.address()), client(proxy.port()) {}

  Response get(const std::string& path, const Fields& fields = {}) {
    return request("GET", path, fields);
  }
  Response request(const std::string& method, const std::string& path, const Fields& fields = {}) {
    client.send(origin_form_text(host, method, path, fields));
    return client.read(method);
  }

  std::string host;
  Client client;
};

}  // namespace scenario
