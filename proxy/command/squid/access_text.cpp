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

std::string ports_text(const Ports& ports) {
  const std::string first = std::to_string(ports.first);
  return ports.first == ports.last ? first : first + '-' + std::to_string(ports.last);
}

Json written(const Rule& rule) {
  const Conditions& when = rule.when;
  Json json{{"action", rule.allows ? "allow" : "deny"}};
  if (when.clients) json["clients"] = network_texts(*when.clients);
  if (when.to) json["to"] = *when.to;
  if (when.ports) {
    for (const Ports& ports : *when.ports) json["ports"].push_back(ports_text(ports));
  }
  if (when.methods) json["methods"] = *when.methods;
  if (when.schemes) json["schemes"] = *when.schemes;
  if (when.hours) {
    for (const Hours& hours : *when.hours) json["times"].push_back(hours_text(hours, rule.allows));
  }
  if (when.users) json["users"] = *when.users;
  add_comment(json, rule.comment);
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
  for (const Rule& rule : access.rules) into["rules"].push_back(written(rule));
  into["clients"] = network_texts(access.clients);
  const auto monitor = network_texts(simplified(access.monitor));
  into["monitor"] = monitor.empty() ? std::vector<std::string>{"loopback"} : monitor;
  into["admin"] = network_texts(simplified(access.admin));
  if (auto texts = network_texts(beyond_default(access.deny_to)); !texts.empty()) {
    texts.insert(texts.begin(), {"loopback", "link-local"});
    into["deny_to"] = texts;
  }
  if (!access.clients.empty() || !access.rules.empty()) {
    Json ports = Json::array();
    for (const Ports& range : access.connect_ports) {
      ports.push_back(range.first == range.last ? Json(range.first) : Json(ports_text(range)));
    }
    into["connect_ports"] = ports;
    if (access.connect_ports == std::vector<Ports>{{1, 65'535}}) {
      add_comment(into, "no line limits CONNECT to some ports for all clients", "connect_ports");
    }
  }
  if (!access.block.empty()) into["block"] = access.block;
}

}  // namespace proxy::command::squid
