#include <algorithm>
#include <array>
#include <string>

#include "config/sections.hpp"

namespace config {

namespace {

constexpr std::string_view kHostForm =
    "a host like \"www.example.com\" or \"*.example.com\", perhaps with a port";
constexpr std::string_view kRegistryForm = "a host, perhaps with a port";
constexpr std::size_t kMostAuthorities = 64;  // the system's certificates are read for each

void read_authorities(Section& in, std::vector<HostCertificates>& ca) {
  const auto found = in.find("ca");
  if (!found) return;
  const auto* all = std::get_if<Object>(&found->value->content);
  if (!all || all->size() > kMostAuthorities) {
    return in.expected(*found, "an object with at most 64 hosts, each with the path of a file");
  }
  for (const Member& member : *all) {
    const LocatedValue value{&member.value, path_of(found->path, member.key)};
    const auto host = parse_mirrored(member.key);
    const bool is_host = host && !host->port;
    if (!is_host) in.fault(value, "is no host like \"www.example.com\" or \"*.example.com\"");
    const auto file = in.parsed(value, "the path of a file of certificates (PEM)", plain_text);
    if (is_host && file) ca.push_back({host->host, *file});
  }
}

// One part of a path. The paths of our own pages stay ours.
bool is_prefix(const std::string& text) {
  constexpr std::array<std::string_view, 9> kOurs{"/admin/",   "/digest/", "/health/",
                                                  "/hearsay/", "/http/",   "/https/",
                                                  "/metrics/", "/sha256/", "/sha512/"};
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
  if (text.size() < 3 || text.size() > 64 || !text.starts_with('/') || !text.ends_with('/'))
    return false;
  const auto word = std::string_view(text).substr(1, text.size() - 2);
  return word.find_first_not_of(kLetters) == word.npos && !word.starts_with('.') &&
         std::ranges::find(kOurs, text) == kOurs.end();
}

bool is_server(const std::string& text) {
  const auto url = parse_server_url(text);
  return url && text.find('/', text.find("//") + 2) == text.npos;
}

RecipeSettings read_recipe(Section& in) {
  RecipeSettings recipe;
  if (in.require("name", "a word")) in.read_token("name", recipe.name);
  in.read_parsed("prefix", recipe.prefix,
                 "one part of a path that none of our pages has, such as \"/models/\"",
                 text_if(is_prefix));
  in.read_parsed("to", recipe.to, "a URL like \"https://models.example.com\", without a path",
                 text_if(is_server));
  in.read_texts("hosts", {"hosts, such as \"*.example.com\"", 256}, recipe.hosts, kHostForm,
                parse_mirrored);
  in.read_texts("follow", {"hosts, such as \"*.example.com\"", 256}, recipe.follow, kHostForm,
                parse_mirrored);
  if (in.find("prefix").has_value() != in.find("to").has_value())
    in.fault(in.whole(), "needs both prefix and to, or neither");
  if (const auto url = parse_server_url(recipe.to)) {
    const bool is_standard = url->at.port == (url->tls ? 443 : 80);
    recipe.hosts.push_back(
        {url->at.host, is_standard ? std::nullopt : std::optional(url->at.port)});
  }
  in.read_token("like", recipe.like);
  read_recipe_rules(in, recipe.rules);
  in.finish();
  return recipe;
}

// Names of ours, and tables of the site.
void read_recipes(Section& in, MirrorSettings& mirrors) {
  constexpr std::string_view kForm =
      "\"default\", or a list of names such as \"github\" and of objects";
  const auto found = in.find("recipes");
  if (!found) return;
  if (found->text() && *found->text() == "default") return void(mirrors.recipes = {"default"});
  if (!std::holds_alternative<Array>(found->value->content)) return in.expected(*found, kForm);
  const auto items = in.items("recipes", "names and objects", 64);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    if (const auto* const name = item.text()) {
      mirrors.recipes.push_back(*name);
      continue;
    }
    Section part(item, in.faults());  // a fault, unless it is an object
    if (part.is_object()) mirrors.own_recipes.push_back(read_recipe(part));
  }
}

bool is_registry(const std::string& text) {
  const auto host = parse_mirrored(text);
  return host && !host->host.starts_with('*');
}

void read_registries(Section& in, std::vector<HostRegistry>& registries) {
  const auto found = in.find("registries");
  if (!found) return;
  const auto* all = std::get_if<Object>(&found->value->content);
  if (!all || all->size() > kMostAuthorities) {
    return in.expected(*found, "an object with at most 64 hosts, each with the host of a registry");
  }
  for (const Member& member : *all) {
    const LocatedValue value{&member.value, path_of(found->path, member.key)};
    const auto host = parse_host_pattern(member.key);
    if (!host) in.fault(value, "is no host like \"images.example.com\" or \"*:5000\"");
    const auto registry = in.parsed(value, kRegistryForm, text_if(is_registry));
    if (host && registry) registries.push_back({*host, *registry});
  }
}

}  // namespace

void read_registry(Section& in, std::string& registry) {
  in.read_parsed("registry", registry, kRegistryForm, text_if(is_registry));
}

// Whoever may use such a path has this proxy ask the host, so all hosts, or all hosts of a
// top-level domain, are no choice.
std::optional<HostSpec> parse_mirrored(const std::string& text) {
  auto host = parse_host_pattern(text);
  const bool is_wild = host && host->host.starts_with('*');
  if (is_wild && host->host.find('.', 2) == std::string::npos) return std::nullopt;
  return host;
}

void read_mirrors(Section& in, MirrorSettings& mirrors) {
  in.read_texts("hosts", {"hosts, such as \"*.example.com\"", 256}, mirrors.hosts, kHostForm,
                parse_mirrored);
  read_recipes(in, mirrors);
  read_registry(in, mirrors.registry);
  read_registries(in, mirrors.registries);
  read_authorities(in, mirrors.ca);
  in.read_word("share", mirrors.share,
               {{"anonymous", MirrorShare::anonymous}, {"none", MirrorShare::none}});
}

}  // namespace config
