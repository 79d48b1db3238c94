#include "proxy/mirrors/recipes/recipes.hpp"

#include <algorithm>
#include <iterator>

namespace proxy::mirrors::recipes {
namespace {

config::HostSpec spec_of(const Upstream& upstream) {
  return {host_of(upstream), {}};
}

config::RuleSettings rule_of(const Row& row) {
  using config::milliseconds;
  config::RuleSettings rule;
  rule.name = row.name;
  rule.host = spec_of(row.at);
  if (row.kind == config::ResponseClass::fresh) rule.min_fresh = row.fresh;
  if (row.negative > milliseconds(0)) rule.negative = row.negative;
  rule.by_pattern = config::PatternRule{
      .pattern = std::string(row.pattern),
      .kind = row.kind,
      .name = row.under,
      .posts = row.posts,
      .slashes = row.slashes,
      .hides_denied = row.hides_denied,
      .text = {.drop_members = {row.drop_members.begin(), row.drop_members.end()}},
      .listed_by = std::string(row.listed_by)};
  return rule;
}

}  // namespace

std::string host_of(const Upstream& upstream) {
  std::string host(upstream.labels);
  if (!host.empty()) host += '.';
  return host += upstream.domain;
}

std::string server_of(const Upstream& upstream) {
  return "https://" + host_of(upstream);
}

std::vector<config::HostSpec> hosts_of(std::span<const Upstream> upstreams) {
  std::vector<config::HostSpec> hosts;
  for (const auto& upstream : upstreams) hosts.push_back(spec_of(upstream));
  return hosts;
}

std::vector<config::RuleSettings> rules_of(std::span<const Row> rows) {
  std::vector<config::RuleSettings> rules;
  for (const auto& row : rows) rules.push_back(rule_of(row));
  return rules;
}

void set_links(config::RecipeSettings& recipe, std::string_view row,
               std::span<const std::string_view> links) {
  for (auto& rule : recipe.rules) {
    if (rule.name == row) rule.by_pattern->text.links = {links.begin(), links.end()};
  }
}

std::vector<config::RecipeSettings> all_recipes() {
  std::vector all{apt(), cargo(),     dnf(),  github(), go(),    hf(),     npm(),
                  oci(), oci_rules(), pypi(), rustup(), steam(), windows()};
  // Before that of GitHub, which passes what it does not know.
  const auto more = languages();
  all.insert(all.begin(), more.begin(), more.end());
  std::ranges::move(systems(), std::back_inserter(all));
  for (auto& recipe : all) {
    // The others' clients know http alone.
    if (recipe.named_by != config::RecipeSettings::NamedBy::prefix) continue;
    for (auto& host : recipe.hosts) host.port = 443;
  }
  return all;
}

}  // namespace proxy::mirrors::recipes
