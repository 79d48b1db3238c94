#include "proxy/mirrors/recipe_map.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors {
namespace {

using NamedBy = config::RecipeSettings::NamedBy;

void append(std::vector<config::HostSpec>& to, const std::vector<config::HostSpec>& hosts) {
  to.insert(to.end(), hosts.begin(), hosts.end());
}

std::vector<config::HostSpec> hosts_by_field(std::span<const config::RecipeSettings> recipes) {
  std::vector<config::HostSpec> hosts;
  for (const auto& recipe : recipes) {
    if (recipe.named_by == NamedBy::host) append(hosts, recipe.hosts);
  }
  return hosts;
}

using HostsByParameter = std::map<std::string, std::vector<config::HostSpec>>;

// A table that is like a recipe has the same parameter, and hosts of its own.
HostsByParameter hosts_by_parameter(std::span<const config::RecipeSettings> recipes) {
  HostsByParameter hosts;
  for (const auto& recipe : recipes) {
    if (recipe.named_by == NamedBy::query) append(hosts[recipe.parameter], recipe.hosts);
  }
  return hosts;
}

// "https://models.example.com" as "/https/models.example.com/".
std::string path_for(std::string_view server) {
  const auto scheme = server.substr(0, server.find(':'));
  return std::string("/").append(scheme).append("/").append(server.substr(scheme.size() + 3)) + '/';
}

// The value of the parameter, which `begins` it with its "="; empty: there is none, or several.
std::string_view value_in(std::string_view query, std::string_view begins) {
  std::string_view value;
  for (bool found = false; !query.empty();) {
    const auto parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    if (!parameter.starts_with(begins)) continue;
    if (found) return {};
    found = true;
    value = parameter.substr(begins.size());
  }
  return value;
}

std::vector<config::RecipeSettings> ours_named(const std::string& name) {
  auto ours = recipes::all_recipes();
  if (name != "default") std::erase_if(ours, [&](const auto& one) { return one.name != name; });
  if (ours.empty()) throw std::runtime_error("mirrors.recipes: there is no recipe \"" + name + '"');
  return ours;
}

}  // namespace

std::vector<config::RecipeSettings> chosen_recipes(const config::MirrorSettings& settings) {
  auto chosen = settings.own_recipes;
  for (auto& own : chosen) {
    if (own.like.empty()) continue;
    if (own.like == "default")
      throw std::runtime_error("mirrors.recipes: like names one recipe, not \"default\"");
    for (const auto& ours : ours_named(own.like)) {
      for (auto rule : ours.rules) {
        rule.host = {"*", {}};
        rule.by_pattern->text.made.clear();  // names servers of ours
        own.rules.push_back(std::move(rule));
      }
      if (!own.prefix.empty()) continue;
      own.named_by = ours.named_by;
      own.parameter = ours.parameter;
    }
  }
  std::vector<config::RecipeSettings> for_all;
  for (const auto& name : settings.recipes) {
    for (auto& ours : ours_named(name))
      (ours.hosts.empty() ? for_all : chosen).push_back(std::move(ours));
  }
  std::ranges::move(for_all, std::back_inserter(chosen));
  return chosen;
}

MirroredHosts mirrored_hosts(const config::MirrorSettings& settings) {
  auto hosts = settings.hosts;
  for (const auto& recipe : chosen_recipes(settings)) append(hosts, recipe.hosts);
  return MirroredHosts(hosts);
}

// A listed host may be named by each parameter, since the site has allowed it for every client.
RecipeMap::RecipeMap(std::span<const config::RecipeSettings> recipes, Registries registries,
                     const std::vector<config::HostSpec>& listed)
    : registries_(std::move(registries)), hosts_(hosts_by_field(recipes)) {
  for (const auto& recipe : recipes) {
    if (!recipe.prefix.empty()) prefixes_.push_back({recipe.prefix, path_for(recipe.to)});
  }
  for (auto& [parameter, hosts] : hosts_by_parameter(recipes)) {
    append(hosts, listed);
    parameters_.push_back({parameter + '=', MirroredHosts(hosts)});
  }
}

std::optional<MirrorPath> RecipeMap::mirror_path(const http::Target& asked,
                                                 std::string_view registry) const {
  auto path = asked.path();
  path.remove_prefix(digest_front(path).size());
  if (is_mirror_path(path)) return MirrorPath{std::string(path)};
  if (registries_.any() && is_registry_path(path)) {
    if (is_registry_ping(path)) return std::nullopt;  // a page of ours
    if (auto image = registries_.mirror_path(asked, registry))
      return MirrorPath{std::move(*image), &registries_.hosts()};
    return MirrorPath{.is_absent = !is_image_path(path)};
  }
  for (const auto& [prefix, stands_for] : prefixes_) {
    if (path.starts_with(prefix))
      return MirrorPath{stands_for + std::string(path.substr(prefix.size()))};
  }
  const auto at_host = [path](std::string_view host, const MirroredHosts& hosts) {
    return MirrorPath{std::string("/http/").append(host).append(path), &hosts};
  };
  const auto question = path.find('?');
  const auto query = question == path.npos ? std::string_view() : path.substr(question + 1);
  for (const auto& [begins, hosts] : parameters_) {
    const auto host = value_in(query, begins);
    if (!host.empty() && http::valid_host(host)) return at_host(host, hosts);
  }
  if (!hosts_.empty() && hosts_.have(asked)) return at_host(asked.authority(), hosts_);
  return std::nullopt;
}

}  // namespace proxy::mirrors
