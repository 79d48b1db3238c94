#include "proxy/command/squid/parts.hpp"

#include <algorithm>
#include <utility>

namespace proxy::command::squid {
namespace {

constexpr std::size_t kMostRules = 250;  // access.rules takes 256
// Each barrier may split a rule in two, so the steps may double with each barrier.
constexpr std::size_t kMostSteps = 20'000;

struct Rule {
  Action action;
  Conditions when;
  std::string comment;       // the line that it comes from
  bool provisional = false;  // it denies more than its line, part of which has no equal

  [[nodiscard]] bool allows() const { return action == Action::allow; }
};

// What the lines come to.
struct Access {
  std::vector<Rule> rules;          // the first that a request meets decides
  Values deny_to;                   // no request may reach these, besides those of the default
  std::vector<std::string> block;   // files of hosts that no client may reach
  Values connect_ports{kAllPorts};  // for all clients; rules may deny some of them
};

// Refuses the requests that meet `when` and none of `unless`, before any later line allows them.
// A rule cannot say "unless", so the barriers narrow each later rule that allows.
struct Barrier {
  Conditions when;
  Alternatives unless;
  std::string comment;  // the line that it comes from
};

std::string comment_for(const Line& line) {
  return origin_of(line.source) + ": " + line.text;
}

Json written(const Rule& rule) {
  constexpr const char* kNames[] = {"clients", "to",    "ports", "methods",
                                    "schemes", "times", "users"};
  Json json{{"action", rule.allows() ? "allow" : "deny"}};
  for (const auto& [aspect, values] : rule.when) {
    json[kNames[static_cast<std::size_t>(aspect)]] = texts_of(values, aspect, rule.action);
  }
  add_comment(json, rule.comment);
  return json;
}

bool is_in(std::string_view set, const Value& network) {
  const auto networks = config::parse_networks(set).value();
  return std::any_of(networks.begin(), networks.end(), [&](const config::Network& each) {
    return covers(each, std::get<config::Network>(network));
  });
}

// "deny_to" without what is in it by default.
Values beyond_default(const Values& networks) {
  Values others = simplified(networks);
  std::erase_if(others, [](const Value& each) {
    return is_in("loopback", each) || is_in("link-local", each);
  });
  return others;
}

// Takes the rules off the end that ask only who the client is: they are what access.clients says.
Values clients_from_the_end(std::vector<Rule>& rules) {
  const bool denies_rest = !rules.empty() && !rules.back().allows() && rules.back().when.empty() &&
                           !rules.back().provisional;
  if (denies_rest) rules.pop_back();
  Values all;
  while (!rules.empty() && rules.back().allows()) {
    const Conditions& when = rules.back().when;
    const auto clients = when.find(Aspect::clients);
    if (when.size() > (clients == when.end() ? 0 : 1)) break;
    const Values more = clients == when.end() ? parse_addresses("all") : clients->second;
    all.insert(all.begin(), more.begin(), more.end());
    rules.pop_back();
  }
  return simplified(all);
}

void write_connect_ports(const Values& connect_ports, Json& into) {
  Json ports = Json::array();
  for (const std::string& text : texts_of(connect_ports, Aspect::ports)) {
    ports.push_back(text.find('-') == text.npos ? Json(std::stoi(text)) : Json(text));
  }
  into["connect_ports"] = ports;
  if (connect_ports == Values{kAllPorts}) {
    add_comment(into, "no line limits CONNECT to some ports for all clients", "connect_ports");
  }
}

void write(Access access, Json& into) {
  const Values clients = clients_from_the_end(access.rules);
  for (const Rule& rule : access.rules) into["rules"].push_back(written(rule));
  into["clients"] = texts_of(clients, Aspect::clients);
  into["monitor"] = {"loopback"};
  into["admin"] = Json::array();
  if (auto texts = texts_of(beyond_default(access.deny_to), Aspect::destinations); !texts.empty()) {
    texts.insert(texts.begin(), {"loopback", "link-local"});
    into["deny_to"] = texts;
  }
  if (!clients.empty() || !access.rules.empty()) write_connect_ports(access.connect_ports, into);
  if (!access.block.empty()) into["block"] = access.block;
}

class AccessReader {
 public:
  AccessReader(const Acls& acls, Denial denial, Findings& findings)
      : acls_(acls), denial_(denial), findings_(findings) {}

  void read(const Line& line) {
    const bool allows = !line.words.empty() && line.words[0].text == "allow";
    if (!allows && (line.words.empty() || line.words[0].text != "deny")) {
      return findings_.left(line, "says neither allow nor deny");
    }
    last_ = line;
    last_allows_ = allows || (line.conditional && last_allows_);  // it may be absent
    if (closed_) return findings_.unneeded(line, "no request gets so far");
    if (ask_for_user(line)) return;
    if (line.conditional && allows) return findings_.left(line, "depends on a condition");
    const Demand demand = demanded_by(line, acls_, allows ? Action::allow : Action::deny);
    if (demand.never) {
      findings_.unneeded(line, "no request that Hearsay serves meets it");
    } else if (!allows) {
      deny(line, demand);
    } else if (is_about_pages(demand.all)) {
      leave_pages(line, demand.all);
    } else {
      allow(line, demand);
    }
  }

