// Packages of Python. A page lists a project's files on another server with their digests, which
// links to a mirror name, so that files are verified. A page has two forms, which the client's
// Accept chooses. Its list of all projects is too long to be kept.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kPypiIndex{"pypi.org"};
constexpr Upstream kPypiFiles{"pythonhosted.org", "files"};
constexpr Upstream kTorch{"pytorch.org", "download"};
constexpr Upstream kTorchFiles{"pytorch.org", "download-r2"};
constexpr Upstream kNvidia{"nvidia.com", "pypi"};
constexpr Upstream kPypiHosts[] = {kPypiIndex, kPypiFiles, kTorch, kTorchFiles, kNvidia};

constexpr std::string_view kPypiLinks[] = {"url"};

constexpr Row pypi_page(Upstream at, std::string_view pattern) {
  return {"pypi-page", at, pattern, Kind::fresh, 600s, 60s};
}

constexpr Row pypi_file(Upstream at, std::string_view pattern) {
  return {"pypi-file", at, pattern, Kind::immutable, 0s, 60s};
}

// Other indexes have pages at paths of their own.
constexpr Row kPypiRows[] = {
    {"pypi-list", kPypiIndex, "/simple/", Kind::pass},
    pypi_page(kPypiIndex, "/simple/*/"),
    pypi_page(kPypiIndex, "/simple/*"),
    pypi_page(kPypiIndex, "/pypi/*/json"),
    pypi_page(kPypiIndex, "/pypi/*/*/json"),
    pypi_file(kPypiFiles, "/packages/**"),
    pypi_file(kTorch, "/**/*.whl"),
    pypi_file(kTorchFiles, "/**/*.whl"),
    pypi_file(kTorch, "/**/*.whl.metadata"),
    pypi_file(kTorchFiles, "/**/*.whl.metadata"),
    pypi_file(kTorch, "/**/*.tar.gz"),
    pypi_file(kNvidia, "/**/*.tar.gz"),
    pypi_file(kNvidia, "/**/*.whl"),
    pypi_file(kNvidia, "/**/*.whl.metadata"),
    pypi_page(kTorch, "/whl/**"),
    pypi_page(kNvidia, "/**"),
    {"pypi-other", kAnyHost, "", Kind::pass},
};

}  // namespace

config::RecipeSettings pypi() {
  config::RecipeSettings recipe{.name = "pypi",
                                .prefix = "/pypi/",
                                .to = server_of(kPypiIndex),
                                .hosts = hosts_of(kPypiHosts),
                                .rules = rules_of(kPypiRows)};
  set_links(recipe, "pypi-page", kPypiLinks);
  return recipe;
}

}  // namespace proxy::mirrors::recipes
