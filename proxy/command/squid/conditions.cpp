#include "proxy/command/squid/conditions.hpp"

#include <algorithm>

namespace proxy::command::squid {
namespace {

// Returns the narrower one of two values if the other one covers it.
template <class T>
auto narrower(bool (*covers)(const T& wide, const T& narrow)) {
  return [covers](const T& a, const T& b) -> std::optional<T> {
    if (covers(a, b)) return b;
    return covers(b, a) ? std::optional(a) : std::nullopt;
  };
}

using Text = std::string;
constexpr auto kSameText = [](const Text& a, const Text& b) { return a == b; };
constexpr auto kCoversUser = [](const Text& wide, const Text& narrow) {
  return wide == narrow || wide == "*";
};
constexpr auto kCoversHost = [](const Text& wide, const Text& narrow) {
  return covers_host(wide, narrow);
};

std::optional<Ports> common_ports(const Ports& a, const Ports& b) {
  const Ports both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.first <= both.last ? std::optional(both) : std::nullopt;
}

std::optional<Hours> common_hours(const Hours& a, const Hours& b) {
  const Hours both{a.days & b.days, std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.days != 0 && both.begin < both.end ? std::optional(both) : std::nullopt;
}

// Narrows the list `into` by `other`. Returns whether anything is left.
template <class T, class Common>
bool narrow(std::optional<std::vector<T>>& into, const std::optional<std::vector<T>>& other,
            const Common& common) {
  if (!other || into == other) return true;
  std::vector<T> all;
  for (const T& one : into ? *into : std::vector<T>{}) {
    for (const T& another : *other) {
      auto part = common(one, another);
      if (part && std::find(all.begin(), all.end(), *part) == all.end()) all.push_back(*part);
    }
  }
  into = into ? std::move(all) : *other;
  return !into->empty();
}

}  // namespace

bool covers_host(std::string_view wide, std::string_view narrow) {
  return wide == narrow || wide == "*" ||
         (wide.starts_with("*.") && narrow.ends_with(wide.substr(1)));
}

std::optional<Conditions> both(const Conditions& a, const Conditions& b) {
  Conditions all = a;
  const auto same = narrower<Text>(kSameText);
  const bool possible =
      narrow(all.clients, b.clients, narrower<config::Network>(config::covers)) &&
      narrow(all.to, b.to, narrower<Text>(kCoversHost)) &&
      narrow(all.ports, b.ports, common_ports) && narrow(all.methods, b.methods, same) &&
      narrow(all.schemes, b.schemes, same) && narrow(all.hours, b.hours, common_hours) &&
      narrow(all.users, b.users, narrower<Text>(kCoversUser));
  return possible ? std::optional(std::move(all)) : std::nullopt;
}

std::vector<Ports> other_ports(std::vector<Ports> ports) {
  std::sort(ports.begin(), ports.end(),
            [](const Ports& a, const Ports& b) { return a.first < b.first; });
  std::vector<Ports> others;
  unsigned next = 1;
  for (const Ports& range : ports) {
    if (range.first > next) others.push_back({next, range.first - 1});
    next = std::max(next, range.last + 1);
  }
  if (next <= 65'535) others.push_back({next, 65'535});
  return others;
}

}  // namespace proxy::command::squid
