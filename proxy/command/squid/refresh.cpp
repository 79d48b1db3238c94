#include "proxy/command/squid/parts.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "config/text.hpp"

namespace proxy::command::squid {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostRules = 250;  // the setting `rules` takes 256
constexpr std::size_t kMostPaths = 32;   // of one rule
constexpr auto kLongest = milliseconds(std::chrono::hours(24) * 3650);

// A member of a rule that keeps the rules below from its URLs, and changes nothing: no response is
// fresh for so long.
constexpr const char* kExempts = "max_fresh";

// What a line says of some URLs.
struct Said {
  Line line;
  UrlPatterns urls;  // empty: none that the settings can say
  Json effects;      // the members of a rule
};

struct Option {
  std::string_view name;
  std::string_view why;  // it is left out
};

constexpr std::array kLeftOut{
    Option{"ignore-no-store", "a response with no-store is never stored"},
    Option{"ignore-private", "a response with private is never stored"},
    Option{"ignore-no-cache", "a response with no-cache is validated each time"},
    Option{"ignore-must-revalidate", "min_fresh does not apply to must-revalidate"},
    Option{"store-stale",
           "a response that is stale from the start is stored only with a validator"},
    Option{"refresh-ims",
           "a client's conditional request is answered from the cache while that is fresh"},
    Option{"max-stale=*", "cache.stale_if_error is the same for all URLs"}};

std::string text_of(milliseconds time) {
  return config::to_text(std::min(time, kLongest));
}

// The members of a rule for the options of a refresh_pattern, from the word `at` on.
Json effects_of(const Line& line, std::size_t at, milliseconds least, Findings& findings) {
  Json effects;
  for (; at < line.words.size(); ++at) {
    const std::string& option = line.words[at].text;
    if (option == "override-expire") {
      if (least.count() > 0) effects["min_fresh"] = text_of(least);
    } else if (option == "ignore-reload" || option == "reload-into-ims") {
      effects["ignore_client_no_cache"] = true;
    } else if (option == "ignore-auth") {
      effects["authorization"] = "ignore";
    } else if (option != "override-lastmod") {
      const auto* const known =
          std::find_if(kLeftOut.begin(), kLeftOut.end(),
                       [&](const Option& each) { return lists(each.name, option); });
      findings.left(line, config::printable(option, 40) + ": " +
                              std::string(known == kLeftOut.end() ? "is not known" : known->why));
    }
  }
  return effects;
}

// The line says how long a response may be fresh that states no lifetime.
void explain_no_rule(const Line& line, milliseconds least, Findings& findings) {
  if (least.count() > 0) {
    return findings.left(
        line,
        "without override-expire, its first number is for responses that state no "
        "lifetime, of which Hearsay takes a tenth of their age. If it may hold for all: a "
        "rule with \"min_fresh\": \"" +
            config::to_text(least) + '"');
  }
  findings.unneeded(
      line,
      "for responses that state no lifetime, Hearsay takes a tenth of their age, at most a day");
}

void read_pattern(const Line& line, std::vector<Said>& into, Findings& findings) {
  std::size_t at = 0;
  const auto& words = line.words;
  while (at < words.size() && (words[at].text == "-i" || words[at].text == "+i")) ++at;
  if (words.size() < at + 4) return findings.left(line, "is not complete");
  const auto minutes = config::parse_number(words[at + 1].text, 10'000'000);
  if (!minutes) {
    return findings.left(line, "its first number is no number of minutes");
  }
  const auto least = std::min(milliseconds(std::chrono::minutes(*minutes)), kLongest);
  Json effects = effects_of(line, at + 4, least, findings);
  const auto urls = url_patterns_of(words[at].text);
  if (urls && urls->empty()) {
    return findings.unneeded(line, "Hearsay has no ftp, gopher and so on");
  }
  if (effects.empty()) {
    explain_no_rule(line, least, findings);
    // In Squid the first line that matches decides, so this one shields its URLs from later lines.
    effects[kExempts] = text_of(kLongest);
  } else if (!urls) {
    return findings.left(
        line,
        "the expression has no equal as hosts and globs of paths; write a rule with "
        "\"host\" and \"paths\" and " +
            in_one_line(effects));
  } else if (has_word(line, "reload-into-ims")) {
    findings.changed(line, "a reload is answered from the cache, and the origin is not asked");
  }
  into.push_back({line, urls.value_or(UrlPatterns{}), std::move(effects)});
}

// "cache deny acl": nothing is stored.
void read_cache(const Line& line, const Acls& acls, std::vector<Said>& into, Findings& findings) {
  if (is_for_all(line, "allow")) return;
  const bool plain = line.words.size() == 2 && line.words[0].text == "deny" && !line.conditional;
  const auto acl = plain ? acls.find(line.words[1].text) : acls.end();
  const auto urls = acl == acls.end() ? UrlPatterns{} : acl->second.urls;
  if (urls.empty() || urls.size() > kMostRules) {
    return findings.left(
        line,
        "has no equal as hosts and globs of paths; write a rule with \"host\", \"paths\" "
        "and \"never_store\": true");
  }
  into.push_back({line, urls, {{"never_store", true}}});
}

// One rule for each host, and for each 32 paths.
void add_rules(const Said& said, const std::optional<milliseconds>& negative,
               std::vector<Json>& rules) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_host;
  for (const UrlPattern& url : said.urls) {
    const auto found = std::find_if(by_host.begin(), by_host.end(), [&](const auto& each) {
      // A pattern without a path is for the whole host. Paths beside it would narrow it.
      return each.first == url.host && each.second.empty() == url.path.empty() &&
             each.second.size() < kMostPaths;
    });
    const bool is_new = found == by_host.end();
    if (is_new) by_host.push_back({url.host, {}});
    auto& paths = is_new ? by_host.back().second : found->second;
    if (!url.path.empty()) paths.push_back(url.path);
  }
  const std::string name = "squid-" + std::to_string(said.line.source.order) + '-';
  std::size_t number = 0;
  for (const auto& [host, paths] : by_host) {
    Json& rule = rules.emplace_back();
    rule["name"] = name + std::to_string(number++);
    rule["host"] = host;
    if (!paths.empty()) rule["paths"] = paths;
    rule.update(said.effects);
    // An error under `authorization` may be about the credentials, so none is stored.
    const bool stores =
        !said.effects.contains("never_store") && !said.effects.contains("authorization");
    // One rule alone decides on a URL, so each has to say what Squid says once for all.
    if (negative && stores) rule["negative"] = text_of(*negative);
    add_comment(rule,
                origin_of(said.line.source) + ": " + said.line.text +
                    (said.effects.contains(kExempts) ? " (so no rule below is for these)" : ""));
  }
}

}  // namespace

