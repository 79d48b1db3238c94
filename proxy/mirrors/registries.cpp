#include "proxy/mirrors/registries.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/challenge.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors {
namespace {

bool names_recipe(const config::MirrorSettings& settings) {
  const bool is_like = std::ranges::any_of(
      settings.own_recipes,
      [](const config::RecipeSettings& one) { return one.like == recipes::kOci; });
  return is_like || std::ranges::any_of(settings.recipes, [](const std::string& name) {
           return name == "default" || name == recipes::kOci;
         });
}

// The first is for clients that name none.
const recipes::Registry& first_registry() {
  return recipes::registries().front();
}

const recipes::Registry* registry_of(std::string_view host) {
  const auto all = recipes::registries();
  const auto found = std::ranges::find_if(
      all, [host](const recipes::Registry& one) { return host == recipes::host_of(one.named); });
  return found == all.end() ? nullptr : &*found;
}

MirroredHosts registry_hosts(const config::MirrorSettings& settings) {
  auto hosts = settings.hosts;
  const auto add = [&hosts](const std::vector<config::HostSpec>& more) {
    hosts.insert(hosts.end(), more.begin(), more.end());
  };
  for (const auto& recipe : recipes::all_recipes()) {
    if (recipe.name == recipes::kOci) add(recipe.hosts);
  }
  for (const auto& recipe : settings.own_recipes) {
    if (recipe.like == recipes::kOci) add(recipe.hosts);
  }
  return MirroredHosts(hosts);
}

}  // namespace

Registries::Registries(const config::MirrorSettings& settings)
    : any_(names_recipe(settings)),
      default_(settings.registry.empty() ? recipes::host_of(first_registry().named)
                                         : http::lower(settings.registry)),
      hosts_(registry_hosts(settings)),
      listeners_(settings.listeners) {
  for (const auto& [host, registry] : settings.registries) {
    at_hosts_.push_back({http::HostPattern(host), http::lower(registry)});
  }
  for (auto& one : listeners_) one.registry = http::lower(one.registry);
}

std::optional<std::string> Registries::mirror_path(const http::Target& asked,
                                                   std::string_view of_listener) const {
  auto image = any_ ? AskedImage::parse(asked.path()) : std::nullopt;
  if (!image) return std::nullopt;
  auto named = image->registry;
  if (named.empty()) named = of_listener;
  const auto at_host = std::ranges::find_if(at_hosts_, [&asked](const AtHost& one) {
    return one.host.matches(asked.host(), asked.port());
  });
  if (named.empty()) named = at_host == at_hosts_.end() ? default_ : at_host->registry;
  const auto* const known = registry_of(named);
  auto& name = image->part.name;
  if (known && name.find('/') == name.npos) name.insert(0, known->library);
  const auto host = known ? recipes::host_of(known->at) : named;
  return "/https/" + host + image->part.path() + image->query;
}

// A socket of all addresses is at each of them.
std::string_view Registries::at_listener(const config::HostPort& address) const {
  const auto found = std::ranges::find_if(listeners_, [&](const config::ListenerRegistry& one) {
    const auto& host = one.listener.host;
    const bool is_there = host == address.host || host == "0.0.0.0" || host == "::";
    return one.listener.port == address.port && is_there;
  });
  return found == listeners_.end() ? std::string_view() : found->registry;
}

bool Registries::may_ask_for_token(const http::Target& realm, const http::Target& registry) const {
  if (!any_) return false;
  if (mirrors::may_ask_for_token(realm, registry)) return true;
  if (!realm.https() || realm.had_userinfo() || realm.port() != 443) return false;
  return std::ranges::any_of(recipes::registries(), [&](const recipes::Registry& one) {
    return registry.host() == recipes::host_of(one.at) &&
           realm.host() == recipes::host_of(one.tokens);
  });
}

}  // namespace proxy::mirrors
