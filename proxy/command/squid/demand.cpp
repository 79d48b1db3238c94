#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {
namespace {

// Squid tests the acls from the left, up to the first that the request does not meet.
void record_user(Demand& demand, Acl::Asks asks) {
  if (demand.never || asks == Acl::Asks::nobody) return;
  if (demand.is_about_pages()) {
    demand.pages_for_users = true;
  } else if (!demand.before_user) {
    demand.before_user = demand.all;
    demand.asks = asks;
  }
}

void set_unknown(Demand& demand, const std::string& name, std::string_view why) {
  if (demand.unknown.empty()) demand.unknown = "acl " + name + ": " + std::string(why);
}

void narrow(Demand& demand, const Conditions& by) {
  auto all = both(demand.all, by);
  demand.never = demand.never || !all;
  if (all) demand.all = std::move(*all);
}

// "!ports" is a list of ports, too. Nothing else has an opposite that rules can say.
void except(Demand& demand, const Conditions& which) {
  Conditions others;
  if (which.ports) others.ports = other_ports(*which.ports);
  Conditions ports;
  ports.ports = which.ports;
  if (others.ports && which == ports) return narrow(demand, others);
  demand.except.push_back(which);
}

void add_acl(Demand& demand, const std::string& name, const Acl& acl, bool negated) {
  switch (acl.kind) {
    case Acl::Kind::every:
    case Acl::Kind::none:
      demand.never = demand.never || negated == (acl.kind == Acl::Kind::every);
      break;
    case Acl::Kind::manager:
      demand.pages = demand.pages || !negated;
      break;
    case Acl::Kind::unknown:
      set_unknown(demand, name, acl.why);
      break;
    case Acl::Kind::destinations:
      if (negated) return set_unknown(demand, name, "only deny_to knows the addresses of origins");
      demand.destinations = acl.destinations;
      break;
    case Acl::Kind::conditions:
      negated ? except(demand, acl.conditions) : narrow(demand, acl.conditions);
  }
}

}  // namespace

Demand demanded_by(const Line& line, const Acls& acls, Action action) {
  Demand demand;
  for (std::size_t i = 1; i < line.words.size(); ++i) {
    const std::string& word = line.words[i].text;
    const bool negated = word.starts_with('!');
    const std::string name = word.substr(negated ? 1 : 0);
    const auto found = acls.find(name);
    if (found == acls.end()) {
      set_unknown(demand, name, "no acl line defines it");
      continue;
    }
    const Acl& acl = found->second;
    record_user(demand, acl.asks);
    // An acl that lacks values is a part of what is meant. That is safe where it allows less.
    if (!acl.left_out.empty() && (action == Action::allow) == negated) {
      set_unknown(demand, name, "one of its values has no equal");
    } else {
      add_acl(demand, name, acl, negated);
    }
    if (line.words.size() == 2 && !negated) demand.hosts_file = acl.hosts_file;
  }
  return demand;
}

}  // namespace proxy::command::squid
