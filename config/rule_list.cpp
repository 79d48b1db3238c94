#include "config/rule_list.hpp"

#include <algorithm>
#include <string>

#include "config/path_glob.hpp"
#include "config/text.hpp"

namespace config {

namespace {

using namespace std::chrono_literals;

// Bounded, because every request is compared with all rules.
constexpr std::size_t kMostRules = 256;
constexpr std::size_t kMostNames = 64;
constexpr std::size_t kMostPaths = 32;
constexpr std::size_t kLongestName = 128;
constexpr milliseconds kLongest = 24h * 365 * 10;

void read_name(Section& in, const std::vector<RuleSettings>& others, RuleSettings& rule) {
  const auto found = in.require("name", "a word for Cache-Status");
  if (!found) return;
  in.read_token("name", rule.name);
  const auto twin = std::find_if(others.begin(), others.end(), [&](const RuleSettings& other) {
    return !other.name.empty() && other.name == rule.name;
  });
  if (twin == others.end()) return;
  in.fault(*found, "is also the name of rules[" + std::to_string(twin - others.begin()) + ']');
}

void read_host(Section& in, RuleSettings& rule) {
  const auto found = in.require("host", kHostPatternForm);
  const auto pattern = found ? in.host_pattern(*found) : std::nullopt;
  if (pattern) rule.host = *pattern;
}

void read_path(Section& in, RuleSettings& rule) {
  constexpr std::string_view kForm = "the beginning of paths, such as \"/debian/pool/\"";
  in.read_text("path", rule.path, kForm);
  if (!rule.path.empty() && !rule.path.starts_with('/')) in.expected(*in.find("path"), kForm);
}

void read_paths(Section& in, std::vector<std::string>& globs) {
  const auto items = in.items("paths", "globs, such as \"*.deb\"", kMostPaths);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    const auto* text = std::get_if<std::string>(&item.value->content);
    if (!text || !is_path_glob(*text)) {
      in.expected(item, "a glob over the path, such as \"*.deb\" or \"/pool/*\"");
    } else {
      globs.push_back(*text);
    }
  }
}

void read_authorization(Section& in, bool& ignored) {
  constexpr std::string_view kForm = "\"ignore\"";
  std::string word;
  in.read_text("authorization", word, kForm);
  ignored = word == "ignore";
  if (!word.empty() && !ignored) in.expected(*in.find("authorization"), kForm);
}

void read_freshness(Section& in, std::string_view key, std::optional<milliseconds>& into,
                    milliseconds least) {
  if (!in.find(key)) return;
  milliseconds time = least;
  in.read(key, time, {least, kLongest});
  into = time;
}

void read_drop_query(Section& in, std::vector<std::string>& names) {
  constexpr std::string_view kForm =
      "a parameter's name, such as \"utm_source\", \"utm_*\" or \"*\"";
  const auto items = in.items("drop_query", "names, such as \"utm_*\"", kMostNames);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    const auto* text = std::get_if<std::string>(&item.value->content);
    const bool name = text && !text->empty() && text->size() <= kLongestName &&
                      text->find_first_of("&=?#") == std::string::npos &&
                      text->find('*') >= text->size() - 1;
    if (!name) {
      in.expected(item, kForm);
    } else {
      names.push_back(*text);
    }
  }
}

bool does_nothing(const RuleSettings& rule) {
  return !rule.min_fresh && !rule.max_fresh && !rule.negative && !rule.immutable &&
         !rule.ignore_authorization && !rule.ignore_client_no_cache && rule.drop_query.empty() &&
         !rule.never_store && !rule.offline && !rule.store_cookies;
}

RuleSettings read_rule(Section& in, const std::vector<RuleSettings>& others) {
  const std::size_t before = in.faults().size();
  RuleSettings rule;
  read_name(in, others, rule);
  read_host(in, rule);
  read_path(in, rule);
  read_paths(in, rule.paths);
  read_freshness(in, "min_fresh", rule.min_fresh, 1s);
  read_freshness(in, "max_fresh", rule.max_fresh, 0s);
  read_freshness(in, "negative", rule.negative, 1s);
  in.read("immutable", rule.immutable);
  read_authorization(in, rule.ignore_authorization);
  in.read("ignore_client_no_cache", rule.ignore_client_no_cache);
  read_drop_query(in, rule.drop_query);
  in.read("never_store", rule.never_store);
  in.read("offline", rule.offline);
  in.read("store_cookies", rule.store_cookies);
  if (rule.min_fresh && rule.max_fresh && *rule.min_fresh > *rule.max_fresh) {
    in.fault(*in.find("min_fresh"), "is longer than max_fresh; make one of them fit the other");
  }
  if (rule.negative && rule.ignore_authorization) {
    in.fault(*in.find("negative"),
             "has no effect beside authorization: an error may be about the credentials");
  }
  in.finish();
  if (in.faults().size() == before && does_nothing(rule)) {
    in.fault(in.whole(),
             "does nothing; give it min_fresh, max_fresh, negative, immutable, authorization, "
             "ignore_client_no_cache, drop_query, never_store, offline or store_cookies, or leave "
             "it out");
  }
  return rule;
}

}  // namespace

void read_rules(Section& in, std::vector<RuleSettings>& rules) {
  const auto items = in.items("rules", "objects, each with \"name\" and \"host\"", kMostRules);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    Section part(item, in.faults());
    rules.push_back(part.is_object() ? read_rule(part, rules) : RuleSettings{});
  }
}

}  // namespace config
