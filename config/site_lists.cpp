#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "config/sections.hpp"

namespace config {

namespace {

using namespace std::chrono_literals;

// The sites that we serve as a gateway.

constexpr std::size_t kMostOrigins = 16;
constexpr milliseconds kLongestLifetime = 24h * 365 * 10;

void read_origin(Section& in, const LocatedValue& found, std::span<const HostPort> listen,
                 std::vector<Origin>& to) {
  const auto url = in.parsed(found, "a URL like \"http://127.0.0.1:8000\", without path or user",
                             parse_server_url);
  if (!url) return;
  const auto here = std::find_if(listen.begin(), listen.end(),
                                 [&](const HostPort& own) { return is_ourselves(url->at, own); });
  if (here != listen.end()) {
    return in.fault(found, "is where we listen ourselves; name the server behind us");
  }
  // Twice the same server would make one that fails look like two.
  const Origin origin{url->tls, url->at.host, url->at.port};
  if (std::count(to.begin(), to.end(), origin) > 0)
    return in.fault(found, "is listed twice; take one out");
  to.push_back(origin);
}

void read_origins(Section& in, std::span<const HostPort> listen, std::vector<Origin>& to) {
  constexpr std::string_view kForm = "a URL like \"http://127.0.0.1:8000\", or a list of them";
  const auto found = in.require("to", kForm);
  if (!found) return;
  if (found->text()) return read_origin(in, *found, listen, to);
  if (!std::holds_alternative<Array>(found->value->content)) return in.expected(*found, kForm);
  const auto items = in.items("to", "URLs");
  // An origin that fails costs each request the time to find out, so a list that is long helps
  // nobody.
  if (items->empty() || items->size() > kMostOrigins) {
    return in.fault(*found, "expected from 1 to " + std::to_string(kMostOrigins) + " URLs; found " +
                                std::to_string(items->size()));
  }
  for (const LocatedValue& item : *items) read_origin(in, item, listen, to);
}

// It goes into a request as it is, so it must be one host.
bool is_one_host(const std::string& text) {
  const auto parsed = parse_host_pattern(text);
  return parsed && !parsed->host.starts_with('*') && plain_text(text);
}

// The client chooses the Host. With "*", any client could make our origin's pages pass for those of
// any site, here and at every neighbour.
void check_share(Section& in, const Reverse& mapping) {
  if (!mapping.share || mapping.host != "*") return;
  in.fault(*in.find("share"),
           "needs a named host, such as \"www.example.com\" or \"*.example.com\": under \"*\" a "
           "client could choose any site; name the hosts, or leave it out");
}

Reverse read_mapping(Section& in, std::span<const HostPort> listen,
                     const std::vector<Reverse>& others) {
  Reverse mapping;
  if (const auto host = require_host(in)) {
    mapping.host = host->host;
    mapping.port = host->port;
  }
  read_origins(in, listen, mapping.to);
  in.read_parsed("send_host", mapping.send_host,
                 "a host like \"www.example.com\", perhaps with a port", text_if(is_one_host));
  in.read("share", mapping.share);
  check_share(in, mapping);
  in.read_parsed("known", mapping.known, "the path of a file of URLs, one a line", plain_text);
  in.finish();
  const auto twin = std::find_if(others.begin(), others.end(), [&](const Reverse& other) {
    return !other.host.empty() && other.host == mapping.host && other.port == mapping.port;
  });
  if (twin != others.end()) {
    in.fault(in.whole(), "is for the same host as reverse[" +
                             std::to_string(twin - others.begin()) +
                             "]; list the origins of both under one \"to\"");
  }
  return mapping;
}

// Rules for some sites.

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

// "*" at the end alone: names are compared by their beginning, for each parameter of each request.
bool is_parameter(const std::string& text) {
  constexpr std::size_t kLongestName = 128;
  return !text.empty() && text.size() <= kLongestName && text.find_first_of("&=?#") == text.npos &&
         text.find('*') >= text.size() - 1;
}

bool has_effect(const PatternRule& rule) {
  return rule.kind != ResponseClass::told || rule.name != StoredUnder::url || !rule.follow.empty();
}

bool does_nothing(const RuleSettings& rule) {
  return !rule.min_fresh && !rule.max_fresh && !rule.negative && !rule.immutable &&
         !rule.ignore_authorization && !rule.ignore_client_no_cache && rule.drop_query.empty() &&
         !rule.never_store && !rule.offline && !rule.store_cookies &&
         !(rule.by_pattern && has_effect(*rule.by_pattern));
}

// A class, or a time for which a response is fresh.
void read_class(Section& in, RuleSettings& rule, PatternRule& by_pattern) {
  constexpr std::array<std::pair<std::string_view, ResponseClass>, 3> kWords{
      {{"immutable", ResponseClass::immutable},
       {"revalidate", ResponseClass::revalidate},
       {"pass", ResponseClass::pass}}};
  const auto found = in.find("class");
  if (!found) return;
  const auto* const text = found->text();
  const auto* const word = std::ranges::find(kWords, text ? std::string_view(*text) : "",
                                             &decltype(kWords)::value_type::first);
  by_pattern.kind = word == kWords.end() ? ResponseClass::fresh : word->second;
  if (word == kWords.end()) in.read("class", rule.min_fresh, {1s, kLongestLifetime});
}

void read_by_pattern(Section& in, RuleSettings& rule) {
  PatternRule by_pattern;
  in.read_parsed("pattern", by_pattern.pattern,
                 "a pattern of paths, such as \"/blobs/{sha256}\" or \"/pool/**\"",
                 text_if([](const auto& text) { return text.starts_with('/'); }));
  if (in.find("class") && (rule.min_fresh || rule.max_fresh || rule.immutable))
    in.fault(*in.find("class"), "says it already; leave out min_fresh, max_fresh and immutable");
  read_class(in, rule, by_pattern);
  in.read_word(
      "key", by_pattern.name,
      {{"url", StoredUnder::url}, {"path", StoredUnder::path}, {"content", StoredUnder::content}});
  if (by_pattern.name == StoredUnder::content &&
      by_pattern.pattern.find("{sha") == std::string::npos)
    in.fault(*in.find("key"), "needs a pattern with {sha256} or {sha512}");
  if (by_pattern.name == StoredUnder::path && !rule.drop_query.empty())
    in.fault(*in.find("drop_query"), "has no effect beside \"key\": \"path\"; leave it out");
  in.read_texts("follow", {"hosts, such as \"*.example.com\"", 256}, by_pattern.follow,
                "a host like \"www.example.com\" or \"*.example.com\", perhaps with a port",
                parse_mirrored);
  if (by_pattern != PatternRule()) rule.by_pattern = std::move(by_pattern);
}

// `otherwise`: the host of a rule that names none; nothing: it must name one.
RuleSettings read_rule(Section& in, const std::vector<RuleSettings>& others,
                       const std::optional<HostSpec>& otherwise) {
  const std::size_t before = in.faults().size();
  RuleSettings rule;
  read_name(in, others, rule);
  const bool may_lack = otherwise && !in.find("host");
  if (const auto host = may_lack ? otherwise : require_host(in)) rule.host = *host;
  in.read_parsed(
      "path", rule.path, "the beginning of paths, such as \"/debian/pool/\"",
      text_if([](const auto& path) { return path.starts_with('/') && plain_text(path); }));
  in.read_texts("paths", {"globs, such as \"*.deb\"", 32}, rule.paths,
                "a glob over the path, such as \"*.deb\" or \"/pool/*\"", text_if(is_path_glob));
  // A least lifetime of zero says nothing. A longest one of zero has each response validated.
  in.read("min_fresh", rule.min_fresh, {1s, kLongestLifetime});
  in.read("max_fresh", rule.max_fresh, {0s, kLongestLifetime});
  in.read("negative", rule.negative, {1s, kLongestLifetime});
  in.read("immutable", rule.immutable);
  in.read_parsed("authorization", rule.ignore_authorization, "\"ignore\"", [](const auto& word) {
    return word == "ignore" ? std::optional(true) : std::nullopt;
  });
  in.read("ignore_client_no_cache", rule.ignore_client_no_cache);
  in.read_texts("drop_query", {"names, such as \"utm_*\"", 64}, rule.drop_query,
                "a parameter's name, such as \"utm_source\", \"utm_*\" or \"*\"",
                text_if(is_parameter));
  in.read("never_store", rule.never_store);
  in.read("offline", rule.offline);
  in.read("store_cookies", rule.store_cookies);
  read_by_pattern(in, rule);
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
             "ignore_client_no_cache, drop_query, never_store, offline, store_cookies, class, key "
             "or follow, or leave it out");
  }
  return rule;
}

}  // namespace

