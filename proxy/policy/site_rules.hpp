// The setting `rules`: exceptions for some sites. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/target.hpp"
#include "proxy/policy/host_pattern.hpp"

namespace proxy {

// One rule. A request finds its rule once (Request::follow). The rule's effects are written into
// the request's facts, which judging, fetching and storing read.
class SiteRule {
 public:
  explicit SiteRule(const config::RuleSettings& settings);

  // Compares the host, the port if the rule names one, and the beginning of path and query, byte
  // for byte in the spelling of the canonical URL (http::Target).
  [[nodiscard]] bool matches(const http::Target& target) const;

  // For Cache-Status: "rule/NAME".
  [[nodiscard]] const std::string& word() const { return word_; }

  // Writes the effects of the rule into the facts:
  // - min_fresh, max_fresh: see cache::FreshnessBounds.
  // - ignore_client_no_cache: no-cache (also in Pragma) and max-age=0 count as if the client had
  //   not sent them, as with Squid's ignore-reload. The request to the origin still contains them.
  // - never_store: the request is forwarded, and its response is not stored.
  // - store_cookies: a Set-Cookie does not keep a response from being stored.
  // - offline: only stored responses answer.
  void apply_to(cache::RequestFacts& facts) const;

  [[nodiscard]] bool drops_any() const { return !drop_query_.empty(); }
  // The URL without the parameters that drop_query names, and without "?" where no parameter is
  // left. The other parameters stay byte for byte, in their order. Names are compared as written,
  // not decoded.
  [[nodiscard]] std::string key_url(const std::string& url) const;

 private:
  [[nodiscard]] bool drops(std::string_view parameter) const;

  std::string word_;
  HostPattern hosts_;
  std::string path_;
  cache::FreshnessBounds freshness_;
  bool ignore_client_no_cache_;
  std::vector<std::string> drop_query_;
  bool never_store_;
  bool offline_;
  bool store_cookies_;
};

class SiteRules {
 public:
  SiteRules() = default;
  explicit SiteRules(const std::vector<config::RuleSettings>& settings);

  // The first rule that matches; null if none does.
  [[nodiscard]] const SiteRule* find(const http::Target& target) const;

  // The URL from which the key is made: SiteRule::key_url() of the rule that matches, else the URL
  // itself.
  [[nodiscard]] std::string key_url(const http::Target& target) const;

 private:
  std::vector<SiteRule> rules_;
};

}  // namespace proxy
