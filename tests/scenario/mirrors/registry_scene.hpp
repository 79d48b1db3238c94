// A registry of images that wants a token, and redirects to a storage by signed URLs.
#pragma once

#include <mutex>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {

inline std::string image_digest(const std::string& body) {
  return "sha256:" + sha256_of(body);
}

inline const std::string kImageBlob(100'000, 'b');
inline const std::string kImageText = R"({"schemaVersion":2})";
inline const std::string kNewerImage = R"({"schemaVersion":2,"newer":true})";
inline const std::string kImageType = "application/vnd.oci.image.manifest.v1+json";

// Has the repository team/app for everybody with a token, and gives nobody a token for any other.
struct Registry {
  Registry()
      : storage_front(origin.authority, "IP:127.0.0.1", storage.port()),
        tokens_front(origin.authority, "IP:127.0.0.1", tokens.port()),
        realm(tokens_front.url("/token")) {
    origin.plain.otherwise([this](const Request& request) { return answer(request); });
    tokens.otherwise([](const Request& request) {
      const bool is_open = request.target == "/token?service=reg&scope=repository:team/app:pull" ||
                           contains(request.target, "scope=repository:open/");
      return is_open ? cacheable(R"({"token":"open-sesame","expires_in":300})", "no-store")
                     : Reply(401);
    });
    storage.otherwise([](const Request& request) {
      return request.has("Authorization") ? Reply(400) : cacheable(kImageBlob);
    });
  }

  json settings() const {
    auto all = origin.settings(
        {origin.front.authority(), storage_front.authority(), tokens_front.authority()});
    all["mirrors"]["recipes"] = json::array({"oci"});
    all["mirrors"]["registry"] = origin.front.authority();
    return all;
  }
  std::size_t gets(const std::string& path) const {
    std::size_t count = 0;
    for (const auto& request : origin.plain.requests(path))
      count += request.method == "GET" ? 1 : 0;
    return count;
  }
  void tag(const std::string& manifest) {
    const std::lock_guard lock(mutex_);
    tagged_ = manifest;
  }
  void go_away(int status) { away_ = status; }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  ScriptedOrigin tokens;
  TlsFront storage_front;
  TlsFront tokens_front;
  std::string realm;  // of its challenge

 private:
  Reply answer(const Request& request) {
    if (away_ != 0) return Reply(away_);
    if (request.field("Authorization") != "Bearer open-sesame") {
      const auto name = request.target.substr(4, request.target.find('/', 9) - 4);
      return Reply(401, {{"WWW-Authenticate", "Bearer realm=\"" + realm + "\",service=\"reg\"," +
                                                  "scope=\"repository:" + name + ":pull\""}});
    }
    const auto reference = request.target.substr(request.target.rfind('/') + 1);
    if (reference == image_digest(kImageBlob)) {
      // Each repository has a signature of its own.
      const auto repository = request.target.substr(4, 8);
      const auto signature = contains(repository, "team") ? "secret" : repository;
      return Reply(307, {{"Location", storage_front.url("/b?sig=" + signature)}});
    }
    const std::lock_guard lock(mutex_);
    const auto& manifest =
        reference == "v1" || reference == image_digest(tagged_) ? tagged_ : kImageText;
    const bool is_known = reference == "v1" || reference == image_digest(manifest);
    if (!is_known) return Reply(404).body(R"({"errors":[{"code":"MANIFEST_UNKNOWN"}]})");
    return Reply(200,
                 {{"Content-Type", kImageType}, {"Docker-Content-Digest", image_digest(manifest)}})
        .body(manifest);
  }

  std::mutex mutex_;
  std::string tagged_ = kImageText;
  std::atomic<int> away_ = 0;
};

inline const std::string kImageTag = "/v2/team/app/manifests/v1";
inline const std::string kImageByDigest = "/v2/team/app/manifests/" + image_digest(kImageText);
inline const std::string kImageBlobPath = "/v2/team/app/blobs/" + image_digest(kImageBlob);

struct RegistryMirrorScene {
  explicit RegistryMirrorScene(const Registry& registry)
      : proxy(registry.settings()), client(proxy) {}

  ProxyProcess proxy;
  MirrorClient client;
};

}  // namespace scenario
