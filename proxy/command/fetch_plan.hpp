// The requests that `hearsay fetch` sends to a proxy: for URLs, and for the parts of container
// images and of Hugging Face's repositories. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// One request. The answers to some requests name further ones.
struct FetchStep {
  enum class Kind {
    url,       // as a client of a proxy asks for it
    file,      // a path of the proxy's own, as are those below
    manifest,  // of an image, or of one for several platforms
    listing,   // of a repository
  };
  Kind kind = Kind::url;
  std::string target = {};  // the URL, or the path
  std::string name = {};    // for people
  unsigned levels = 2;      // of manifests that may follow
};

inline constexpr std::string_view kManifestTypes =
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, "
    "application/vnd.docker.distribution.manifest.v2+json";
// A longer manifest or listing is none.
inline constexpr std::size_t kLongestPlan = std::size_t{32} << 20;

// The first step for a text that is no file's name:
// - a URL;
// - an image: REGISTRY/NAME[:TAG][@DIGEST], whose registry has a dot or a colon, or is "localhost";
// - hf://[datasets/|spaces/]OWNER/REPOSITORY[@REVISION][/PATH], where a path that ends with "/" is
// a
//   folder.
// Nothing: it is none of these.
std::optional<FetchStep> first_step(const std::string& text);

// The path under which a manifest has the name `digest` in place of its tag: it is stored under
// that. Empty: `path` is no manifest's, or `digest` is none.
std::string by_digest(const std::string& path, const std::string& digest);

// This machine's platform, as images spell it: "linux/amd64".
std::string this_platform();

// What follows from the answer to a manifest or listing. `platforms`: of the images that are
// wanted, "OS/ARCHITECTURE" or with "/VARIANT"; empty: all. `next`: the URL or path of the
// listing's next part; empty: there is none. Trouble: it is no manifest or listing, or has no such
// platform.
Result<std::vector<FetchStep>> steps_after(const FetchStep& step, const std::string& answer,
                                           std::span<const std::string> platforms,
                                           const std::string& next = {});

// The target of the first link with rel="next" in the value of a field Link; empty: there is none.
std::string next_link(std::string_view links);

}  // namespace proxy::command