void read_refresh(const std::vector<Line>& lines, const Acls& acls, Json& into,
                  Findings& findings) {
  std::vector<Said> never_stored;
  std::vector<Said> patterns;
  std::optional<milliseconds> negative;
  for (const Line& line : lines) {
    if (line.name == "refresh_pattern") read_pattern(line, patterns, findings);
    if (line.name == "cache" || line.name == "no_cache" || line.name == "store_miss") {
      read_cache(line, acls, never_stored, findings);
    }
    if (line.name != "negative_ttl") continue;
    const auto time = time_of(line);
    if (!time || (time->count() > 0 && time->count() < 1000)) {
      findings.left(line, "has no time of a second or more that is understood");
    } else if (time->count() > 0) {
      negative = time;
    }
  }
  // With no rule below them, they keep nothing from anything.
  while (!patterns.empty() && patterns.back().effects.contains(kExempts)) patterns.pop_back();
  // Before the rest: the first rule that matches decides, and what is not stored has no lifetime.
  patterns.insert(patterns.begin(), never_stored.begin(), never_stored.end());
  std::vector<Json> rules;
  for (const Said& said : patterns) {
    if (said.urls.empty()) {
      findings.changed(
          said.line,
          "the expression has no equal, so the rules of the lines below hold for its URLs, too");
    }
    add_rules(said, negative, rules);
  }
  if (negative) {
    // At the end: the first rule that matches decides.
    rules.push_back({{"name", "negative_ttl"}, {"host", "*"}, {"negative", text_of(*negative)}});
  }
  if (rules.size() > kMostRules) {
    rules.resize(kMostRules);
    findings.left(
        {},
        "the lines about freshness come to more rules than the settings take; the last are left "
        "out");
  }
  if (!rules.empty()) into["rules"] = rules;
}

}  // namespace proxy::command::squid
