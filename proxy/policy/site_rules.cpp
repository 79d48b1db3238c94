#include "proxy/policy/site_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/sections.hpp"

namespace proxy::policy {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

// Whole seconds, as ages are (RFC 9111 section 1.2.2).
cache::FreshnessBounds bounds_of(const config::RuleSettings& settings) {
  cache::FreshnessBounds bounds;
  if (settings.min_fresh) bounds.least = floor<seconds>(*settings.min_fresh);
  if (settings.max_fresh) bounds.most = floor<seconds>(*settings.max_fresh);
  if (settings.negative) bounds.errors = floor<seconds>(*settings.negative);
  return bounds;
}

config::RuleSettings canonical(config::RuleSettings settings) {
  settings.path = http::canonical_path(settings.path);
  for (auto& name : settings.drop_query) name = http::canonical_path(name);
  return settings;
}

std::vector<PathGlob> globs_of(const std::vector<std::string>& written) {
  std::vector<PathGlob> globs;
  for (const auto& glob : written) globs.emplace_back(http::canonical_path(glob));
  return globs;
}

}  // namespace

PathGlob::PathGlob(std::string_view glob) {
  for (const char c : glob) {
    if (c == '*') {
      stays_ |= end_;
    } else {
      add_place(c);
    }
  }
  const auto wildcard = glob.find_last_of("*?");
  tail_ = wildcard == glob.npos ? glob : glob.substr(wildcard + 1);
}

void PathGlob::add_place(char wanted) {
  if (end_ >> config::kMostPlaces != 0) return;
  if (wanted == '?') {
    for (auto& states : next_) states |= end_;
  } else {
    next_[static_cast<unsigned char>(wanted)] |= end_;
  }
  end_ <<= 1;
}

bool PathGlob::matches(std::string_view path) const {
  if (!path.ends_with(tail_)) return false;
  States states = 1;
  for (const char c : path) {
    states = (states & next_[static_cast<unsigned char>(c)]) << 1 | (states & stays_);
    // Most paths differ from a glob in their first bytes, unless it begins with a star.
    if (states == 0) return false;
  }
  return (states & end_) != 0;
}

digest::RuleHash shared_meaning(const config::RuleSettings& settings) {
  if (!settings.min_fresh && !settings.ignore_authorization) return 0;
  const auto bounds = bounds_of(settings);
  return digest::rule_hash(fmt::format("hearsay-rule 1 min_fresh={} max_fresh={} authorization={}",
                                       bounds.least.count(), bounds.most.count(),
                                       settings.ignore_authorization ? "ignore" : "heed"));
}

SiteRule::SiteRule(const config::RuleSettings& settings)
    : settings_(canonical(settings)),
      word_("rule/" + settings.name),
      hosts_(settings.host),
      paths_(globs_of(settings.paths)),
      freshness_(bounds_of(settings)),
      hash_(shared_meaning(settings)) {}

bool SiteRule::matches(const http::Target& target) const {
  const auto path = target.path();
  if (!hosts_.matches(target.host(), target.port()) || !path.starts_with(settings_.path))
    return false;
  // So that "*.deb" means the file, whatever a mirror appends behind "?".
  const auto without_query = path.substr(0, path.find('?'));
  return paths_.empty() || std::any_of(paths_.begin(), paths_.end(), [&](const PathGlob& glob) {
           return glob.matches(without_query);
         });
}

void SiteRule::apply_to(cache::RequestFacts& facts) const {
  facts.freshness = freshness_;
  facts.rule = hash_;
  facts.immutable = settings_.immutable;
  facts.open_to_all = settings_.ignore_authorization;
  if (facts.open_to_all) facts.has_credentials = std::exchange(facts.authorization, false);
  facts.never_store = settings_.never_store;
  facts.store_cookies = settings_.store_cookies;
  facts.offline = facts.offline || settings_.offline;
  if (!settings_.ignore_client_no_cache) return;
  facts.control.no_cache = false;
  if (facts.control.max_age == seconds(0)) facts.control.max_age.reset();
}

std::string SiteRule::key_url(const std::string& url) const {
  const auto question = url.find('?');
  if (!drops_any() || question == url.npos) return url;
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
  return std::any_of(settings_.drop_query.begin(), settings_.drop_query.end(),
                     [name](std::string_view dropped) {
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

}  // namespace proxy::policy
