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

// What is gated or private is absent without a token: the hub's X-Error-Code tells clients which of
// the two.
constexpr Row for_anybody(Row row) {
  row.hides_denied = true;
  return row;
}

// A name of a revision may have slashes, such as "refs%2Fpr%2F1".
constexpr Row of_revision(Row row) {
  row.slashes = true;
  return for_anybody(row);
}

constexpr Row listing(std::string_view pattern, Kind kind) {
  const auto name = kind == Kind::immutable ? "hf-listing-of-commit" : "hf-listing";
  return of_revision({name, kHub, pattern, kind, 60s, {}, kByUrl, false, kXet});
}

constexpr Row info(std::string_view pattern) {
  return for_anybody({"hf-info", kHub, pattern, Kind::fresh, 60s, {}, kByUrl, false, kXet});
}

constexpr Row paths(std::string_view pattern) {
  return of_revision({"hf-paths", kHub, pattern, Kind::pass, {}, {}, kByUrl, true, kXet});
}

// A commit lacks a file for as long as it lasts, but a file may be gated only for now.
constexpr Row of_commit(std::string_view pattern) {
  return of_revision({"hf-file-of-commit", kHub, pattern, Kind::immutable, {}, 60s});
}

constexpr Row of_name(std::string_view pattern) {
  return of_revision({"hf-file", kHub, pattern, Kind::revalidate});
}

constexpr Row kHubRows[] = {
    {"hf-xet", kHub, "/api/**/xet-read-token/**?*", Kind::absent},
    {"hf-xet", kHub, "/api/**/xet-write-token/**?*", Kind::absent},
    paths("/api/*/*/*/paths-info/**?*"),
    paths("/api/*/*/paths-info/**?*"),
    listing("/api/*/*/*/tree/{hex40}/**?*", Kind::immutable),
    listing("/api/*/*/*/revision/{hex40}?*", Kind::immutable),
    listing("/api/*/*/tree/{hex40}/**?*", Kind::immutable),
    listing("/api/*/*/revision/{hex40}?*", Kind::immutable),
    listing("/api/*/*/*/tree/**?*", Kind::fresh),
    listing("/api/*/*/*/revision/**?*", Kind::fresh),
    listing("/api/*/*/tree/**?*", Kind::fresh),
    listing("/api/*/*/revision/**?*", Kind::fresh),
    info("/api/models/*/*?*"),
    info("/api/models/*?*"),
    info("/api/datasets/*/*?*"),
    info("/api/datasets/*?*"),
    info("/api/spaces/*/*?*"),
    for_anybody({"hf-other", kHub, "/api/**?*", Kind::pass, {}, {}, kByUrl, false, kXet}),
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
    for_anybody({"hf-other", kHub, "", Kind::pass}),
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
