// Bodies that digests name, and the rule of a site that knows it.
#pragma once

#include <openssl/evp.h>

#include "digest/base64.hpp"
#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {

inline std::vector<std::uint8_t> sha256(const std::string& body) {
  std::vector<std::uint8_t> digest(32);
  EVP_Digest(body.data(), body.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}
inline std::string repr_digest(const std::string& body) {
  return "sha-256=:" + digest::to_base64(sha256(body)) + ":";
}
// A path that ends in the digest of the body.
inline std::string path_of(const std::string& body, const std::string& folder = "/blobs") {
  std::string path = folder + "/";
  for (const auto byte : sha256(body)) {
    for (const auto half : {byte >> 4, byte & 15}) path += "0123456789abcdef"[half];
  }
  return path;
}

// The same length, and one other byte at the end.
inline std::string falsified(std::string body) {
  body.back() = '~';
  return body;
}

inline Reply validated(std::string body) {
  return cacheable(std::move(body)).with("ETag", "\"v1\"").with("Accept-Ranges", "bytes");
}
inline Reply in_chunks(const std::string& body) {
  return Reply(200, {{"Cache-Control", "max-age=3600"}}).chunked().send(body);
}
// The range that is asked for, or all.
inline Reply ranged(const std::string& body, const Request& request) {
  const auto range = request.field("Range");
  if (range.empty()) return validated(body);
  const auto dash = range.find('-');
  const auto first = std::stoull(range.substr(6));
  const auto last = dash + 1 < range.size() ? std::stoull(range.substr(dash + 1)) : body.size() - 1;
  return Reply(206,
               {{"Cache-Control", "max-age=3600"},
                {"ETag", "\"v1\""},
                {"Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) +
                                      "/" + std::to_string(body.size())}})
      .body(body.substr(first, last - first + 1));
}

// The rule for path_of().
inline json by_digest(json settings = json::object()) {
  settings["rules"] = json::array({{{"name", "blobs"},
                                    {"host", "*"},
                                    {"pattern", "/**/{sha256}"},
                                    {"class", "immutable"},
                                    {"key", "content"}}});
  return settings;
}
inline json with_disk(const TemporaryDirectory& home, json settings = json::object()) {
  settings["cache"]["disk"] = {
      {"path", (home.path() / "c").string()}, {"size", "128MiB"}, {"admit", "first"}};
  return settings;
}

inline constexpr std::size_t kLarge = 5U << 20;

}  // namespace scenario
