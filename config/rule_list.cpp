#include <algorithm>
#include <string>

#include "config/sections.hpp"

namespace config {

namespace {

using namespace std::chrono_literals;

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

void read_authorization(Section& in, bool& ignored) {
  constexpr std::string_view kForm = "\"ignore\"";
  std::string word;
  in.read_text("authorization", word, kForm);
  ignored = word == "ignore";
  if (!word.empty() && !ignored) in.expected(*in.find("authorization"), kForm);
}

void read_freshness(Section& in, std::string_view key, std::optional<milliseconds>& into,
                    milliseconds least) {
  if (in.find(key)) in.read(key, into.emplace(least), {least, 24h * 365 * 10});
}

std::optional<std::string> parse_glob(const std::string& text) {
  return is_path_glob(text) ? std::optional(text) : std::nullopt;
}

// "*" at the end alone: names are compared by their beginning, for each parameter of each request.
std::optional<std::string> parse_parameter(const std::string& text) {
  constexpr std::size_t kLongestName = 128;
  const bool good = !text.empty() && text.size() <= kLongestName &&
                    text.find_first_of("&=?#") == text.npos && text.find('*') >= text.size() - 1;
  return good ? std::optional(text) : std::nullopt;
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
  in.read_texts("paths", {"globs, such as \"*.deb\"", 32}, rule.paths,
                "a glob over the path, such as \"*.deb\" or \"/pool/*\"", parse_glob);
  // A least lifetime of zero says nothing. A longest one of zero has each response validated.
  read_freshness(in, "min_fresh", rule.min_fresh, 1s);
  read_freshness(in, "max_fresh", rule.max_fresh, 0s);
  read_freshness(in, "negative", rule.negative, 1s);
  in.read("immutable", rule.immutable);
  read_authorization(in, rule.ignore_authorization);
  in.read("ignore_client_no_cache", rule.ignore_client_no_cache);
  in.read_texts("drop_query", {"names, such as \"utm_*\"", 64}, rule.drop_query,
                "a parameter's name, such as \"utm_source\", \"utm_*\" or \"*\"", parse_parameter);
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
  // A rule hides those behind it from the same requests, so one without an effect is a mistake.
  if (in.faults().size() == before && does_nothing(rule)) {
    in.fault(in.whole(),
             "does nothing; give it min_fresh, max_fresh, negative, immutable, authorization, "
             "ignore_client_no_cache, drop_query, never_store, offline or store_cookies, or leave "
             "it out");
  }
  return rule;
}

}  // namespace

// Every request is compared with all rules, so their number is bounded.
void read_rules(Section& in, std::vector<RuleSettings>& rules) {
  in.read_objects("rules", {"objects, each with \"name\" and \"host\"", 256}, rules,
                  [&rules](Section& part) { return read_rule(part, rules); });
}

bool is_path_glob(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  std::size_t places = 0;
  for (const char c : text) {
    const bool is_ascii = static_cast<unsigned char>(c) < 128;
    places += c == '*' ? 0U : is_ascii ? 1U : 3U;  // "%C3" in the path of a URL
  }
  return (text.starts_with('/') || text.starts_with('*')) && text.size() <= kLongest &&
         places <= kMostPlaces;
}

}  // namespace config
