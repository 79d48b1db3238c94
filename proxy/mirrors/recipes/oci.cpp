// Registries of container images. Blobs and manifests by digest never change; what a tag names is
// asked by HEAD (answer/image_tag.hpp), which some registries do not count as a pull. Most redirect
// to signed URLs of a storage.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kNoOther{};
constexpr auto kByDigest = config::StoredUnder::content;

// The first is for clients that name none.
constexpr Registry kRegistries[] = {
    {{"docker.io"}, {"docker.io", "registry-1"}, {"docker.io", "auth"}, "library/"},
    {{"docker.io", "index"}, {"docker.io", "registry-1"}, {"docker.io", "auth"}, "library/"},
    {{"docker.io", "registry-1"}, {"docker.io", "registry-1"}, {"docker.io", "auth"}, "library/"},
    {{"ghcr.io"}, {"ghcr.io"}, kNoOther},
    {{"quay.io"}, {"quay.io"}, kNoOther},
    {{"k8s.io", "registry"}, {"k8s.io", "registry"}, kNoOther},
    {{"microsoft.com", "mcr"}, {"microsoft.com", "mcr"}, kNoOther},
    {{"gcr.io"}, {"gcr.io"}, kNoOther},
    {{"ecr.aws", "public"}, {"ecr.aws", "public"}, kNoOther},
    {{"gitlab.com", "registry"}, {"gitlab.com", "registry"}, {"gitlab.com"}},
    {{"nvcr.io"}, {"nvcr.io"}, {"nvidia.com", "authn"}},
    {{"ollama.ai", "registry"}, {"ollama.ai", "registry"}, {"ollama.com"}},
};

constexpr Upstream kRegionalRegistries[] = {{"gcr.io", "*"}, {"pkg.dev", "*"}};

constexpr Upstream kBlobStorage[] = {
    {"docker.com", "*"},
    {"cloudflarestorage.com", "*.r2"},
    {"githubusercontent.com", "pkg-containers"},
    {"quay.io", "*"},
    {"pkg.dev", "*"},
    {"amazonaws.com", "*"},
    {"cloudfront.net", "*"},
    {"microsoft.com", "*.mcr"},
    {"googleapis.com", "storage"},
    {"gitlab-static.net", "*"},
    {"nvcr.io", "*"},
    {"ollama.ai", "*"},
};

// For all mirrored hosts: a site's own registry is one of mirrors.hosts. A manifest has a media
// type that its digest does not tell, so no other repository gets it.
constexpr Row kImageRows[] = {
    {"oci-blob", kAnyHost, "/v2/**/blobs/sha256:{sha256}", Kind::immutable, 0s, 10s, kByDigest},
    {"oci-blob", kAnyHost, "/v2/**/blobs/sha512:{sha512}", Kind::immutable, 0s, 10s, kByDigest},
    {"oci-manifest", kAnyHost, "/v2/**/manifests/sha256:{sha256}", Kind::immutable, 0s, 10s},
    {"oci-manifest", kAnyHost, "/v2/**/manifests/sha512:{sha512}", Kind::immutable, 0s, 10s},
    {"oci-tag", kAnyHost, "/v2/**/manifests/*", Kind::fresh, 60s, 10s},
    {"oci-tags", kAnyHost, "/v2/**/tags/list?*", Kind::revalidate, 0s, 10s},
    {"oci-referrers", kAnyHost, "/v2/**/referrers/*?*", Kind::revalidate, 0s, 10s},
    {"oci-other", kAnyHost, "/v2/**/manifests/*?*", Kind::pass},
    {"oci-other", kAnyHost, "/v2/**/blobs/*?*", Kind::pass},
};

std::vector<config::HostSpec> registry_hosts() {
  std::vector<Upstream> all(std::begin(kRegionalRegistries), std::end(kRegionalRegistries));
  for (const auto& registry : kRegistries) all.push_back(registry.at);
  return hosts_of(all);
}

}  // namespace

std::span<const Registry> registries() {
  return kRegistries;
}

config::RecipeSettings oci() {
  return {.name = std::string(kOci), .hosts = registry_hosts(), .follow = hosts_of(kBlobStorage)};
}

config::RecipeSettings oci_rules() {
  return {.name = std::string(kOci), .rules = rules_of(kImageRows)};
}

}  // namespace proxy::mirrors::recipes
