// Paths of the API by which container images are pulled from a registry (OCI Distribution
// Specification 1.1), and the registry that a client means by one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::mirrors {

// What a registry is asked for: "/v2/NAME/manifests/REFERENCE", "/v2/NAME/blobs/DIGEST",
// "/v2/NAME/tags/list" or "/v2/NAME/referrers/DIGEST".
struct ImagePart {
  enum class Kind : std::uint8_t { manifest, blob, tags, referrers };

  Kind kind = Kind::manifest;
  std::string name;       // the repository: "library/debian", at most 255 bytes
  std::string reference;  // a digest; of a manifest also a tag; "list" of Kind::tags

  // `path`: with or without a query. Nothing if it is none of the four, or if a digest is neither
  // sha256 nor sha512 in lower case.
  static std::optional<ImagePart> parse(std::string_view path);
  // Whether the reference is a name that may come to mean another manifest.
  [[nodiscard]] bool by_tag() const;
  // Whether the reference is the digest of the body. That of a list of referrers is its subject's.
  [[nodiscard]] bool names_body() const;
  [[nodiscard]] std::string path() const { return path_of(reference); }
  // The path of another manifest or blob of the repository.
  [[nodiscard]] std::string path_of(std::string_view other) const;
};

// Whether the text is "sha256:" or "sha512:", and as many hexadecimal digits in lower case as the
// digest has.
bool is_image_digest(std::string_view text);

// The digest of a blob or manifest: "sha256:" and its hexadecimal digits.
std::string image_digest_of(std::string_view body);

// Whether the path, with or without a query, is "/v2" or begins with "/v2/".
bool is_registry_path(std::string_view path);
// Whether such a path has one of the words of ImagePart in its place, whatever else it has.
bool is_image_path(std::string_view path);
// Whether it is "/v2" or "/v2/" alone: the question whether a registry is here.
bool is_registry_ping(std::string_view path);

// The value of the parameter `ns` of a path or URL, as the client wrote it, if it is a registry;
// else empty.
std::string_view namespace_in(std::string_view target);

// What a client asks us for in place of a registry.
struct AskedImage {
  ImagePart part;
  std::string registry;       // HOST[:PORT] in lower case, as the client named it; empty: not named
  bool by_parameter = false;  // `ns` named it
  std::string query;          // with its "?", without `ns`; empty: none

  // The registry is that of the parameter `ns`, as containerd and Docker write it; else the first
  // part of the name, if that has a dot or a colon, or is "localhost", as podman and CRI-O are told
  // to write it. Nothing if the path is none of ImagePart, or if `ns` is no host.
  static std::optional<AskedImage> parse(std::string_view path);
};

}  // namespace proxy::mirrors
