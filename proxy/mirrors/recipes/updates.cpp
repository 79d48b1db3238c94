// Games by Steam, whose clients take us for its servers (a name in the DNS), and updates by
// Windows' Delivery Optimization, which names the server in the query. Both ask many servers for
// one file, so that the path alone names it; and both check what they get.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;
using NamedBy = config::RecipeSettings::NamedBy;
constexpr auto kPath = config::StoredUnder::path;

constexpr Upstream kSteam[] = {
    {"steamcontent.com", "*"},
    {"steamcontent.com", "*.steampipe"},
    {"steamcontent.com", "*.cdn.steampipe"},
};

// The digits of a chunk are the digest of what it holds once it is decoded.
constexpr Row kDepots[] = {
    {"steam-chunk", kAnyHost, "/depot/*/chunk/{hex40}?*", Kind::immutable, 0s, 0s, kPath},
    {"steam-manifest", kAnyHost, "/depot/*/manifest/**?*", Kind::immutable, 0s, 0s, kPath},
    {"steam-other", kAnyHost, "", Kind::pass},
};

constexpr Upstream kWindows[] = {
    {"microsoft.com", "*.dl.delivery.mp"}, {"microsoft.com", "*.tlu.dl.delivery.mp"},
    {"microsoft.com", "officecdn"},        {"windowsupdate.com", "*"},
    {"windowsupdate.com", "*.download"},
};

// The lists of certificates that are trusted, or are not any more, must be the newest.
constexpr Row kUpdates[] = {
    {"windows-trust", kAnyHost, "/msdownload/update/v3/static/trustedr/**?*", Kind::pass},
    {"windows-file", kAnyHost, "/filestreamingservice/files/**?*", Kind::immutable, 0s, 0s, kPath},
    {"windows-check", kAnyHost, "/mscomtest/**?*", Kind::fresh, 1h, 0s, kPath},
    {"windows-download", kAnyHost, "/msdownload/**?*", Kind::revalidate, 0s, 0s, kPath},
    {"windows-download", kAnyHost, "/d/msdownload/**?*", Kind::revalidate, 0s, 0s, kPath},
    {"windows-download", kAnyHost, "/pr/**?*", Kind::revalidate, 0s, 0s, kPath},
    {"windows-other", kAnyHost, "", Kind::pass},
};

}  // namespace

config::RecipeSettings steam() {
  return {.name = "steam",
          .named_by = NamedBy::host,
          .hosts = hosts_of(kSteam),
          .rules = rules_of(kDepots)};
}

config::RecipeSettings windows() {
  return {.name = "windows",
          .named_by = NamedBy::query,
          .parameter = "cacheHostOrigin",
          .hosts = hosts_of(kWindows),
          .rules = rules_of(kUpdates)};
}

}  // namespace proxy::mirrors::recipes
