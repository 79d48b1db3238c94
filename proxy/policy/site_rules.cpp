#include "proxy/policy/site_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

cache::FreshnessBounds bounds_of(const config::RuleSettings& settings) {
  cache::FreshnessBounds bounds;
  if (settings.min_fresh) bounds.least = floor<seconds>(*settings.min_fresh);
  if (settings.max_fresh) bounds.most = floor<seconds>(*settings.max_fresh);
  if (settings.negative) bounds.errors = floor<seconds>(*settings.negative);
  return bounds;
}

std::vector<std::string> canonical(const std::vector<std::string>& names) {
  std::vector<std::string> spelled;
  for (const auto& name : names) spelled.push_back(http::canonical_path(name));
  return spelled;
}

std::vector<PathGlob> globs_of(const std::vector<std::string>& written) {
  std::vector<PathGlob> globs;
  for (const auto& glob : written) globs.emplace_back(http::canonical_path(glob));
  return globs;
}

}  // namespace

digest::RuleHash shared_meaning(const config::RuleSettings& settings) {
  if (!settings.min_fresh && !settings.ignore_authorization) return 0;
  const auto bounds = bounds_of(settings);
  return digest::rule_hash(fmt::format("hearsay-rule 1 min_fresh={} max_fresh={} authorization={}",
                                       bounds.least.count(), bounds.most.count(),
                                       settings.ignore_authorization ? "ignore" : "heed"));
}

SiteRule::SiteRule(const config::RuleSettings& settings)
    : word_("rule/" + settings.name),
      hosts_(settings.host),
      path_(http::canonical_path(settings.path)),
      paths_(globs_of(settings.paths)),
      freshness_(bounds_of(settings)),
      hash_(shared_meaning(settings)),
      immutable_(settings.immutable),
      open_to_all_(settings.ignore_authorization),
      ignore_client_no_cache_(settings.ignore_client_no_cache),
      drop_query_(canonical(settings.drop_query)),
      never_store_(settings.never_store),
      offline_(settings.offline),
      store_cookies_(settings.store_cookies) {}

bool SiteRule::matches(const http::Target& target) const {
  const auto path = target.path();
  if (!hosts_.matches(target.host(), target.port()) || !path.starts_with(path_)) return false;
  const auto without_query = path.substr(0, path.find('?'));
  return paths_.empty() || std::any_of(paths_.begin(), paths_.end(), [&](const PathGlob& glob) {
           return glob.matches(without_query);
         });
}

void SiteRule::apply_to(cache::RequestFacts& facts) const {
  facts.freshness = freshness_;
  facts.rule = hash_;
  facts.immutable = immutable_;
  facts.open_to_all = open_to_all_;
  if (open_to_all_) facts.has_credentials = std::exchange(facts.authorization, false);
  facts.never_store = never_store_;
  facts.store_cookies = store_cookies_;
  facts.offline = facts.offline || offline_;
  if (!ignore_client_no_cache_) return;
  facts.control.no_cache = false;
  if (facts.control.max_age == seconds(0)) facts.control.max_age.reset();
}

std::string SiteRule::key_url(const std::string& url) const {
  const auto question = url.find('?');
  if (drop_query_.empty() || question == url.npos) return url;
  std::string kept = url.substr(0, question);
  char separator = '?';
  std::string_view rest = std::string_view(url).substr(question + 1);
  for (bool more = true; more;) {
    const auto end = rest.find('&');
    const auto parameter = rest.substr(0, end);
    more = end != rest.npos;
    if (more) rest.remove_prefix(end + 1);
    if (drops(parameter)) continue;
    (kept += separator) += parameter;
    separator = '&';
  }
  return kept;
}

bool SiteRule::drops(std::string_view parameter) const {
  const auto name = parameter.substr(0, parameter.find('='));
  return std::any_of(drop_query_.begin(), drop_query_.end(), [name](std::string_view dropped) {
    if (!dropped.ends_with('*')) return name == dropped;
    dropped.remove_suffix(1);
    return name.starts_with(dropped);
  });
}

SiteRules::SiteRules(const std::vector<config::RuleSettings>& settings)
    : rules_(settings.begin(), settings.end()) {}

const SiteRule* SiteRules::find(const http::Target& target) const {
  const auto first = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const SiteRule& rule) { return rule.matches(target); });
  return first == rules_.end() ? nullptr : &*first;
}

std::string SiteRules::key_url(const http::Target& target) const {
  const auto* rule = find(target);
  return rule ? rule->key_url(target.url()) : target.url();
}

}  // namespace proxy
