// The setting `rules`: exceptions for some sites. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/mirrored_url.hpp"
#include "proxy/mirrors/path_pattern.hpp"
#include "proxy/mirrors/recipe_map.hpp"

namespace proxy::policy {

// A glob over paths, such as "*.deb" or "/debian/dists/*/by-hash/*". `*` matches any bytes, also
// none, and also `/`. `?` matches exactly one byte, also `/`. Every other byte matches itself;
// there is no escape, so a literal `*` or `?` can be matched only by a wildcard. Compares whole
// paths: "*.deb" does not match "/a.deb/b". Immutable; any thread.
//
// All alternatives are followed at the same time, each as a bit of one word (Baeza-Yates and Gonnet
// 1992). So a path costs one step per byte, whatever the glob, and nothing is tried twice.
class PathGlob {
 public:
  // `glob` has at most config::kMostPlaces; further ones are ignored.
  explicit PathGlob(std::string_view glob);

  [[nodiscard]] bool matches(std::string_view path) const;

 private:
  // Bit i: i places have been matched.
  using States = std::uint64_t;

  void add_place(char wanted);

  std::array<States, 256> next_{};  // by byte: the states from which it leads to the next one
  States stays_ = 0;                // where a `*` takes any byte
  States end_ = 1;
  std::string tail_;  // what every match ends with: most paths are told apart by it
};

// One rule. A request finds its rule once (Request::apply_site_rule). The rule's effects are
// written into the request's facts, which judging, fetching and storing read.
class SiteRule {
 public:
  explicit SiteRule(const config::RuleSettings& settings);

  // Compares the host, the port if the rule names one, the beginning of path and query (`path`),
  // and the path without its query with the globs (`paths`), byte for byte in the
  // spelling of the canonical URL (http::Target); and path and query with the pattern. All
  // conditions that the rule has must hold; of the globs, one.
  [[nodiscard]] bool matches(const http::Target& target) const;

  // The word "rule/NAME" for Cache-Status.
  [[nodiscard]] const std::string& word() const { return word_; }

  // Writes the effects of the rule into the facts:
  // - min_fresh, max_fresh, negative: see cache::FreshnessBounds.
  // - immutable: a fresh response answers whatever no-cache, max-age or min-fresh the client sends.
  //   RFC 8246 lets a proxy validate when the client says no-cache; but package managers and CI
  //   send it for files whose names never change their content, and a mirror is there to spare the
  //   origin that. Once the response is stale, it is validated as ever.
  // - authorization: see cache::RequestFacts::open_to_all.
  // - ignore_client_no_cache: no-cache (also in Pragma) and max-age=0 count as if the client had
  //   not sent them, as with Squid's ignore-reload. The request to the origin still contains them.
  // - never_store: the request is forwarded, and its response is not stored.
  // - store_cookies: a Set-Cookie does not keep a response from being stored.
  // - offline: only what this proxy or a neighbour has stored answers.
  // - class: see config::ResponseClass and cache::FreshnessBounds::by_class. What a request with
  //   credentials gets is for its client alone, and not stored.
  void apply_to(cache::RequestFacts& facts) const;

