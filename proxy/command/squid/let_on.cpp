#include "proxy/command/squid/let_on.hpp"

#include <algorithm>

#include "proxy/command/squid/networks.hpp"

namespace proxy::command::squid {
namespace {

config::Networks everybody() {
  return *parse_addresses("all");
}

bool may_refuse(const Rule& rule, const std::string& method) {
  const auto has = [](const auto& list, const std::string& value) {
    return !list || std::find(list->begin(), list->end(), value) != list->end();
  };
  const Conditions& when = rule.when;
  return !rule.allows && !when.to && !when.ports && has(when.methods, method) &&
         has(when.schemes, "http");
}

// The clients all of whose requests meet one of the alternatives.
config::Networks clients_of(const Alternatives& guard) {
  config::Networks clients;
  for (const Conditions& part : guard) {
    if (!part.is_about_clients_only()) continue;
    const auto some = part.clients.value_or(everybody());
    clients.insert(clients.end(), some.begin(), some.end());
  }
  return clients;
}

}  // namespace

config::Networks clients_let_on(const std::vector<Rule>& rules,
                                const std::vector<Alternatives>& guards,
                                const std::string& method) {
  auto clients = everybody();
  for (const Rule& rule : rules) {
    if (may_refuse(rule, method)) {
      clients = without(clients, rule.when.clients.value_or(everybody()));
    }
  }
  for (const Alternatives& guard : guards) clients = intersection(clients, clients_of(guard));
  return clients;
}

config::Networks without(const config::Networks& clients, const config::Networks& some) {
  const auto others = complement(some);
  return others ? intersection(clients, *others) : config::Networks{};
}

}  // namespace proxy::command::squid