  // Of a list that can refuse what http_access allows: refuses the same before the http_access
  // lines are asked. A rule cannot leave to later lines what such a list allows.
  void read_further(const std::vector<Line>& lines, std::string_view name) {
    const Line* allowing = nullptr;
    bool allows_rest = true;  // a list that is empty, or ends with a deny
    for (const Line& line : lines) {
      if (line.name != name || line.words.empty()) continue;
      if (is_for_all(line, "allow")) return;
      const bool denies = line.words[0].text == "deny";
      const bool denies_all = is_for_all(line, "deny");
      if (!denies) allowing = &line;
      allows_rest = denies && !denies_all && (allows_rest || !line.conditional);
      if (denies_all && allowing) break;
      if (ask_for_user(line) || !denies) continue;
      findings_.changed(
          line,
          "decides before the http_access lines, and whatever it denies is denied even if a line "
          "above it allows that");
      deny(line, demanded_by(line, acls_, Action::deny));
      if (denies_all) return;
    }
    if (allows_rest) return;
    Demand all;
    all.unknown = "its list denies all that it does not allow, and rules are one list";
    deny_unknown(*allowing, all, {});
  }

  // To Hearsay, the client is who connects. A proxy that Squid trusts to name its own clients would
  // let all of them in.
  void read_indirect(const Line& line) {
    if (line.words.empty() || line.words[0].text != "allow") return;
    const std::string why = "Hearsay does not look at X-Forwarded-For to tell clients apart";
    if (denial_ == Denial::less) {
      return findings_.wider(line,
                             why + ": all clients of these proxies may do what the proxies may");
    }
    findings_.left(line, why +
                             ". A rule denies the proxies of this line; take it out if all of "
                             "their clients may use Hearsay");
    deny(line, demanded_by(line, acls_, Action::deny));
  }

  Access access() && {
    if (!closed_ && !last_allows_) {
      add_allowed({}, "the opposite of the last http_access line");
      findings_.changed(
          last_,
          "it is the last http_access line, and Squid allows what no line denies: the settings let "
          "in all others, too. If that is not meant, end the list with \"http_access deny all\"");
    }
    return std::move(result_);
  }

 private:
  // Squid goes on with requests only that have a user, if a line of any list asks for one. As in a
  // line that denies, an acl without some of its values still asks everybody. Returns whether
  // nobody gets past the line, since the settings know no users.
  bool ask_for_user(const Line& line) {
    Demand demand = demanded_by(line, acls_, Action::deny);
    if (!demand.before_user) return false;
    demand.all = *demand.before_user;
    demand.all.erase(Aspect::destinations);  // which no rule knows, so that more requests are asked
    if (is_about_pages(demand.all)) return false;  // whose settings know no users
    if (demand.asks == Acl::Asks::user) {
      barrier({demand.all, {{{Aspect::users, {"*"}}}}, comment_for(line)});
      return false;
    }
    deny_unknown(line, demand, {});
    return denial_ == Denial::more;
  }

  // Own pages and purging have settings of their own, which name clients alone. As they are
  // written, they let nobody in but the processes of this machine, which may read the pages.
  void leave_pages(const Line& line, const Conditions& when) {
    const auto clients = when.find(Aspect::clients);
    const bool is_default = when.contains(Aspect::pages) && clients != when.end() &&
                            std::all_of(clients->second.begin(), clients->second.end(),
                                        [](const Value& each) { return is_in("loopback", each); });
    if (is_default) return;
    findings_.left(
        line,
        "access.monitor names who may read the proxy's own pages, access.admin who may purge");
  }

  void allow(const Line& line, const Demand& demand) {
    if (!demand.unknown.empty()) return findings_.left(line, demand.unknown);
    if (demand.all.contains(Aspect::destinations)) {
      return findings_.left(
          line, "a rule names hosts, not the addresses to which they resolve; name the hosts");
    }
    for (const Conditions& exception : demand.except) {
      if (const auto part = both(demand.all, exception)) {
        add({Action::deny, *part, comment_for(line)});
      }
    }
    if (!demand.except.empty()) {
      findings_.changed(line,
                        "what it excepts by ! is denied here; Squid would ask the lines below");
    }
    add_allowed(demand.all, comment_for(line));
    closed_ = closed_ || (demand.all.empty() && demand.except.empty() && barriers_.empty());
  }

