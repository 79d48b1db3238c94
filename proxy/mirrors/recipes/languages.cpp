// Packages of further languages. An index is validated each time, or after a while; a file of a
// version never changes. What clients read there either names no server, or links that they get as
// paths of ours.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;
constexpr auto kNamedByContent = config::StoredUnder::content;
constexpr auto kMonthOfArchives = 30 * 24h;

constexpr Row language_index(std::string_view name, std::string_view pattern) {
  return {name, kAnyHost, pattern, Kind::revalidate, 0s, 10s};
}

constexpr Row language_file(std::string_view name, std::string_view pattern) {
  return {name, kAnyHost, pattern, Kind::immutable, 0s, 60s};
}

constexpr Row language_page(std::string_view name, std::string_view pattern) {
  return {name, kAnyHost, pattern, Kind::fresh, 60s, 10s};
}

constexpr Row language_other(std::string_view name) {
  return {name, kAnyHost, "", Kind::pass};
}

// Maven and Gradle: a SNAPSHOT is replaced under its name, unless that has a time. The metadata and
// its checksums are validated each time, so that they are of one time.
constexpr Upstream kCentral{"maven.org", "repo1"};
constexpr Upstream kJava[] = {kCentral, {"gradle.org", "plugins"}, {"google.com", "maven"}};
constexpr Upstream kJavaStorage[] = {{"gradle.org", "plugins-artifacts"}, {"google.com", "dl"}};
constexpr Row kMaven[] = {
    language_index("maven-metadata", "/**/maven-metadata.*"),
    language_index("maven-snapshot", "/**/*-SNAPSHOT/*-SNAPSHOT*"),
    language_index("maven-snapshot", "/**/SNAPSHOT/*SNAPSHOT*"),
    language_index("maven-snapshot", "/**/*-snapshot/*-snapshot*"),
    language_file("maven-file", "/**/*.jar"),
    language_file("maven-file", "/**/*.jar.*"),
    language_file("maven-file", "/**/*.pom"),
    language_file("maven-file", "/**/*.pom.*"),
    language_file("maven-file", "/**/*.module"),
    language_file("maven-file", "/**/*.module.*"),
    language_file("maven-file", "/**/*.aar"),
    language_file("maven-file", "/**/*.aar.*"),
    language_file("maven-file", "/**/*.war"),
    language_file("maven-file", "/**/*.zip"),
    language_index("maven-index", "/**"),
    language_other("maven-other"),
};

// Conda, mamba and pixi: a shard of the index has its digest for a name. A private channel is named
// by a token in its path.
constexpr Upstream kCondaChannels{"anaconda.org", "conda"};
constexpr Upstream kConda[] = {kCondaChannels, {"anaconda.com", "repo"}};
constexpr Upstream kCondaStorage[] = {{"anaconda.org", "*"}, {"amazonaws.com", "*.s3"}};
constexpr Row kCondaRows[] = {
    {"conda-private", kAnyHost, "/t/**?*", Kind::pass},
    {"conda-shard", kAnyHost, "/**/{sha256}.msgpack.zst", Kind::immutable, 0s, 60s,
     kNamedByContent},
    language_file("conda-package", "/**/*.conda"),
    language_file("conda-package", "/**/*.tar.bz2"),
    {"conda-index", kAnyHost, "/**", Kind::fresh, 30s, 60s},
    language_other("conda-other"),
};

// Bundler asks for the end of an index that grows, on the condition that it has changed.
constexpr Upstream kGems{"rubygems.org"};
constexpr Upstream kGemHosts[] = {kGems, {"rubygems.org", "index"}};
constexpr Row kGemRows[] = {
    language_index("gem-index", "/versions"), language_index("gem-index", "/info/*"),
    language_index("gem-index", "/names"),    language_index("gem-index", "/specs.*"),
    language_index("gem-index", "/*specs.*"), language_file("gem-file", "/gems/*.gem"),
    language_file("gem-file", "/quick/**"),   language_other("gem-other"),
};

// Composer: archives are those of a commit, which the storage sends anew for each request.
constexpr Upstream kPackagist{"packagist.org", "repo"};
constexpr Upstream kHubApi{"github.com", "api"};
constexpr Upstream kComposerHosts[] = {kPackagist, kHubApi};
constexpr Upstream kComposerStorage[] = {{"github.com", "codeload"}};
constexpr std::string_view kComposerLinks[] = {"dist.url"};
constexpr Row kComposerRows[] = {
    {"composer-root", kPackagist, "/packages.json", Kind::pass},
    {"composer-index", kPackagist, "/p2/**", Kind::fresh, 60s, 10s},
    {"composer-archive", kHubApi, "/repos/*/*/zipball/{hex40}", Kind::fresh, kMonthOfArchives, 10s},
    {"composer-other", kPackagist, "", Kind::pass},
};

