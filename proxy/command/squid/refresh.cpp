#include "proxy/command/squid/refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "config/text.hpp"
#include "proxy/command/squid/acl.hpp"
#include "proxy/command/squid/plain.hpp"
#include "proxy/command/squid/url_patterns.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;
using std::chrono::milliseconds;

constexpr std::size_t kMostRules = 250;  // the setting `rules` takes 256
constexpr std::size_t kMostPaths = 32;   // of one rule
constexpr auto kLongest = milliseconds(std::chrono::hours(24) * 3650);

struct Effects {
  std::optional<milliseconds> min_fresh;
  bool ignore_client_no_cache = false;
  bool ignore_authorization = false;
  bool never_store = false;
  // Keeps the rules below from the URLs, and changes nothing: no response is fresh for so long.
  bool exempt = false;

  [[nodiscard]] bool any() const {
    return min_fresh || ignore_client_no_cache || ignore_authorization || never_store;
  }
};

struct Pattern {
  Line line;
  std::vector<UrlPattern> urls;
  Effects effects;
  bool exact = true;  // else `urls` are fewer than those of the line
};

struct Option {
  std::string_view name;
  std::string_view why;
};

constexpr std::array kLeft{
    Option{"ignore-no-store", "a response with no-store is never stored"},
    Option{"ignore-private", "a response with private is never stored"},
    Option{"ignore-no-cache", "a response with no-cache is validated each time"},
    Option{"ignore-must-revalidate", "min_fresh does not apply to must-revalidate"},
    Option{"store-stale",
           "a response that is stale from the start is stored only with a validator"},
    Option{"refresh-ims",
           "a client's conditional request is answered from the cache while that is fresh"}};

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

  void read_pattern(const Line& line) {
    std::size_t at = 0;
    while (at < line.words.size() && (line.words[at].text == "-i" || line.words[at].text == "+i"))
      ++at;
    if (line.words.size() < at + 4) return tell(line, Kind::left, "is not complete");
    const std::string& expression = line.words[at].text;
    const auto minutes = config::parse_number(line.words[at + 1].text, 10'000'000);
    if (!minutes) return tell(line, Kind::left, "its first number is no number of minutes");
    const auto least = std::min(milliseconds(std::chrono::minutes(*minutes)), kLongest);
    const Effects effects = effects_of(line, at + 4, least);
    const auto urls = url_patterns_of(expression);
    if (urls && urls->patterns.empty())
      return tell(line, Kind::unneeded, "Hearsay has no ftp, gopher and so on");
    if (!effects.any()) return without_effects(line, urls, least);
    if (!urls) {
      return tell(line, Kind::left,
                  "the expression has no equal as hosts and globs of paths; write a rule with "
                  "\"host\" and \"paths\"" +
                      would_set(effects));
    }
    patterns_.push_back({line, urls->patterns, effects, urls->exact});
    const auto is_reload = [](const Word& word) { return word.text == "reload-into-ims"; };
    if (std::any_of(line.words.begin() + at + 4, line.words.end(), is_reload)) {
      tell(line, Kind::changed, "a reload is answered from the cache, and the origin is not asked");
    }
  }

  // "cache deny acl": nothing is stored.
  void read_cache(const Line& line, const std::vector<Line>& lines) {
    if (is_for_all(line, "allow")) return;
    const auto urls = line.words.size() == 2 && line.words[0].text == "deny" && !line.conditional
                          ? urls_of_acl(line.words[1].text, lines)
                          : std::nullopt;
    if (!urls) {
      return tell(line, Kind::left,
                  "has no equal as hosts and globs of paths; write a rule with \"host\", \"paths\" "
                  "and \"never_store\": true");
    }
    Effects effects;
    effects.never_store = true;
    never_stored_.push_back({line, *urls, effects});
  }

  void read_negative(const Line& line) {
    const auto time = time_of(line);
    if (!time) return tell(line, Kind::left, "has no time that is understood");
    if (time->count() >= 1000) negative_ = std::min(*time, kLongest);
    if (time->count() > 0 && time->count() < 1000)
      tell(line, Kind::left, "is shorter than a second");
  }

  void write(Imported& into) {
    while (!patterns_.empty() && !patterns_.back().effects.any()) patterns_.pop_back();
    for (const auto* list : {&never_stored_, &patterns_}) {
      for (const Pattern& pattern : *list) {
        if (pattern.urls.empty()) {
          tell(pattern.line, Kind::changed,
               "the expression has no equal, so the rules of the lines below hold for its URLs, "
               "too");
        } else if (!pattern.exact) {
          tell(pattern.line, Kind::changed,
               "the rule is for fewer URLs than the expression; look whether it has those that are "
               "meant");
        }
        add_rules(into, pattern);
      }
    }
    if (negative_) {
      Json rule;
      rule.add("name", Json::text("negative_ttl"));
      rule.add("host", Json::text("*"));
      rule.add("negative", Json::text(config::to_text(*negative_)));
      into.rules.push_back(std::move(rule));
    }
    if (into.rules.size() > kMostRules) {
      into.rules.resize(kMostRules);
      tell({}, Kind::left,
           "the lines about freshness come to more rules than the settings take; the last are left "
           "out");
    }
  }

 private:
  Effects effects_of(const Line& line, std::size_t from, milliseconds least) {
    Effects effects;
    bool overrides = false;
    for (std::size_t i = from; i < line.words.size(); ++i) {
      const std::string& option = line.words[i].text;
      if (option == "override-expire") {
        overrides = true;
      } else if (option == "ignore-reload" || option == "reload-into-ims") {
        effects.ignore_client_no_cache = true;
      } else if (option == "ignore-auth") {
        effects.ignore_authorization = true;
      } else if (option.starts_with("max-stale=")) {
        tell(line, Kind::left, "max-stale: cache.stale_if_error is the same for all URLs");
      } else if (option != "override-lastmod") {
        left_option(line, option);
      }
    }
    if (overrides && least >= std::chrono::seconds(1)) effects.min_fresh = least;
    return effects;
  }

  void left_option(const Line& line, const std::string& option) {
    const auto* const found = std::find_if(kLeft.begin(), kLeft.end(),
                                           [&](const Option& each) { return each.name == option; });
    const auto why = found == kLeft.end() ? std::string_view("is not known") : found->why;
    tell(line, Kind::left, config::printable(option, 40) + ": " + std::string(why));
  }

  // The line says how long a response may be fresh that states no lifetime.
  void without_effects(const Line& line, const std::optional<UrlPatterns>& urls,
                       milliseconds least) {
    if (least.count() > 0) {
      tell(line, Kind::left,
           "without override-expire, its first number is for responses that state no lifetime, of "
           "which Hearsay takes a tenth of their age. If it may hold for all: a rule with "
           "\"min_fresh\": \"" +
               config::to_text(least) + '"');
    } else {
      tell(line, Kind::unneeded,
           "for responses that state no lifetime, Hearsay takes a tenth of their age, at most a "
           "day");
    }
    Effects exempt;
    exempt.exempt = true;
    if (urls) {
      patterns_.push_back({line, urls->patterns, exempt, urls->exact});
    } else {
      patterns_.push_back({line, {}, exempt});
    }
  }

  static std::string would_set(const Effects& effects) {
    std::string text;
    if (effects.min_fresh)
      text += ", \"min_fresh\": \"" + config::to_text(*effects.min_fresh) + '"';
    if (effects.ignore_client_no_cache) text += ", \"ignore_client_no_cache\": true";
    if (effects.ignore_authorization) text += ", \"authorization\": \"ignore\"";
    return text;
  }

  std::optional<std::vector<UrlPattern>> urls_of_acl(const std::string& name,
                                                     const std::vector<Line>& lines) const {
    std::vector<UrlPattern> urls;
    for (const Line& line : lines) {
      if (line.name != "acl" || line.words.size() < 2) continue;
      if (!is_same_name(line.words[0].text, name)) continue;
      if (line.conditional || !append_urls(urls, line)) return std::nullopt;
    }
    if (is_same_name(name, "all")) urls.push_back({"*", ""});
    return urls.empty() || urls.size() > kMostRules ? std::nullopt : std::optional(urls);
  }

  static bool append_urls(std::vector<UrlPattern>& urls, const Line& line) {
    const std::string& type = line.words[1].text;
    for (std::size_t i = 2; i < line.words.size(); ++i) {
      const Word& word = line.words[i];
      if (word.text == "-i" || word.text == "-n") continue;
      if (word.quoted) return false;
      std::optional<UrlPatterns> more;
      if (type == "url_regex") more = url_patterns_of(word.text);
      if (type == "urlpath_regex") more = path_patterns_of(word.text);
      if (type == "dstdomain") {
        more.emplace();
        for (const auto& host : hosts_of_domain(word.text)) more->patterns.push_back({host, ""});
        if (more->patterns.empty()) return false;
      }
      if (!more || !more->exact) return false;
      urls.insert(urls.end(), more->patterns.begin(), more->patterns.end());
    }
    return true;
  }

  // One rule for each host, and for each 32 paths.
  void add_rules(Imported& into, const Pattern& pattern) const {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_host;
    for (const UrlPattern& url : pattern.urls) {
      const auto found = std::find_if(by_host.begin(), by_host.end(), [&](const auto& each) {
        return each.first == url.host && each.second.empty() == url.path.empty() &&
               each.second.size() < kMostPaths;
      });
      auto& paths = found != by_host.end()
                        ? found->second
                        : by_host.emplace_back(url.host, std::vector<std::string>{}).second;
      if (!url.path.empty()) paths.push_back(url.path);
    }
    std::size_t number = 0;
    for (const auto& [host, paths] : by_host) {
      Json rule;
      rule.add("name", Json::text(fmt::format("squid-{}-{}", pattern.line.place.order, number++)));
      rule.add("host", Json::text(host));
      if (!paths.empty()) rule.add("paths", Json::texts(paths));
      add_effects(rule, pattern.effects);
      rule.comment(fmt::format("{}:{}: {}{}", pattern.line.place.file, pattern.line.place.number,
                               pattern.line.text,
                               pattern.effects.exempt ? " (so no rule below is for these)" : ""));
      into.rules.push_back(std::move(rule));
    }
  }

  void add_effects(Json& rule, const Effects& effects) const {
    if (effects.min_fresh) rule.add("min_fresh", Json::text(config::to_text(*effects.min_fresh)));
    if (effects.exempt) rule.add("max_fresh", Json::text(config::to_text(kLongest)));
    if (effects.ignore_client_no_cache) rule.add("ignore_client_no_cache", Json::literal("true"));
    if (effects.ignore_authorization) rule.add("authorization", Json::text("ignore"));
    if (effects.never_store) rule.add("never_store", Json::literal("true"));
    // An error under `authorization` may be about the credentials, so none is stored.
    if (negative_ && !effects.never_store && !effects.ignore_authorization)
      rule.add("negative", Json::text(config::to_text(*negative_)));
  }

  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  Findings& findings_;
  std::vector<Pattern> patterns_;
  std::vector<Pattern> never_stored_;
  std::optional<milliseconds> negative_;
};

}  // namespace

void read_refresh(const std::vector<Line>& lines, Imported& into, Findings& findings) {
  Reader reader(findings);
  for (const Line& line : lines) {
    if (line.name == "refresh_pattern") reader.read_pattern(line);
    const bool is_about_storing =
        line.name == "cache" || line.name == "no_cache" || line.name == "store_miss";
    if (is_about_storing) reader.read_cache(line, lines);
    if (line.name == "negative_ttl") reader.read_negative(line);
  }
  reader.write(into);
}

}  // namespace proxy::command::squid