std::optional<HostSpec> require_host(Section& in) {
  const auto found = in.require("host", kHostPatternForm);
  return found ? in.host_pattern(*found) : std::nullopt;
}

std::optional<LocatedValue> read_hosts(Section& in, std::string_view key,
                                       std::vector<HostSpec>& into) {
  return in.read_texts(key, {"hosts, such as \"*.example.com\"", 256}, into, kHostPatternForm,
                       parse_host_pattern);
}

void read_reverse(Section& in, std::span<const HostPort> listen, std::vector<Reverse>& reverse) {
  in.read_objects("reverse", {"objects, each with \"host\" and \"to\"", 1'000}, reverse,
                  [&](Section& part) { return read_mapping(part, listen, reverse); });
}

// Every request is compared with all rules, so their number is bounded.
void read_rules(Section& in, std::vector<RuleSettings>& rules) {
  in.read_objects("rules", {"objects, each with \"name\" and \"host\"", 256}, rules,
                  [&rules](Section& part) { return read_rule(part, rules, std::nullopt); });
}

void read_recipe_rules(Section& in, std::vector<RuleSettings>& rules) {
  const HostSpec any{"*", {}};
  in.read_objects("rules", {"objects, each with \"name\"", 256}, rules,
                  [&](Section& part) { return read_rule(part, rules, any); });
}

bool is_path_glob(std::string_view text) {
  constexpr std::size_t kLongestGlob = 128;
  std::size_t places = 0;
  for (const char c : text) {
    const bool is_ascii = static_cast<unsigned char>(c) < 128;
    places += c == '*' ? 0U : is_ascii ? 1U : 3U;  // "%C3" in the path of a URL
  }
  return (text.starts_with('/') || text.starts_with('*')) && text.size() <= kLongestGlob &&
         places <= kMostPlaces;
}

}  // namespace config
