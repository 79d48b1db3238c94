#include "proxy/mirrors/image_name.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "proxy/http/target.hpp"
#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

using Kind = ImagePart::Kind;

constexpr std::string_view kRoot = "/v2/";
constexpr std::string_view kNamespace = "ns=";
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestTag = 128;

// In the order of the enumerators.
constexpr std::array<std::string_view, 4> kWords{"manifests", "blobs", "tags", "referrers"};

bool is_word(std::string_view text, std::string_view others) {
  const auto belongs = [others](char c) {
    return http::is_letter(c) || http::is(http::kDigit, c) || others.find(c) != others.npos;
  };
  return !text.empty() && std::ranges::all_of(text, belongs);
}

// Capital letters, which the specification forbids, are in names of models.
bool is_name(std::string_view name) {
  if (name.size() > kLongestName) return false;
  for (;;) {
    const auto part = name.substr(0, name.find('/'));
    const auto begins_well = [](char c) { return is_word({&c, 1}, ""); };
    if (!is_word(part, "._-") || !begins_well(part.front()) || !begins_well(part.back())) {
      return false;
    }
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

bool is_tag(std::string_view text) {
  return text.size() <= kLongestTag && is_word(text, "._-") && text.front() != '.' &&
         text.front() != '-';
}

bool fits(Kind kind, std::string_view reference) {
  if (kind == Kind::tags) return reference == "list";
  return is_image_digest(reference) || (kind == Kind::manifest && is_tag(reference));
}

// Splits off the last part of the path, and the slash before it.
std::string_view take_last(std::string_view& path) {
  const auto slash = path.rfind('/');
  const auto last = path.substr(slash == path.npos ? 0 : slash + 1);
  path.remove_suffix(std::min(last.size() + 1, path.size()));
  return last;
}

// `rest`: the path behind kRoot, without a query, whose name may begin with a registry.
std::optional<ImagePart> split(std::string_view rest) {
  const auto reference = take_last(rest);
  const auto word = std::ranges::find(kWords, take_last(rest));
  if (word == kWords.end()) return std::nullopt;
  const auto kind = static_cast<Kind>(word - kWords.begin());
  if (!fits(kind, reference)) return std::nullopt;
  return ImagePart{kind, std::string(rest), std::string(reference)};
}

// The canonical host[:port] of a registry, which is asked over https. Clients encode the colon.
std::optional<std::string> parse_registry(std::string_view text) {
  std::string host(text);
  const auto colon = http::lower(text).find("%3a");
  if (colon != host.npos) host.replace(colon, 3, ":");
  if (!http::valid_host(host)) return std::nullopt;
  const auto url = http::parse_target("GET", "https://" + host + '/');
  if (!url) return std::nullopt;
  return std::string(url->authority());
}

bool is_registry(std::string_view part) {
  return part.find_first_of(".:") != part.npos || part == "localhost";
}

// Moves the parameter `ns` to asked.registry, and the others to asked.query. False: it is no host,
// or there are several.
bool read_query(std::string_view query, AskedImage& asked) {
  while (!query.empty()) {
    const auto parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    if (!parameter.starts_with(kNamespace)) {
      (asked.query += asked.query.empty() ? '?' : '&') += parameter;
      continue;
    }
    auto registry = parse_registry(parameter.substr(kNamespace.size()));
    if (!registry || asked.by_parameter) return false;
    asked.registry = std::move(*registry);
    asked.by_parameter = true;
  }
  return true;
}

// Moves the first part of the name to asked.registry, if it is one.
bool take_registry(AskedImage& asked) {
  auto& name = asked.part.name;
  const auto slash = name.find('/');
  if (slash == name.npos || !is_registry(std::string_view(name).substr(0, slash))) return true;
  auto registry = parse_registry(std::string_view(name).substr(0, slash));
  if (!registry) return false;
  asked.registry = std::move(*registry);
  name.erase(0, slash + 1);
  return true;
}

}  // namespace

bool is_image_digest(std::string_view text) {
  const bool is_short = text.starts_with("sha256:");
  if (!is_short && !text.starts_with("sha512:")) return false;
  text.remove_prefix(7);
  return text.size() == (is_short ? 64 : 128) &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string image_digest_of(std::string_view body) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  EVP_Digest(body.data(), body.size(), hash.data(), &size, EVP_sha256(), nullptr);
  std::string digest = "sha256:";
  for (unsigned i = 0; i < size; ++i) {
    digest += kDigits[hash[i] >> 4U];
    digest += kDigits[hash[i] & 15U];
  }
  return digest;
}

std::optional<ImagePart> ImagePart::parse(std::string_view path) {
  path = path.substr(0, path.find('?'));
  if (!path.starts_with(kRoot)) return std::nullopt;
  auto part = split(path.substr(kRoot.size()));
  if (!part || !is_name(part->name)) return std::nullopt;
  return part;
}

bool ImagePart::by_tag() const {
  return kind == Kind::manifest && !is_image_digest(reference);
}

bool ImagePart::names_body() const {
  return kind != Kind::referrers && is_image_digest(reference);
}

std::string ImagePart::path_of(std::string_view other) const {
  const auto word = kWords[static_cast<std::size_t>(kind)];
  auto path = std::string(kRoot).append(name).append("/");
  return path.append(word).append("/").append(other);
}

bool is_registry_path(std::string_view path) {
  return path.starts_with(kRoot) || is_registry_ping(path);
}

bool is_image_path(std::string_view path) {
  auto rest = path.substr(0, path.find('?'));
  take_last(rest);
  return std::ranges::find(kWords, take_last(rest)) != kWords.end();
}

bool is_registry_ping(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path == kRoot || path == kRoot.substr(0, kRoot.size() - 1);
}

std::string_view namespace_in(std::string_view target) {
  auto query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const auto parameter = query.substr(0, query.find('&'));
    query.remove_prefix(parameter.size());
    if (!parameter.starts_with(kNamespace)) continue;
    const auto value = parameter.substr(kNamespace.size());
    return parse_registry(value) ? value : std::string_view();
  }
  return {};
}

std::optional<AskedImage> AskedImage::parse(std::string_view path) {
  const auto question = std::min(path.find('?'), path.size());
  const auto query = path.substr(std::min(question + 1, path.size()));
  path = path.substr(0, question);
  if (!path.starts_with(kRoot)) return std::nullopt;
  auto part = split(path.substr(kRoot.size()));
  if (!part) return std::nullopt;
  AskedImage asked{std::move(*part), {}, false, {}};
  if (!read_query(query, asked)) return std::nullopt;
  if (!asked.by_parameter && !take_registry(asked)) return std::nullopt;
  if (!is_name(asked.part.name)) return std::nullopt;
  return asked;
}

}  // namespace proxy::mirrors
