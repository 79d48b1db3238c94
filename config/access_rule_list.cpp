#include "config/access_rule_list.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "config/access_list.hpp"
#include "config/text.hpp"

namespace config {

namespace {

// Bounded, because every request is compared with all rules.
constexpr std::size_t kMostRules = 256;
constexpr std::size_t kMostItems = 256;

constexpr std::array<std::string_view, 2> kSchemes{"http", "https"};

constexpr const char* kEmpty = "is empty; name at least one, or leave it out for all";

const std::string* text_of(const LocatedValue& item) {
  return std::get_if<std::string>(&item.value->content);
}

// Appends what `parse` makes of each item. Nothing: the item is a fault. A list without items would
// be a condition that no request meets, or one that all meet, and nobody can tell which was meant.
template <class T, class Parse>
void read_list(Section& in, std::string_view key, std::string_view what, std::vector<T>& into,
               const Parse& parse) {
  const auto items = in.items(key, what, kMostItems);
  if (!items) return;
  for (const LocatedValue& item : *items) {
    if (auto value = parse(item)) into.push_back(std::move(*value));
  }
  if (items->empty()) in.fault(*in.find(key), kEmpty);
}

void read_clients(Section& in, Networks& clients) {
  const auto before = in.faults().size();
  read_networks(in, "clients", clients);
  const auto found = in.find("clients");
  if (found && clients.empty() && in.faults().size() == before) in.fault(*found, kEmpty);
}

// Unless it is named, a rule is called by its place in the list, as in the places of faults.
void read_name(Section& in, const std::vector<AccessRule>& others, AccessRule& rule) {
  in.read_token("name", rule.name);
  if (rule.name.empty()) {
    rule.name = std::to_string(others.size());
    return;
  }
  const auto found = in.find("name");
  if (rule.name.find_first_not_of("0123456789") == std::string::npos) {
    return in.fault(*found,
                    "expected a name with a letter in it; numbers are for rules without one");
  }
  const auto twin = std::find_if(others.begin(), others.end(),
                                 [&](const AccessRule& other) { return other.name == rule.name; });
  if (twin == others.end()) return;
  in.fault(*found,
           "is also the name of access.rules[" + std::to_string(twin - others.begin()) + ']');
}

void read_action(Section& in, AccessRule& rule) {
  constexpr std::array<Word<bool>, 2> kActions{{{"allow", true}, {"deny", false}}};
  if (in.require("action", "\"allow\" or \"deny\"")) {
    in.read_word("action", rule.allows, kActions);
  }
}

std::optional<PortRange> parse_ports(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash), 65'535);
  const auto last = dash == text.npos ? first : parse_number(text.substr(dash + 1), 65'535);
  if (!first || !last || *first == 0 || *first > *last) return std::nullopt;
  return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

}  // namespace

std::optional<PortRange> read_port_range(Section& in, const LocatedValue& item) {
  const auto* number = std::get_if<Number>(&item.value->content);
  const auto* text = number ? &number->text : text_of(item);
  const auto range = text ? parse_ports(*text) : std::nullopt;
  if (!range)
    in.expected(item, "a port or a range from 1 to 65535, such as \"80\" or \"1025-65535\"");
  return range;
}

namespace {

void read_ports(Section& in, std::vector<PortRange>& ports) {
  read_list(in, "ports", "ports, such as \"80\" or \"1025-65535\"", ports,
            [&in](const LocatedValue& item) { return read_port_range(in, item); });
}

// Methods are case-sensitive (RFC 9110 9.1), and all that are registered are in upper case.
bool is_method(std::string_view text) {
  return is_token(text) && text.size() <= 32 &&
         std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

void read_methods(Section& in, std::vector<std::string>& methods) {
  read_list(in, "methods", "methods, such as \"GET\"", methods,
            [&in](const LocatedValue& item) -> std::optional<std::string> {
              const auto* text = text_of(item);
              if (text && is_method(*text)) return *text;
              in.expected(item, "a method in upper case, such as \"GET\" or \"CONNECT\"");
              return std::nullopt;
            });
}

void read_schemes(Section& in, std::vector<std::string>& schemes) {
  read_list(in, "schemes", "schemes: \"http\", \"https\"", schemes,
            [&in](const LocatedValue& item) -> std::optional<std::string> {
              const auto* text = text_of(item);
              if (text && (*text == kSchemes[0] || *text == kSchemes[1])) return *text;
              in.expected(item, "\"http\" or \"https\"", kSchemes);
              return std::nullopt;
            });
}

void read_times(Section& in, std::vector<WeeklyTime>& times) {
  read_list(in, "times", "times, such as \"mon-fri 08:00-18:00\"", times,
            [&in](const LocatedValue& item) {
              const auto* text = text_of(item);
              const auto time = text ? parse_weekly_time(*text) : std::nullopt;
              if (!time) {
                in.expected(item,
                            "days and hours, such as \"mon-fri 08:00-18:00\", \"sat,sun\" or "
                            "\"22:00-06:00\"");
              }
              return time;
            });
}

void read_users(Section& in, std::vector<std::string>& users, bool has_file) {
  read_list(in, "users", "names of users, or \"*\" for all", users,
            [&in](const LocatedValue& item) -> std::optional<std::string> {
              const auto* text = text_of(item);
              if (text && is_user_name(*text)) return *text;
              in.expected(item, "the name of a user, without a colon, or \"*\"");
              return std::nullopt;
            });
  const auto found = in.find("users");
  if (!found || has_file) return;
  in.fault(*found, "needs access.users, with the \"file\" of the users");
}

AccessRule read_rule(Section& in, const std::vector<AccessRule>& others, bool has_user_file) {
  AccessRule rule;
  read_name(in, others, rule);
  read_action(in, rule);
  read_clients(in, rule.clients);
  read_list(in, "to", "hosts, such as \"*.example.com\"", rule.to,
            [&in](const LocatedValue& item) { return in.host_pattern(item); });
  read_ports(in, rule.ports);
  read_methods(in, rule.methods);
  read_schemes(in, rule.schemes);
  read_times(in, rule.times);
  read_users(in, rule.users, has_user_file);
  in.finish();
  return rule;
}

}  // namespace

void read_access_rules(Section& in, std::vector<AccessRule>& rules) {
  const auto items = in.items("rules", "objects, each with \"action\"", kMostRules);
  if (!items) return;
  const bool has_user_file = in.find("users").has_value();
  for (const LocatedValue& item : *items) {
    Section part(item, in.faults());
    rules.push_back(part.is_object() ? read_rule(part, rules, has_user_file) : AccessRule{});
  }
}

}  // namespace config
