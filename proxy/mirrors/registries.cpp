#include "proxy/mirrors/registries.hpp"

#include <algorithm>
#include <cstdint>

#include "config/networks.hpp"
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

// How well the address of a socket fits that of a client's connection to it. One text of an address
// may differ from another.
enum class Covers : std::uint8_t { nothing, both_families, family, address };

// A socket of all IPv6 addresses is at those of IPv4, too, unless another one is.
Covers coverage_of(const config::Address& socket, const config::Address& own) {
  if (socket == own) return Covers::address;
  if (socket == config::Address{})
    return config::is_v4(own) ? Covers::both_families : Covers::family;
  const bool is_any_v4 = socket == config::address_from_v4({0, 0, 0, 0});
  return is_any_v4 && config::is_v4(own) ? Covers::family : Covers::nothing;
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

std::string_view Registries::at_listener(const config::HostPort& address) const {
  const auto own = config::parse_address(address.host);
  const config::ListenerRegistry* found = nullptr;
  auto best = Covers::nothing;
  for (const auto& one : listeners_) {
    const auto socket = config::parse_address(one.listener.host);
    if (!own || !socket || one.listener.port != address.port) continue;
    const auto covers = coverage_of(*socket, *own);
    if (covers <= best) continue;
    best = covers;
    found = &one;
  }
  return found ? std::string_view(found->registry) : std::string_view();
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
