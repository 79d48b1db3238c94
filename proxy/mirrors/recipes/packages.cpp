// Packages of Debian's kind (apt) and of Fedora's (dnf), of every mirrored host. The index names
// what it lists by digests, in paths or within. The signed list of a repository names the digest of
// each index. Each index is validated, because clients refuse an index that is older than the list.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;
constexpr auto kByContent = config::StoredUnder::content;

// Archives that never put another file under the name of an old one. Others do.
constexpr Upstream kDebian{"debian.org", "deb"};
constexpr Upstream kDebianSecurity{"debian.org", "security"};
constexpr Upstream kUbuntu{"ubuntu.com", "*"};

// An index that the signed list of its repository names, or may name.
constexpr Row apt_index(std::string_view pattern) {
  return {.name = "apt-index",
          .at = kAnyHost,
          .pattern = pattern,
          .kind = Kind::revalidate,
          .listed_by = "InRelease"};
}

constexpr Row apt_other(std::string_view pattern) {
  return {"apt-other", kAnyHost, pattern, Kind::pass};
}

constexpr Row dnf_other(std::string_view pattern) {
  return {"dnf-other", kAnyHost, pattern, Kind::pass};
}

// The last rows are for what has a query, which no client of an archive sends.
constexpr Row kApt[] = {
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA256/{sha256}", Kind::immutable, 0s, 0s, kByContent},
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA512/{sha512}", Kind::immutable, 0s, 0s, kByContent},
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA1/{hex40}", Kind::immutable},
    {"apt-by-hash", kAnyHost, "/**/by-hash/MD5Sum/{hex32}", Kind::immutable},
    {"apt-package", kDebian, "/**/pool/**", Kind::immutable},
    {"apt-package", kDebianSecurity, "/**/pool/**", Kind::immutable},
    {"apt-package", kUbuntu, "/**/pool/**", Kind::immutable},
    {"apt-replaceable", kAnyHost, "/**/pool/**", Kind::revalidate},
    {"apt-release", kAnyHost, "/**/InRelease", Kind::revalidate},
    {"apt-release", kAnyHost, "/**/Release", Kind::revalidate},
    {"apt-release", kAnyHost, "/**/Release.gpg", Kind::revalidate},
    apt_index("/**/dists/**"),
    apt_index("/**/Packages"),
    apt_index("/**/Packages.*"),
    apt_index("/**/Sources"),
    apt_index("/**/Sources.*"),
    apt_index("/**/Contents-*"),
    apt_index("/**/Translation-*"),
    {"apt-replaceable", kAnyHost, "/**/*.deb", Kind::revalidate},
    apt_other("/**/dists/**?*"),
    apt_other("/**/pool/**?*"),
    apt_other("/**/InRelease?*"),
    apt_other("/**/Packages?*"),
    apt_other("/**/Packages.*?*"),
    apt_other("/**/*.deb?*"),
};

constexpr Row kDnf[] = {
    {"dnf-metadata", kAnyHost, "/**/repodata/{sha256}-*", Kind::immutable, 0s, 0s, kByContent},
    {"dnf-metadata", kAnyHost, "/**/repodata/{sha512}-*", Kind::immutable, 0s, 0s, kByContent},
    {"dnf-metadata", kAnyHost, "/**/repodata/{hex40}-*", Kind::immutable},
    {"dnf-index", kAnyHost, "/**/repodata/**", Kind::revalidate},
    {"dnf-replaceable", kAnyHost, "/**/*latest*.rpm", Kind::revalidate},
    {"dnf-replaceable", kAnyHost, "/**/*current*.rpm", Kind::revalidate},
    {"dnf-package", kAnyHost, "/**/*.rpm", Kind::immutable},
    dnf_other("/**/repodata/**?*"),
    dnf_other("/**/*.rpm?*"),
};

}  // namespace

config::RecipeSettings apt() {
  return {.name = "apt", .rules = rules_of(kApt)};
}

config::RecipeSettings dnf() {
  return {.name = "dnf", .rules = rules_of(kDnf)};
}

}  // namespace proxy::mirrors::recipes