  [[nodiscard]] bool drops_any() const { return !settings_.drop_query.empty(); }
  // Whether key_url() may give another name than the URL.
  [[nodiscard]] bool renames() const { return drops_any() || names_path(); }
  // Whether key_url() gives names that are no URLs. A neighbour with the same rule gives the same
  // names.
  [[nodiscard]] bool names_path() const { return terms().name == config::StoredUnder::path; }
  // The URL without the parameters that drop_query names, and without "?" where no parameter is
  // left. The other parameters stay byte for byte, in their order. Names are compared as written,
  // not decoded. With config::StoredUnder::path, the result is "recipe:NAME/PATH" instead, which no
  // URL can be. NAME is that of the recipe, or of a rule of the settings.
  [[nodiscard]] std::string key_url(const std::string& url) const;
  // The digest that the URL has of the response's bytes: "sha256:HEX" or "sha512:HEX".
  [[nodiscard]] std::optional<std::string> content_name(const http::Target& target) const;
  // Whether other URLs with that digest get the response, too.
  [[nodiscard]] bool shares_content() const {
    return terms().name == config::StoredUnder::content && !settings_.never_store;
  }
  [[nodiscard]] bool allows_post() const { return terms().posts; }
  [[nodiscard]] bool allows_slashes() const { return terms().slashes; }
  [[nodiscard]] bool hides_denied() const { return terms().hides_denied; }
  // Whether a slash is the same encoded and plain.
  [[nodiscard]] bool has_plain_slashes() const {
    return terms().slashes && terms().pattern.find("%2F") != std::string::npos;
  }
  // How clients of mirrors get its texts.
  [[nodiscard]] const config::TextRule& text() const { return terms().text; }
  // The URLs that the file config::PatternRule::listed_by may have, the nearest one first. Empty:
  // no file lists the response.
  [[nodiscard]] std::vector<std::string> lists_of(const http::Target& target) const;
  // Hosts that redirects may lead to, of those that have matched.
  [[nodiscard]] bool may_follow(const http::Target& to) const {
    return http::matches_any(follow_, to);
  }
  [[nodiscard]] config::ResponseClass response_class() const { return terms().kind; }
  // The name of the recipe that has the rule; empty: none.
  [[nodiscard]] const std::string& recipe() const { return terms().recipe; }

 private:
  [[nodiscard]] bool drops(std::string_view parameter) const;
  [[nodiscard]] const config::PatternRule& terms() const;

  config::RuleSettings settings_;  // path and drop_query as canonical URLs spell them
  std::string word_;
  http::HostPattern hosts_;
  std::vector<PathGlob> paths_;
  std::optional<mirrors::PathPattern> pattern_;
  std::vector<http::HostPattern> follow_;
  cache::FreshnessBounds freshness_;
  digest::RuleHash hash_;
};

// The hash of what two neighbours must have in common to share the responses that the rule keeps:
// min_fresh, max_fresh, whether credentials are ignored, and whether the class counts. 0 if the
// rule has no min_fresh and no class, and heeds credentials: no response is then reusable for
// longer, or for more clients.
//
// The rule's name and conditions do not count: both sides ask for one URL, to which each applies
// its own first rule. Wire format (digest/rule.hpp); never changes for the same settings.
digest::RuleHash shared_meaning(const config::RuleSettings& settings);

class SiteRules {
 public:
  SiteRules() = default;
  explicit SiteRules(const std::vector<config::RuleSettings>& settings);
  // With the rules of the recipes, which are for their hosts, and of a recipe without hosts for all
  // that are mirrored. Throws std::runtime_error if the settings name a recipe that there is not,
  // or a pattern that is none.
  SiteRules(const std::vector<config::RuleSettings>& settings,
            const config::MirrorSettings& mirrors);

  // Finds the first rule that matches: of the settings, then of the recipes. Null: no rule matches.
  [[nodiscard]] const SiteRule* find(const http::Target& target) const;

  // Whether a rule or a recipe for the URL `first` lets its redirects lead to a host that is not
  // mirrored itself.
  [[nodiscard]] bool may_follow(const http::Target& first, const http::Target& to) const;

  // How requests that are for a recipe name a server.
  [[nodiscard]] const mirrors::RecipeMap& recipe_map() const { return recipe_map_; }
  [[nodiscard]] const mirrors::Registries& registries() const { return recipe_map_.registries(); }

  // The URL from which the key is made: SiteRule::key_url() of the rule that matches, else the URL
  // itself.
  [[nodiscard]] std::string key_url(const http::Target& target) const;

 private:
  struct Recipe {
    std::vector<http::HostPattern> hosts;  // empty: all that are mirrored
    std::vector<http::HostPattern> follow;
    std::vector<SiteRule> rules;

    [[nodiscard]] bool covers(const http::Target& target) const {
      return hosts.empty() || http::matches_any(hosts, target);
    }
  };

  std::vector<SiteRule> rules_;
  std::vector<Recipe> recipes_;
  mirrors::RecipeMap recipe_map_{std::span<const config::RecipeSettings>()};
  mirrors::MirroredHosts mirrored_{std::span<const config::HostSpec>()};
};

}  // namespace proxy::policy