// NuGet: what the first page tells of the others leads to the mirror. Restoring reads no links of
// any other page.
constexpr Upstream kNugetApi{"nuget.org", "api"};
constexpr Upstream kNugetHosts[] = {kNugetApi};
constexpr std::string_view kNugetLinks[] = {"@id"};
constexpr Row kNugetRows[] = {
    language_page("nuget-root", "/v3/index.json"),
    language_file("nuget-file", "/v3-flatcontainer/*/*/*.nupkg"),
    language_file("nuget-file", "/v3-flatcontainer/*/*/*.nuspec"),
    {"nuget-index", kAnyHost, "/v3-flatcontainer/*/index.json", Kind::fresh, 60s, 10s},
    {"nuget-index", kAnyHost, "/v3/registration*/**", Kind::fresh, 300s, 10s},
    language_other("nuget-other"),
};

// Hex, of Erlang and Elixir: the index is signed.
constexpr Upstream kHexRepo{"hex.pm", "repo"};
constexpr Upstream kHexHosts[] = {kHexRepo};
constexpr Row kHexRows[] = {
    language_file("hex-file", "/tarballs/*.tar"),
    language_index("hex-index", "/packages/*"),
    language_index("hex-index", "/names"),
    language_index("hex-index", "/versions"),
    language_index("hex-index", "/public_key"),
    language_index("hex-install", "/installs/**"),
    language_other("hex-other"),
};

// Dart's pub: the document of a package names its archives and their digests.
constexpr Upstream kPubDev{"pub.dev"};
constexpr Upstream kPubHosts[] = {kPubDev};
constexpr Upstream kPubStorage[] = {{"googleapis.com", "storage"}};
constexpr std::string_view kPubLinks[] = {"archive_url"};
constexpr Row kPubRows[] = {
    language_page("pub-index", "/api/packages/*"),
    language_page("pub-index", "/api/packages/*/versions/*"),
    language_file("pub-file", "/api/archives/*.tar.gz"),
    language_file("pub-file", "/packages/*/versions/*.tar.gz"),
    language_other("pub-other"),
};

// CRAN: an old version moves to the archive, and its old place is then empty. Binaries are built
// anew under their names.
constexpr Upstream kCloud{"r-project.org", "cloud"};
constexpr Upstream kCranHosts[] = {kCloud, {"r-project.org", "cran"}};
constexpr Row kCranRows[] = {
    language_index("cran-index", "/**/PACKAGES*"),
    language_file("cran-file", "/**/src/contrib/*.tar.gz"),
    language_file("cran-file", "/**/src/contrib/Archive/**"),
    language_index("cran-index", "/**"),
    language_other("cran-other"),
};

// Julia's clients ask one server for everything, and check what they get.
// The digits are digests of trees, which clients check.
constexpr Upstream kPkg{"julialang.org", "pkg"};
constexpr Upstream kJuliaHosts[] = {kPkg};
constexpr Upstream kJuliaStorage[] = {{"julialang.org", "*.pkg"}, {"julialang.org", "storage"}};
constexpr Row kJuliaRows[] = {
    {"julia-index", kAnyHost, "/registries", Kind::fresh, 60s},
    {"julia-index", kAnyHost, "/registries.*", Kind::fresh, 60s},
    language_file("julia-file", "/registry/*/{hex40}"),
    language_file("julia-file", "/package/*/{hex40}"),
    language_file("julia-file", "/artifact/{hex40}"),
    language_other("julia-other"),
};

struct Language {
  std::string_view name;  // also the path's first part
  Upstream to;
  std::span<const Upstream> hosts;
  std::span<const Row> rows;
  std::span<const Upstream> follow = {};
  std::string_view page = {};  // the rows whose links change
  std::span<const std::string_view> links = {};
};
constexpr Language kLanguages[] = {
    {"composer", kPackagist, kComposerHosts, kComposerRows, kComposerStorage, "composer-index",
     kComposerLinks},
    {"conda", kCondaChannels, kConda, kCondaRows, kCondaStorage},
    {"cran", kCloud, kCranHosts, kCranRows},
    {"gem", kGems, kGemHosts, kGemRows},
    {"hex", kHexRepo, kHexHosts, kHexRows},
    {"julia", kPkg, kJuliaHosts, kJuliaRows, kJuliaStorage},
    {"maven", kCentral, kJava, kMaven, kJavaStorage},
    {"nuget", kNugetApi, kNugetHosts, kNugetRows, {}, "nuget-root", kNugetLinks},
    {"pub", kPubDev, kPubHosts, kPubRows, kPubStorage, "pub-index", kPubLinks},
};

}  // namespace

std::vector<config::RecipeSettings> languages() {
  std::vector<config::RecipeSettings> all;
  for (const auto& one : kLanguages) {
    const std::string name(one.name);
    all.push_back({.name = name,
                   .prefix = '/' + name + '/',
                   .to = server_of(one.to),
                   .hosts = hosts_of(one.hosts),
                   .follow = hosts_of(one.follow),
                   .rules = rules_of(one.rows)});
    set_links(all.back(), one.page, one.links);
  }
  all.front().rules.front().by_pattern->text.made =
      R"({"metadata-url":"{base}/composer/p2/%package%.json","packages":[]})"
      "\n";
  return all;
}

}  // namespace proxy::mirrors::recipes
