// Models, datasets and spaces of Hugging Face. A revision of 40 digits is a commit, which lasts;
// any other one is a branch or a tag. Clients that learn of a file's Xet hash, by HEAD or by the
// listing of a repository, fetch it in pieces from a server of its own, so that nobody could cache
// it.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kHub{"huggingface.co"};
constexpr Upstream kHubs[] = {kHub};
constexpr Upstream kHubStorage[] = {{"huggingface.co", "*"}, {"hf.co", "*"}};

constexpr std::string_view kXet[] = {"xetHash", "xetEnabled"};
constexpr auto kByUrl = config::StoredUnder::url;

constexpr Row hub_api(std::string_view name, std::string_view pattern, Kind kind,
                      std::chrono::seconds fresh = {}) {
  return {name, kHub, pattern, kind, fresh, {}, kByUrl, false, kXet};
}

// A commit lacks a file for as long as it lasts, but a file may be gated only for now.
constexpr Row of_commit(std::string_view pattern) {
  return {"hf-file-of-commit", kHub, pattern, Kind::immutable, {}, 60s};
}

constexpr Row of_name(std::string_view pattern) {
  return {"hf-file", kHub, pattern, Kind::revalidate};
}

constexpr Row kHubRows[] = {
    {"hf-xet", kHub, "/api/**/xet-read-token/**?*", Kind::absent},
    {"hf-xet", kHub, "/api/**/xet-write-token/**?*", Kind::absent},
    {"hf-paths", kHub, "/api/*/*/*/paths-info/**?*", Kind::pass, {}, {}, kByUrl, true, kXet},
    {"hf-paths", kHub, "/api/*/*/paths-info/**?*", Kind::pass, {}, {}, kByUrl, true, kXet},
    hub_api("hf-listing-of-commit", "/api/*/*/*/tree/{hex40}/**?*", Kind::immutable),
    hub_api("hf-listing-of-commit", "/api/*/*/*/revision/{hex40}?*", Kind::immutable),
    hub_api("hf-listing-of-commit", "/api/*/*/tree/{hex40}/**?*", Kind::immutable),
    hub_api("hf-listing-of-commit", "/api/*/*/revision/{hex40}?*", Kind::immutable),
    hub_api("hf-listing", "/api/*/*/*/tree/**?*", Kind::fresh, 60s),
    hub_api("hf-listing", "/api/*/*/*/revision/**?*", Kind::fresh, 60s),
    hub_api("hf-listing", "/api/*/*/tree/**?*", Kind::fresh, 60s),
    hub_api("hf-listing", "/api/*/*/revision/**?*", Kind::fresh, 60s),
    hub_api("hf-info", "/api/models/*/*?*", Kind::fresh, 60s),
    hub_api("hf-info", "/api/models/*?*", Kind::fresh, 60s),
    hub_api("hf-info", "/api/datasets/*/*?*", Kind::fresh, 60s),
    hub_api("hf-info", "/api/datasets/*?*", Kind::fresh, 60s),
    hub_api("hf-info", "/api/spaces/*/*?*", Kind::fresh, 60s),
    hub_api("hf-other", "/api/**?*", Kind::pass),
    of_commit("/*/*/resolve/{hex40}/**?*"),
    of_commit("/*/*/raw/{hex40}/**?*"),
    of_commit("/*/resolve/{hex40}/**?*"),
    of_commit("/datasets/*/*/resolve/{hex40}/**?*"),
    of_commit("/datasets/*/*/raw/{hex40}/**?*"),
    of_commit("/spaces/*/*/resolve/{hex40}/**?*"),
    of_commit("/spaces/*/*/raw/{hex40}/**?*"),
    of_name("/*/*/resolve/**?*"),
    of_name("/*/*/raw/**?*"),
    of_name("/*/resolve/**?*"),
    of_name("/datasets/*/*/resolve/**?*"),
    of_name("/datasets/*/*/raw/**?*"),
    of_name("/spaces/*/*/resolve/**?*"),
    of_name("/spaces/*/*/raw/**?*"),
    {"hf-other", kHub, "", Kind::pass},
};

}  // namespace

config::RecipeSettings hf() {
  return {.name = "hf",
          .prefix = "/hf/",
          .to = "https://huggingface.co",
          .hosts = hosts_of(kHubs),
          .follow = hosts_of(kHubStorage),
          .rules = rules_of(kHubRows)};
}

}  // namespace proxy::mirrors::recipes
