#include "proxy/command/squid/conditions.hpp"

#include <algorithm>

#include "proxy/command/squid/networks.hpp"

namespace proxy::command::squid {
namespace {

using Texts = std::vector<std::string>;

// What both `a` and `b` are, if `a` is a part of `b`, or the other way round.
std::optional<std::string> narrower_host(const std::string& a, const std::string& b) {
  if (covers_host(a, b)) return b;
  if (covers_host(b, a)) return a;
  return std::nullopt;
}

std::optional<std::string> same_text(const std::string& a, const std::string& b) {
  return a == b ? std::optional(a) : std::nullopt;
}

std::optional<std::string> narrower_user(const std::string& a, const std::string& b) {
  if (a == "*") return b;
  return b == "*" ? a : same_text(a, b);
}

std::optional<Ports> common_ports(const Ports& a, const Ports& b) {
  const Ports both{std::max(a.first, b.first), std::min(a.last, b.last)};
  return both.first <= both.last ? std::optional(both) : std::nullopt;
}

std::optional<Hours> common_hours(const Hours& a, const Hours& b) {
  const Hours both{a.days & b.days, std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return both.days != 0 && both.begin < both.end ? std::optional(both) : std::nullopt;
}

config::Networks common(const config::Networks& a, const config::Networks& b) {
  return intersection(a, b);
}

template <class T, class Common>
std::vector<T> common(const std::vector<T>& a, const std::vector<T>& b, const Common& common_of) {
  std::vector<T> all;
  for (const T& one : a) {
    for (const T& other : b) {
      auto part = common_of(one, other);
      if (part && std::find(all.begin(), all.end(), *part) == all.end()) all.push_back(*part);
    }
  }
  return all;
}

// Narrows the list `into` by `other`. Returns whether anything is left.
template <class List, class... Common>
bool narrow(std::optional<List>& into, const std::optional<List>& other,
            const Common&... common_of) {
  if (!other) return true;
  into = into ? common(*into, *other, common_of...) : *other;
  return !into->empty();
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

// The times before and after, and the other days.
std::vector<Hours> other_hours(const Hours& hours) {
  constexpr unsigned kDay = 24 * 60;
  std::vector<Hours> others;
  if (hours.begin > 0) others.push_back({hours.days, 0, hours.begin});
  if (hours.end < kDay) others.push_back({hours.days, hours.end, kDay});
  if (const unsigned days = 0x7fU & ~hours.days; days != 0) others.push_back({days, 0, kDay});
  return others;
}

}  // namespace

bool covers_host(std::string_view wide, std::string_view narrow) {
  return wide == narrow || wide == "*" ||
         (wide.starts_with("*.") && narrow.ends_with(wide.substr(1)));
}

bool Conditions::is_about_clients_only() const {
  Conditions others = *this;
  others.clients.reset();
  return others.is_always();
}

std::optional<Conditions> both(const Conditions& a, const Conditions& b) {
  Conditions all = a;
  const bool possible =
      narrow(all.clients, b.clients) && narrow(all.to, b.to, narrower_host) &&
      narrow(all.ports, b.ports, common_ports) && narrow(all.methods, b.methods, same_text) &&
      narrow(all.schemes, b.schemes, same_text) && narrow(all.hours, b.hours, common_hours) &&
      narrow(all.users, b.users, narrower_user);
  return possible ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<Conditions> opposite(const Conditions& conditions) {
  Conditions others;
  Conditions rest = conditions;  // with a second kind, the opposite would be a choice between two
  if (conditions.clients) {
    others.clients = complement(*conditions.clients);
    rest.clients.reset();
  } else if (conditions.ports) {
    others.ports = other_ports(*conditions.ports);
    rest.ports.reset();
  } else if (conditions.schemes && conditions.schemes->size() == 1) {
    others.schemes = Texts{conditions.schemes->front() == "http" ? "https" : "http"};
    rest.schemes.reset();
  } else if (conditions.hours && conditions.hours->size() == 1) {
    others.hours = other_hours(conditions.hours->front());
    rest.hours.reset();
  }
  const bool empty = (others.clients && others.clients->empty()) ||
                     (others.ports && others.ports->empty()) ||
                     (others.hours && others.hours->empty());
  if (empty || others.is_always() || !rest.is_always()) return std::nullopt;
  return others;
}

}  // namespace proxy::command::squid
