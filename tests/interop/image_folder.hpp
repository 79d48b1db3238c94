// An image as skopeo and podman read it from files: "oci:image:TAG", in a folder of its own. podman
// makes a name for it from the path, which may have no capital letters.
#pragma once

#include "tests/interop/four_fetches.hpp"

namespace interop {

class ImageFolder {
 public:
  // One layer for each set of files: their names and bytes.
  ImageFolder(const std::string& tag,
              const std::vector<std::map<std::string, std::string>>& layers) {
    json descriptors = json::array();
    json ids = json::array();
    for (const auto& files : layers) {
      descriptors.push_back(put(archive_of(files), "application/vnd.oci.image.layer.v1.tar"));
      ids.push_back(descriptors.back().at("digest"));
    }
    const json config{{"architecture", "amd64"},
                      {"os", "linux"},
                      {"config", json::object()},
                      {"rootfs", {{"type", "layers"}, {"diff_ids", ids}}}};
    const json manifest{{"schemaVersion", 2},
                        {"mediaType", kManifest},
                        {"config", put(config.dump(), "application/vnd.oci.image.config.v1+json")},
                        {"layers", descriptors}};
    auto named = put(manifest.dump(), kManifest);
    named["annotations"] = {{"org.opencontainers.image.ref.name", tag}};
    const json index{{"schemaVersion", 2}, {"manifests", json::array({named})}};
    write_file(folder_ / "image/index.json", index.dump());
    write_file(folder_ / "image/oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    name_ = "oci:image:" + tag;
  }

  // As seen from the folder.
  const std::string& name() const { return name_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  static constexpr const char* kManifest = "application/vnd.oci.image.manifest.v1+json";

  static std::string archive_of(const std::map<std::string, std::string>& files) {
    const TemporaryDirectory root;
    for (const auto& [name, bytes] : files) write_file(root / name, bytes);
    return run_client({{"/usr/bin/tar", "-C", root.path(), "--sort=name", "-cf", "-", "."}}).output;
  }

  json put(const std::string& bytes, const char* type) {
    const auto digest = scenario::sha256_of(bytes);
    const auto blobs = folder_ / "image/blobs/sha256";
    std::filesystem::create_directories(blobs);
    write_file(blobs / digest, bytes);
    return {{"mediaType", type}, {"digest", "sha256:" + digest}, {"size", bytes.size()}};
  }

  TemporaryDirectory folder_;
  std::string name_;
};

}  // namespace interop
