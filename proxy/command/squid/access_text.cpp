#include "proxy/command/squid/access_text.hpp"

#include <algorithm>
#include <array>

#include "proxy/command/squid/networks.hpp"

namespace proxy::command::squid {
namespace {

struct NamedSet {
  std::string_view name;
  std::vector<std::string_view> parts;  // the name stands for a list that has all of these
};

// Replaces the parts of a named set by its name.
void name_set(std::vector<std::string>& texts, const NamedSet& set) {
  const auto has = [&](std::string_view part) {
    return std::find(texts.begin(), texts.end(), part) != texts.end();
  };
  if (!std::all_of(set.parts.begin(), set.parts.end(), has)) return;
  std::erase_if(texts, [&](const std::string& text) {
    return std::find(set.parts.begin(), set.parts.end(), text) != set.parts.end();
  });
  texts.insert(texts.begin(), std::string(set.name));
}

std::string two_digits(unsigned number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

std::string minute_text(unsigned minute) {
  return two_digits(minute / 60) + ':' + two_digits(minute % 60);
}

std::string days_text(unsigned days) {
  constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  std::string text;
  for (std::size_t day = 0; day < kDays.size(); ++day) {
    if ((days >> day & 1) == 0) continue;
    std::size_t last = day;
    while (last + 1 < kDays.size() && (days >> (last + 1) & 1) != 0) ++last;
    if (!text.empty()) text += ',';
    text.append(kDays[day]);
    if (last > day) text.append(last > day + 1 ? "-" : ",").append(kDays[last]);
    day = last;
  }
  return text;
}

template <class T, class Text>
void add_list(Json& rule, const char* key, const std::optional<std::vector<T>>& values,
              const Text& text_of) {
  if (!values) return;
  std::vector<std::string> texts;
  for (const T& value : *values) texts.push_back(text_of(value));
  rule.add(key, Json::texts(texts));
}

std::string ports_text(const Ports& ports) {
  const std::string first = std::to_string(ports.first);
  return ports.first == ports.last ? first : first + '-' + std::to_string(ports.last);
}

std::string same(const std::string& text) {
  return text;
}

Json written(const Rule& rule) {
  Json json;
  json.add("action", Json::text(rule.allows ? "allow" : "deny"));
  const Conditions& when = rule.when;
  if (when.clients) json.add("clients", Json::texts(client_texts(*when.clients)));
  add_list(json, "to", when.to, same);
  add_list(json, "ports", when.ports, ports_text);
  add_list(json, "methods", when.methods, same);
  add_list(json, "schemes", when.schemes, same);
  add_list(json, "times", when.hours,
           [&](const Hours& hours) { return hours_text(hours, rule.allows); });
  add_list(json, "users", when.users, same);
  json.comment(rule.comment);
  return json;
}

// The two of the default, and further ones.
std::vector<std::string> deny_to_texts(const config::Networks& networks) {
  std::vector<std::string> texts{"loopback", "link-local"};
  for (const std::string& text : client_texts(simplified(networks))) {
    const bool known = text == "127.0.0.0/8" || text == "0.0.0.0/8" || text == "::1" ||
                       text == "::" || text == "0.0.0.0" || text == "127.0.0.1" ||
                       std::find(texts.begin(), texts.end(), text) != texts.end();
    if (!known) texts.push_back(text);
  }
  return texts;
}

}  // namespace

std::vector<std::string> client_texts(const config::Networks& networks) {
  static const std::array kSets{
      NamedSet{"private", {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}},
      NamedSet{"link-local", {"169.254.0.0/16", "fe80::/10"}},
      NamedSet{"loopback", {"127.0.0.0/8", "::1"}}, NamedSet{"loopback", {"127.0.0.1", "::1"}}};
  if (is_every_address(networks)) return {"any"};
  std::vector<std::string> texts;
  for (const config::Network& network : networks) texts.push_back(to_text(network));
  for (const NamedSet& set : kSets) name_set(texts, set);
  return texts;
}

std::string hours_text(const Hours& hours, bool allows) {
  const bool shorten = allows && hours.end % 60 == 1 && hours.end - 1 > hours.begin;
  const unsigned end = shorten ? hours.end - 1 : hours.end;
  std::string text = hours.days == 0x7f ? "" : days_text(hours.days);
  if (hours.begin == 0 && end == 24 * 60) return text.empty() ? "mon-sun" : text;
  if (!text.empty()) text += ' ';
  return text + minute_text(hours.begin) + '-' + minute_text(end);
}

void write_access(const Access& access, Json& into) {
  if (!access.rules.empty()) {
    Json::Items rules;
    for (const Rule& rule : access.rules) rules.push_back(written(rule));
    into.add("rules", Json::list(std::move(rules)));
  }
  into.add("clients", Json::texts(client_texts(access.clients)));
  into.add("monitor", Json::texts(client_texts(access.monitor)));
  Json& admin = into.add("admin", Json::texts(client_texts(simplified(access.admin))));
  if (access.admin.empty()) {
    admin.comment(
        "nobody by address: `sudo hearsay purge` and its sisters use the control socket,");
    admin.comment("and `sudo hearsay dashboard` signs a browser in");
  }
  if (const auto texts = deny_to_texts(access.deny_to); texts.size() > 2) {
    into.add("deny_to", Json::texts(texts));
  }
  if (!access.clients.empty() || !access.rules.empty()) {
    Json::Items ports;
    for (const Ports& range : access.connect_ports) {
      ports.push_back(range.first == range.last ? Json::number(range.first)
                                                : Json::text(ports_text(range)));
    }
    Json& listed = into.add("connect_ports", Json::list(std::move(ports)));
    const bool all = access.connect_ports == std::vector<Ports>{{1, 65'535}};
    if (all) listed.comment("no line limits CONNECT to some ports for all clients");
  }
  if (!access.block.empty()) into.add("block", Json::texts(access.block));
}

}  // namespace proxy::command::squid
