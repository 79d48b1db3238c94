// The setting `rules` at work: what holds for some sites alone. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/http/target.hpp"
#include "proxy/request/host_pattern.hpp"

namespace proxy {

// One rule. Each request finds once which rule holds (Request::follow); the facts then take what
// the rule says to the code that judges, fetches and stores.
class SiteRule {
 public:
  explicit SiteRule(const config::RuleSettings& settings);

  // The host, the port if the rule names one, and how path and query begin, byte for byte.
  [[nodiscard]] bool matches(const http::Target& target) const;

  // For Cache-Status: "rule/NAME".
  [[nodiscard]] const std::string& word() const { return word_; }

  // What the rules of caching are to see of a request:
  // - min_fresh, max_fresh: see cache::FreshnessBounds.
  // - ignore_client_no_cache: no-cache (Pragma's too) and max-age=0 count as if the client had not
  //   sent them, as with Squid's ignore-reload. What goes to the origin still has them.
  // - never_store: the request is passed on, and nothing that comes of it is kept.
  // - offline: only what is stored answers.
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
};

class SiteRules {
 public:
  SiteRules() = default;
  explicit SiteRules(const std::vector<config::RuleSettings>& settings);

  // The first that matches, else null.
  [[nodiscard]] const SiteRule* find(const http::Target& target) const;

  // The URL as keys have it.
  [[nodiscard]] std::string key_url(const http::Target& target) const;

 private:
  std::vector<SiteRule> rules_;
};

}  // namespace proxy
