#include "proxy/command/squid/access.hpp"

#include <algorithm>
#include <array>

namespace proxy::command::squid {
namespace {

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

// The last minute of a time that allows may be left out, so that it ends at a full hour, as it is
// meant.
std::string hours_text(const Hours& hours, bool allows) {
  const bool shorten = allows && hours.end % 60 == 1 && hours.end - 1 > hours.begin;
  const unsigned end = shorten ? hours.end - 1 : hours.end;
  std::string text = hours.days == 0x7f ? "" : days_text(hours.days);
  if (hours.begin == 0 && end == 24 * 60) return text.empty() ? "mon-sun" : text;
  if (!text.empty()) text += ' ';
  return text + minute_text(hours.begin) + '-' + minute_text(end);
}

std::vector<std::string> network_texts(const config::Networks& networks) {
  if (is_every_address(networks)) return {"any"};
  std::vector<std::string> texts;
  for (const config::Network& network : networks) texts.push_back(to_text(network));
  return texts;
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
  if (when.clients) json.add("clients", Json::texts(network_texts(*when.clients)));
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

// What the default lacks.
config::Networks beyond_default(const config::Networks& networks) {
  auto others = simplified(networks);
  for (const std::string_view set : {"loopback", "link-local"}) {
    const auto networks_of_set = config::parse_networks(set).value();
    for (const config::Network& known : networks_of_set) {
      std::erase_if(others, [&](const config::Network& each) { return covers(known, each); });
    }
  }
  return others;
}

}  // namespace

void write_access(const Access& access, Json& into) {
  if (!access.rules.empty()) {
    std::vector<Json> rules;
    for (const Rule& rule : access.rules) rules.push_back(written(rule));
    into.add("rules", Json::list(std::move(rules)));
  }
  into.add("clients", Json::texts(network_texts(access.clients)));
  const auto monitor = network_texts(simplified(access.monitor));
  into.add("monitor",
           Json::texts(monitor.empty() ? std::vector<std::string>{"loopback"} : monitor));
  into.add("admin", Json::texts(network_texts(simplified(access.admin))));
  if (auto texts = network_texts(beyond_default(access.deny_to)); !texts.empty()) {
    texts.insert(texts.begin(), {"loopback", "link-local"});
    into.add("deny_to", Json::texts(texts));
  }
  if (!access.clients.empty() || !access.rules.empty()) {
    std::vector<Json> ports;
    for (const Ports& range : access.connect_ports) {
      ports.push_back(range.first == range.last ? Json::literal(std::to_string(range.first))
                                                : Json::text(ports_text(range)));
    }
    Json& listed = into.add("connect_ports", Json::list(std::move(ports)));
    const bool all = access.connect_ports == std::vector<Ports>{{1, 65'535}};
    if (all) listed.comment("no line limits CONNECT to some ports for all clients");
  }
  if (!access.block.empty()) into.add("block", Json::texts(access.block));
}

}  // namespace proxy::command::squid
