#include "proxy/policy/site_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "config/sections.hpp"
#include "proxy/http/secrets.hpp"

namespace proxy::policy {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

using Kind = config::ResponseClass;

const config::PatternRule kNoPattern;

Kind kind_of(const config::RuleSettings& settings) {
  return settings.by_pattern ? settings.by_pattern->kind : Kind::told;
}

bool has_lifetime(Kind kind) {
  return kind == Kind::immutable || kind == Kind::fresh || kind == Kind::revalidate;
}

// Whole seconds, as ages are (RFC 9111 section 1.2.2).
cache::FreshnessBounds bounds_of(const config::RuleSettings& settings) {
  const auto kind = kind_of(settings);
  cache::FreshnessBounds bounds{.by_class = has_lifetime(kind)};
  if (kind == Kind::immutable) bounds.least = http::kForever;
  if (kind == Kind::revalidate) bounds.most = seconds(0);
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

std::optional<mirrors::PathPattern> pattern_of(const config::RuleSettings& settings) {
  if (!settings.by_pattern || settings.by_pattern->pattern.empty()) return std::nullopt;
  const auto& text = settings.by_pattern->pattern;
  auto pattern = mirrors::PathPattern::parse(http::canonical_path(text));
  if (!pattern) {
    throw std::runtime_error(fmt::format(
        R"(the rule "{}" has no pattern: "{}" must have at most 256 bytes, "**" only between )"
        R"(slashes, and of braces {{sha256}}, {{sha512}} and such as {{hex40}} alone)",
        settings.name, text));
  }
  return pattern;
}

// A host without a port is meant at the port of its scheme.
std::vector<http::HostPattern> follow_of(std::span<const config::HostSpec> hosts) {
  std::vector<http::HostPattern> follow;
  for (auto [host, port] : hosts) {
    if (port) {
      follow.push_back(http::HostPattern({host, port}));
      continue;
    }
    follow.push_back(http::HostPattern({host, 443}));
    follow.push_back(http::HostPattern({host, 80}));
  }
  return follow;
}

template <class Rules>
const SiteRule* first_of(const Rules& rules, const http::Target& target) {
  const auto first = std::find_if(rules.begin(), rules.end(),
                                  [&](const SiteRule& rule) { return rule.matches(target); });
  return first == rules.end() ? nullptr : &*first;
}

// The rows of a recipe: one name for a path is for all of its hosts.
std::vector<SiteRule> rules_of(const config::RecipeSettings& recipe) {
  std::vector<SiteRule> rules;
  for (auto row : recipe.rules) {
    if (!row.by_pattern) row.by_pattern.emplace();
    row.by_pattern->recipe = recipe.name;
    rules.emplace_back(row);
  }
  return rules;
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
  const auto bounds = bounds_of(settings);
  if (!settings.min_fresh && !settings.ignore_authorization && !bounds.by_class) return 0;
  return digest::rule_hash(fmt::format(
      "hearsay-rule 1 min_fresh={} max_fresh={} authorization={}{}", bounds.least.count(),
      bounds.most.count(), settings.ignore_authorization ? "ignore" : "heed",
      bounds.by_class ? " by=class" : ""));
}

SiteRule::SiteRule(const config::RuleSettings& settings)
    : settings_(canonical(settings)),
      word_("rule/" + settings.name),
      hosts_(settings.host),
      paths_(globs_of(settings.paths)),
      pattern_(pattern_of(settings)),
      follow_(follow_of(terms().follow)),
      freshness_(bounds_of(settings)),
      hash_(shared_meaning(settings)) {}

bool SiteRule::matches(const http::Target& target) const {
  const auto path = target.path();
  if (!hosts_.matches(target.host(), target.port()) || !path.starts_with(settings_.path))
    return false;
  if (pattern_ && !pattern_->match(path)) return false;
  // So that "*.deb" means the file, whatever a mirror appends behind "?".
  const auto without_query = path.substr(0, path.find('?'));
  return paths_.empty() || std::any_of(paths_.begin(), paths_.end(), [&](const PathGlob& glob) {
           return glob.matches(without_query);
         });
}

void SiteRule::apply_to(cache::RequestFacts& facts) const {
  facts.freshness = freshness_;
  facts.rule = hash_;
  facts.immutable = settings_.immutable || response_class() == Kind::immutable;
  facts.open_to_all = settings_.ignore_authorization;
  // Not forgotten if another rule is applied after this one.
  if (facts.open_to_all && std::exchange(facts.authorization, false)) facts.has_credentials = true;
  facts.never_store = settings_.never_store || response_class() == Kind::pass;
  if (freshness_.by_class && !facts.open_to_all) {
    const bool is_anonymous =
        !facts.authorization && !(facts.fields && http::shows_secret(*facts.fields));
    facts.never_store = facts.never_store || !is_anonymous;
  }
  facts.store_cookies = settings_.store_cookies;
  facts.offline = facts.offline || settings_.offline;
  if (!settings_.ignore_client_no_cache) return;
  facts.control.no_cache = false;
  if (facts.control.max_age == seconds(0)) facts.control.max_age.reset();
}

const config::PatternRule& SiteRule::terms() const {
  return settings_.by_pattern ? *settings_.by_pattern : kNoPattern;
}

std::optional<std::string> SiteRule::content_name(const http::Target& target) const {
  const auto match = pattern_ ? pattern_->match(target.path()) : std::nullopt;
  if (!match || match->content.empty()) return std::nullopt;
  return match->content;
}

std::string SiteRule::key_url(const std::string& url) const {
  if (names_path()) {
    const auto path = std::string_view(url).substr(url.find('/', url.find("//") + 2));
    const auto& of = recipe().empty() ? settings_.name : recipe();
    // What came over unverified http says nothing of https.
    const std::string_view scheme = url.starts_with("https:") ? "+https" : "";
    return "recipe:" + of + std::string(scheme) + std::string(path.substr(0, path.find('?')));
  }
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

std::vector<std::string> SiteRule::lists_of(const http::Target& target) const {
  std::vector<std::string> lists;
  std::string_view folder = target.url();
  folder = folder.substr(0, folder.find('?'));
  const auto root = folder.size() - target.path().substr(0, target.path().find('?')).size();
  while (!terms().listed_by.empty()) {
    folder = folder.substr(0, folder.rfind('/'));
    if (folder.size() < root) break;
    lists.push_back(std::string(folder).append("/").append(terms().listed_by));
  }
  return lists;
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

SiteRules::SiteRules(const std::vector<config::RuleSettings>& settings,
                     const config::MirrorSettings& mirrors)
    : rules_(settings.begin(), settings.end()), mirrored_(mirrors::mirrored_hosts(mirrors)) {
  const auto chosen = mirrors::chosen_recipes(mirrors);
  recipe_map_ = mirrors::RecipeMap(chosen, mirrors::Registries(mirrors), mirrors.hosts);
  for (const auto& recipe : chosen) {
    recipes_.push_back(
        {http::host_patterns(recipe.hosts), follow_of(recipe.follow), rules_of(recipe)});
  }
}

// The site's rules come first: they may say more of a mirrored host than our recipe knows.
const SiteRule* SiteRules::find(const http::Target& target) const {
  if (const auto* const rule = first_of(rules_, target)) return rule;
  if (recipes_.empty() || !mirrored_.have(target)) return nullptr;  // mostly
  for (const auto& recipe : recipes_) {
    if (!recipe.covers(target)) continue;
    if (const auto* const rule = first_of(recipe.rules, target)) return rule;
  }
  return nullptr;
}

// A host that several recipes cover may lead to the storage of each of them.
bool SiteRules::may_follow(const http::Target& first, const http::Target& to) const {
  const auto* const rule = find(first);
  if (rule && rule->may_follow(to)) return true;
  return std::ranges::any_of(recipes_, [&](const Recipe& recipe) {
    return recipe.covers(first) && http::matches_any(recipe.follow, to);
  });
}

std::string SiteRules::key_url(const http::Target& target) const {
  const auto* rule = find(target);
  return rule ? rule->key_url(target.url()) : target.url();
}

}  // namespace proxy::policy
