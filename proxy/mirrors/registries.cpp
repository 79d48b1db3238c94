#include "proxy/mirrors/registries.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/challenge.hpp"
#include "proxy/mirrors/image_name.hpp"
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors {
namespace {

bool names_recipe(const config::MirrorSettings& settings) {
  return std::ranges::any_of(settings.recipes, [](const std::string& name) {
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

}  // namespace

Registries::Registries(const config::MirrorSettings& settings)
    : any_(names_recipe(settings)),
      default_(settings.registry.empty() ? recipes::host_of(first_registry().named)
                                         : http::lower(settings.registry)) {}

std::optional<std::string> Registries::mirror_path(std::string_view path) const {
  auto asked = any_ ? AskedImage::parse(path) : std::nullopt;
  if (!asked) return std::nullopt;
  const auto& named = asked->registry.empty() ? default_ : asked->registry;
  const auto* const known = registry_of(named);
  auto& name = asked->part.name;
  if (known && name.find('/') == name.npos) name.insert(0, known->library);
  const auto host = known ? recipes::host_of(known->at) : named;
  return "/https/" + host + asked->part.path() + asked->query;
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