  // Denies what the acls of a line name, whichever list it is of.
  void deny(const Line& line, const Demand& demand) {
    if (demand.never || is_about_pages(demand.all)) return;
    const bool has_allowed = std::any_of(result_.rules.begin(), result_.rules.end(),
                                         [](const Rule& rule) { return rule.allows(); });
    if (const auto to = demand.all.find(Aspect::destinations); to != demand.all.end()) {
      result_.deny_to.insert(result_.deny_to.end(), to->second.begin(), to->second.end());
      if (has_allowed || line.words.size() > 2) {
        findings_.changed(line, "access.deny_to holds for all clients");
      }
    } else if (!demand.hosts_file.empty()) {
      result_.block.push_back(demand.hosts_file);
      findings_.changed(line, "access.block holds for all clients, and for all hosts below a host");
    } else if (!demand.unknown.empty()) {
      const Demand part = demanded_by(line, acls_, Action::allow);
      const bool has_equal = part.unknown.empty() && part.except.empty() && !part.never &&
                             !part.all.contains(Aspect::destinations);
      deny_unknown(line, demand, has_equal ? std::optional(part.all) : std::nullopt);
    } else if (!demand.except.empty()) {
      barrier({demand.all, demand.except, comment_for(line)});
    } else if (has_allowed || !limit_connect_ports(demand.all)) {
      add({Action::deny, demand.all, comment_for(line)});
      closed_ = closed_ || demand.all.empty();
    }
  }

  // The settings have no equal of this line. The import denies more than the line does, or, if the
  // user orders that, only its `part` that settings can say.
  void deny_unknown(const Line& line, const Demand& demand, const std::optional<Conditions>& part) {
    if (denial_ == Denial::less) {
      findings_.wider(line, demand.unknown);
      if (part) add({Action::deny, *part, comment_for(line) + " (in part)"});
      return;
    }
    findings_.left(
        line,
        demand.unknown + ". The rule denies " +
            (demand.all.empty() ? "everything" : "more than the line") +
            "; take it out once you have another way, or import with --wider, which leaves out "
            "such lines");
    add({Action::deny, demand.all, comment_for(line) + " (" + demand.unknown + ")", true});
  }

  // Only for a line above which no line allows: it holds for all clients, as the setting does.
  bool limit_connect_ports(const Conditions& denied) {
    const auto ports = denied.find(Aspect::ports);
    if (ports == denied.end() || denied.size() != 2) return false;
    const Conditions connect{{Aspect::ports, ports->second}, {Aspect::methods, {"CONNECT"}}};
    if (denied != connect) return false;
    const auto left = both({{Aspect::ports, result_.connect_ports}},
                           {{Aspect::ports, other_ports(ports->second)}});
    result_.connect_ports = left ? left->at(Aspect::ports) : Values{};
    return true;
  }

  void barrier(Barrier barrier) {
    const bool known = std::any_of(barriers_.begin(), barriers_.end(), [&](const Barrier& each) {
      return each.when == barrier.when && each.unless == barrier.unless;
    });
    if (!known) barriers_.push_back(std::move(barrier));
  }

  // Adds the rules of a line that allows, as far as the barriers from the number `from` on let it:
  // first what a barrier lets through, then a denial of the rest that is the barrier's.
  void add_allowed(const Conditions& when, const std::string& comment, std::size_t from = 0) {
    if (++steps_ > kMostSteps) return close();
    if (closed_) return;
    if (from == barriers_.size()) return add({Action::allow, when, comment});
    const Barrier& barrier = barriers_[from];
    const auto guarded = both(when, barrier.when);
    const bool stops = guarded && std::none_of(barrier.unless.begin(), barrier.unless.end(),
                                               [&](const Conditions& one) {
                                                 return both(one, *guarded) == guarded;
                                               });
    if (stops) {
      for (const Conditions& one : barrier.unless) {
        if (const auto part = both(*guarded, one)) add_allowed(*part, comment, from + 1);
      }
      if (*guarded == when) return;
      add({Action::deny, *guarded, barrier.comment});
    }
    add_allowed(when, comment, from + 1);
  }

  void add(Rule rule) {
    if (closed_) return;
    if (result_.rules.size() == kMostRules) return close();
    result_.rules.push_back(std::move(rule));
  }

  // A list that is full denies the rest.
  void close() {
    if (std::exchange(closed_, true)) return;
    result_.rules.push_back(
        {Action::deny, {}, "access.rules is full: all that follows is denied", true});
    findings_.left({}, "the http_access lines come to more rules than access.rules takes");
  }

  const Acls& acls_;
  const Denial denial_;
  Findings& findings_;
  Access result_;
  std::vector<Barrier> barriers_;
  Line last_{};              // of http_access
  bool last_allows_ = true;  // without any line, Squid denies
  bool closed_ = false;      // a rule decides on every request
  std::size_t steps_ = 0;
};

}  // namespace

void read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial, Json& into,
                 Findings& findings) {
  AccessReader reader(acls, denial, findings);
  for (const Line& line : lines) {
    if (line.name == "follow_x_forwarded_for") reader.read_indirect(line);
  }
  for (const auto* name : {"adapted_http_access", "http_reply_access", "miss_access"}) {
    reader.read_further(lines, name);
  }
  for (const Line& line : lines) {
    if (line.name == "http_access") reader.read(line);
  }
  write(std::move(reader).access(), into);
}

}  // namespace proxy::command::squid
