#include "proxy/command/fetch_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace proxy::command {
namespace {

using Json = nlohmann::json;
using Kind = FetchStep::Kind;
using Steps = std::vector<FetchStep>;

constexpr std::string_view kHub = "hf://";
constexpr std::string_view kManifests = "/manifests/";
constexpr std::string_view kLower = "abcdefghijklmnopqrstuvwxyz0123456789";

// A path is made of it, so that nothing else may pass for one.
bool is_digest(std::string_view text) {
  const bool is_short = text.starts_with("sha256:");
  if (!is_short && !text.starts_with("sha512:")) return false;
  text.remove_prefix(7);
  return text.size() == (is_short ? 64 : 128) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_of(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [more](char c) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return kLower.find(lower) != kLower.npos || more.find(c) != more.npos;
  });
}

// Each part of a path apart, so that slashes stay.
std::string encoded(std::string_view path, std::string_view kept) {
  std::string out;
  for (const char c : path) {
    if (is_of({&c, 1}, kept)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string_view take_until(std::string_view& text, char end) {
  const auto part = text.substr(0, text.find(end));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

// Without a registry, "alpine:3" could as well be the name of a file, or a mistyped one.
std::optional<FetchStep> image_step(std::string_view text) {
  std::string_view rest = text;
  const auto registry = take_until(rest, '/');
  const bool is_registry = registry.find_first_of(".:") != registry.npos || registry == "localhost";
  if (!is_registry || !is_of(registry, ".:-")) return std::nullopt;
  auto name = take_until(rest, '@');
  std::string reference(rest);
  const auto colon = name.find(':');
  if (colon != name.npos) {
    const auto tag = name.substr(colon + 1);
    if (!is_of(tag, "._-")) return std::nullopt;
    name = name.substr(0, colon);
    if (reference.empty()) reference = tag;
  }
  const bool has_digest = !rest.empty();
  if (!is_of(name, "/._-") || (has_digest && !is_digest(rest))) return std::nullopt;
  if (reference.empty()) reference = "latest";
  auto path = fmt::format("/v2/{}/{}{}{}", registry, name, kManifests, reference);
  return FetchStep{Kind::manifest, std::move(path), std::string(text)};
}

// "/hf/api/models/a/b" and "/hf/a/b" are of one repository.
FetchStep listing_step(std::string_view repository, std::string_view revision,
                       std::string_view folder, std::string name) {
  const bool is_model = !repository.starts_with("datasets/") && !repository.starts_with("spaces/");
  auto path = fmt::format("/hf/api/{}{}/tree/{}{}{}?recursive=true", is_model ? "models/" : "",
                          repository, revision, folder.empty() ? "" : "/", folder);
  return {Kind::listing, std::move(path), std::move(name)};
}

FetchStep file_step(std::string_view repository, std::string_view revision, std::string_view path) {
  return {Kind::file,
          fmt::format("/hf/{}/resolve/{}/{}", repository, revision, encoded(path, "/-._~")),
          fmt::format("hf://{}/{}", repository, path)};
}

// The revision ends at the first slash behind the "@": slashes in its own name are encoded.
std::optional<FetchStep> hub_step(std::string_view text) {
  auto rest = text.substr(kHub.size());
  std::string repository;
  for (const std::string_view kind : {"datasets/", "spaces/"}) {
    if (!rest.starts_with(kind)) continue;
    repository = kind;
    rest.remove_prefix(kind.size());
  }
  const auto owner = take_until(rest, '/');
  const auto path_at = rest.find('/', std::min(rest.find('@'), rest.size()));
  const bool names_revision = rest.find('@') < rest.find('/');
  auto named = rest.substr(0, names_revision ? path_at : rest.find('/'));
  rest.remove_prefix(std::min(named.size() + 1, rest.size()));
  const auto name = take_until(named, '@');
  if (!is_of(owner, "._-") || !is_of(name, "._-")) return std::nullopt;
  ((repository += owner) += '/') += name;
  const auto revision = named.empty() ? "main" : encoded(named, "-._~");
  if (!rest.empty() && !rest.ends_with('/')) return file_step(repository, revision, rest);
  if (!rest.empty()) rest.remove_suffix(1);
  return listing_step(repository, revision, encoded(rest, "/-._~"), std::string(text));
}

std::string text_in(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() || !found->is_string() ? "" : found->get<std::string>();
}

// Of an entry of an index; "unknown/unknown" are signatures and the like.
std::string platform_of(const Json& manifest) {
  const auto found = manifest.find("platform");
  if (found == manifest.end()) return "";
  const auto variant = text_in(*found, "variant");
  return text_in(*found, "os") + '/' + text_in(*found, "architecture") +
         (variant.empty() ? "" : '/' + variant);
}

// Who wants "linux/arm64" takes each variant of it.
bool is_wanted(std::string_view platform, std::span<const std::string> wanted) {
  return wanted.empty() || std::ranges::any_of(wanted, [platform](std::string_view one) {
           return platform == one ||
                  (platform.starts_with(one) && platform.substr(one.size()).starts_with('/'));
         });
}

// The path of a blob or manifest of the same repository.
std::string path_beside(const std::string& path, std::string_view word, std::string_view digest) {
  return path.substr(0, path.rfind(kManifests)).append(word).append(digest);
}

Result<Steps> steps_of_index(const FetchStep& step, const Json& manifests,
                             std::span<const std::string> platforms) {
  Steps steps;
  std::vector<std::string> others;
  for (const auto& manifest : manifests) {
    const auto digest = text_in(manifest, "digest");
    if (!is_digest(digest)) return Trouble{"the index names no digests"};
    const auto platform = platform_of(manifest);
    if (!is_wanted(platform, platforms)) {
      others.push_back(platform);
      continue;
    }
    steps.push_back({Kind::manifest, path_beside(step.target, kManifests, digest),
                     fmt::format("{} ({})", step.name, platform), step.levels - 1});
  }
  if (steps.empty() && !others.empty())
    return Trouble{fmt::format("has no image for {}, but for {}", fmt::join(platforms, ", "),
                               fmt::join(others, ", "))};
  return steps;
}

Result<Steps> steps_of_manifest(const FetchStep& step, const Json& json,
                                std::span<const std::string> platforms) {
  const auto manifests = json.find("manifests");
  if (manifests != json.end() && manifests->is_array() && step.levels > 0)
    return steps_of_index(step, *manifests, platforms);
  const auto layers = json.find("layers");
  if (layers == json.end() || !layers->is_array()) return Trouble{"is no manifest of an image"};
  Steps steps;
  const auto add = [&](const Json& blob) {
    const auto digest = text_in(blob, "digest");
    if (!is_digest(digest)) return false;
    steps.push_back({Kind::file, path_beside(step.target, "/blobs/", digest),
                     fmt::format("{} ({})", step.name, digest.substr(0, 19))});
    return true;
  };
  bool is_good = add(json.value("config", Json()));
  for (const auto& layer : *layers) is_good = is_good && add(layer);
  if (!is_good) return Trouble{"the manifest names no digests"};
  return steps;
}

// "/hf/api/models/o/r/tree/REVISION..." as the repository and the revision.
Result<Steps> steps_of_listing(const FetchStep& step, const Json& files, const std::string& next) {
  constexpr std::string_view kTree = "/tree/";
  auto rest = std::string_view(step.target).substr(std::string_view("/hf/api/").size());
  if (rest.starts_with("models/")) rest.remove_prefix(std::string_view("models/").size());
  const auto tree = rest.find(kTree);
  const auto repository = rest.substr(0, tree);
  rest.remove_prefix(std::min(tree + kTree.size(), rest.size()));
  const auto revision = rest.substr(0, rest.find_first_of("/?"));
  Steps steps;
  for (const auto& file : files) {
    const auto path = text_in(file, "path");
    if (text_in(file, "type") == "file" && !path.empty())
      steps.push_back(file_step(repository, revision, path));
  }
  const auto path_at = next.find("/hf/api/");
  const bool is_clean = std::ranges::all_of(next, [](char c) { return c > ' ' && c < 0x7f; });
  if (is_clean && path_at != next.npos)
    steps.push_back({Kind::listing, next.substr(path_at), step.name});
  return steps;
}

}  // namespace

std::optional<FetchStep> first_step(const std::string& text) {
  if (text.starts_with(kHub)) return hub_step(text);
  if (text.find("://") != text.npos) return FetchStep{Kind::url, text, text};
  return image_step(text);
}

std::string by_digest(const std::string& path, const std::string& digest) {
  const bool is_manifest = path.rfind(kManifests) != path.npos;
  return is_manifest && is_digest(digest) ? path_beside(path, kManifests, digest) : "";
}

std::string this_platform() {
  utsname system{};
  const std::string_view machine = ::uname(&system) == 0 ? system.machine : "";
  const std::pair<std::string_view, std::string_view> names[] = {
      {"x86_64", "amd64"}, {"aarch64", "arm64"}, {"armv7l", "arm"}, {"i686", "386"}};
  const auto found =
      std::ranges::find(names, machine, &std::pair<std::string_view, std::string_view>::first);
  return "linux/" + std::string(found == std::end(names) ? machine : found->second);
}

Result<Steps> steps_after(const FetchStep& step, const std::string& answer,
                          std::span<const std::string> platforms, const std::string& next) {
  if (step.kind != Kind::manifest && step.kind != Kind::listing) return Steps();
  const auto json = Json::parse(answer, nullptr, false);
  if (step.kind == Kind::manifest && json.is_object())
    return steps_of_manifest(step, json, platforms);
  if (step.kind == Kind::listing && json.is_array()) return steps_of_listing(step, json, next);
  return Trouble{step.kind == Kind::listing ? "is no listing of files" : "is no manifest"};
}

std::string next_link(std::string_view links) {
  for (auto open = links.find('<'); open != links.npos; open = links.find('<')) {
    links.remove_prefix(open + 1);
    const auto target = take_until(links, '>');
    const auto parameters = links.substr(0, links.find('<'));
    if (parameters.find("rel=\"next\"") != parameters.npos) return std::string(target);
  }
  return {};
}

}  // namespace proxy::command
