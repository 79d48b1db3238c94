#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {
namespace {

// Squid tests the acls from the left, up to the first that the request does not meet.
void record_user(Demand& demand, Acl::Asks asks) {
  if (demand.never || asks == Acl::Asks::nobody || demand.before_user) return;
  demand.before_user = demand.all;
  demand.asks = asks;
}

void narrow(Demand& demand, const Conditions& by) {
  auto all = both(demand.all, by);
  demand.never = demand.never || !all;
  if (all) demand.all = std::move(*all);
}

void add_acl(Demand& demand, const Acl& acl, bool negated) {
  const bool is_only_ports = acl.when && acl.when->size() == 1 && acl.when->contains(Aspect::ports);
  // No request meets an acl without `when`. Every request meets one whose `when` is empty.
  if (!acl.when || (negated && acl.when->empty())) {
    demand.never = demand.never || negated == acl.when.has_value();
  } else if (!negated) {
    // A host may have an address in each of two networks, which have none in common.
    if (acl.when->contains(Aspect::destinations)) demand.all.erase(Aspect::destinations);
    narrow(demand, *acl.when);
  } else if (is_only_ports) {
    // "!ports" is a list of ports, too. Nothing else has an opposite that rules can say.
    narrow(demand, {{Aspect::ports, other_ports(acl.when->at(Aspect::ports))}});
  } else if (!acl.when->contains(Aspect::pages)) {
    demand.except.push_back(*acl.when);
  }
}

}  // namespace

bool is_about_pages(const Conditions& when) {
  const auto methods = when.find(Aspect::methods);
  const bool purges = methods != when.end() && methods->second == Values{"PURGE"};
  return purges || when.contains(Aspect::pages);
}

Demand demanded_by(const Line& line, const Acls& acls, Action action) {
  Demand demand;
  Acl undefined;
  undefined.unknown = "no acl line defines it";
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const std::string& word = line.words[i].text;
    const bool negated = word.starts_with('!');
    const std::string name = word.substr(negated ? 1 : 0);
    const auto found = acls.find(name);
    const Acl& acl = found == acls.end() ? undefined : found->second;
    // Before the acl counts: Squid asks for the user to find out whether it is met.
    record_user(demand, acl.asks);
    std::string why = acl.unknown;
    if (negated && acl.when && acl.when->contains(Aspect::destinations)) {
      why = "only deny_to knows the addresses of origins";
    }
    // An acl that lacks values is a part of what is meant. That is safe where it allows less.
    if (!acl.left_out.empty() && (action == Action::allow) == negated) {
      why = "one of its values has no equal";
    }
    if (why.empty()) {
      add_acl(demand, acl, negated);
    } else if (demand.unknown.empty()) {
      demand.unknown = "acl " + name + ": " + why;
    }
    // access.block knows no other conditions, so the acl has to be alone in its line.
    if (line.words.size() == 2 && !negated) demand.hosts_file = acl.hosts_file;
  }
  return demand;
}

}  // namespace proxy::command::squid
