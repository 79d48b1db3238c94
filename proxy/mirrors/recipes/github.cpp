// Releases, archives and files of GitHub. A release redirects to a signed URL of a storage, which
// lasts for minutes, and may be replaced; so may everything that a tag or a branch names.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kSite{"github.com"};
constexpr Upstream kArchives{"github.com", "codeload"};
constexpr Upstream kRaw{"githubusercontent.com", "raw"};
constexpr Upstream kHosts[] = {kSite, kArchives, kRaw, {"github.com", "api"}};

constexpr Upstream kStorage[] = {
    {"githubusercontent.com", "release-assets"},
    {"githubusercontent.com", "objects"},
    {"githubusercontent.com", "media"},
};

constexpr auto kMonth = 30 * 24h;

constexpr Row kRows[] = {
    {"github-latest", kSite, "/*/*/releases/latest/download/*", Kind::fresh, 60s},
    {"github-asset", kSite, "/*/*/releases/download/**", Kind::fresh, 24h},
    {"github-archive-of-commit", kSite, "/*/*/archive/{hex40}.*", Kind::fresh, kMonth},
    {"github-archive", kSite, "/*/*/archive/**", Kind::revalidate},
    {"github-file-of-commit", kSite, "/*/*/raw/{hex40}/**", Kind::immutable},
    {"github-file", kSite, "/*/*/raw/**", Kind::fresh, 300s},
    {"github-archive-of-commit", kArchives, "/*/*/*/{hex40}", Kind::fresh, kMonth},
    {"github-archive", kArchives, "/*/*/*/**", Kind::revalidate},
    {"github-file-of-commit", kRaw, "/*/*/{hex40}/**", Kind::immutable},
    {"github-file", kRaw, "/*/*/*/**", Kind::fresh, 300s},
    {"github-other", kAnyHost, "", Kind::pass},
};

}  // namespace

config::RecipeSettings github() {
  return {.name = "github",
          .prefix = "/github/",
          .to = server_of(kSite),
          .hosts = hosts_of(kHosts),
          .follow = hosts_of(kStorage),
          .rules = rules_of(kRows)};
}

}  // namespace proxy::mirrors::recipes
