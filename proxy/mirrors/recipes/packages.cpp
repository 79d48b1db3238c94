// Packages of Debian's kind (apt) and of Fedora's (dnf), of every mirrored host. The index names
// what it lists by digests, in paths or within. The signed list of a repository names the digest of
// each index. Each index is validated, because clients refuse an index that is older than the list.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using Kind = config::ResponseClass;

// Archives that never put another file under the name of an old one. Others do.
constexpr Upstream kDebian{"debian.org", "deb"};
constexpr Upstream kDebianSecurity{"debian.org", "security"};
constexpr Upstream kUbuntu{"ubuntu.com", "*"};

constexpr Row kApt[] = {
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA256/{sha256}", Kind::immutable},
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA512/{sha512}", Kind::immutable},
    {"apt-by-hash", kAnyHost, "/**/by-hash/SHA1/{hex40}", Kind::immutable},
    {"apt-by-hash", kAnyHost, "/**/by-hash/MD5Sum/{hex32}", Kind::immutable},
    {"apt-package", kDebian, "/**/pool/**", Kind::immutable},
    {"apt-package", kDebianSecurity, "/**/pool/**", Kind::immutable},
    {"apt-package", kUbuntu, "/**/pool/**", Kind::immutable},
    {"apt-replaceable", kAnyHost, "/**/pool/**", Kind::revalidate},
    {"apt-index", kAnyHost, "/**/dists/**", Kind::revalidate},
    {"apt-index", kAnyHost, "/**/InRelease", Kind::revalidate},
    {"apt-index", kAnyHost, "/**/Release", Kind::revalidate},
    {"apt-index", kAnyHost, "/**/Release.gpg", Kind::revalidate},
    {"apt-index", kAnyHost, "/**/Packages.*", Kind::revalidate},
};

constexpr Row kDnf[] = {
    {"dnf-metadata", kAnyHost, "/**/repodata/{sha256}-*", Kind::immutable},
    {"dnf-metadata", kAnyHost, "/**/repodata/{sha512}-*", Kind::immutable},
    {"dnf-metadata", kAnyHost, "/**/repodata/{hex40}-*", Kind::immutable},
    {"dnf-index", kAnyHost, "/**/repodata/**", Kind::revalidate},
    {"dnf-replaceable", kAnyHost, "/**/*latest*.rpm", Kind::revalidate},
    {"dnf-replaceable", kAnyHost, "/**/*current*.rpm", Kind::revalidate},
    {"dnf-package", kAnyHost, "/**/*.rpm", Kind::immutable},
};

}  // namespace

config::RecipeSettings apt() {
  return {.name = "apt", .rules = rules_of(kApt)};
}

config::RecipeSettings dnf() {
  return {.name = "dnf", .rules = rules_of(kDnf)};
}

}  // namespace proxy::mirrors::recipes
