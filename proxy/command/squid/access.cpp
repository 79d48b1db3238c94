#include "proxy/command/squid/access.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr std::size_t kMostRules = 250;  // access.rules takes 256
constexpr std::size_t kMostSteps = 20'000;

// Refuses the requests that meet `when` and none of `unless`, before any later line allows them.
struct Guard {
  Conditions when;
  Alternatives unless;
  std::string comment;  // the line that it comes from
};

class Reader {
 public:
  Reader(const Acls& acls, Denial denial, Findings& findings)
      : acls_(acls), denial_(denial), findings_(findings) {}

  void read(const Line& line) {
    const bool allows = !line.words.empty() && line.words[0].text == "allow";
    if (!allows && (line.words.empty() || line.words[0].text != "deny")) {
      return tell(line, Kind::left, "says neither allow nor deny");
    }
    last_ = line;
    last_allows_ = allows || (line.conditional && last_allows_);  // it may be absent
    if (closed_) return tell(line, Kind::unneeded, "no request gets so far");
    if (ask_for_user(line)) return;
    if (line.conditional && allows) return tell(line, Kind::left, "depends on a condition");
    const Demand demand = demanded_by(line, acls_, allows);
    if (demand.never) {
      tell(line, Kind::unneeded, "no request that Hearsay serves meets it");
    } else if (demand.is_about_pages()) {
      read_pages(line, demand, allows);
    } else {
      allows ? allow(line, demand) : deny(line, demand);
    }
  }

  // Denies what the acls of a line of another list name.
  void deny_for(const Line& line) {
    const Demand demand = demanded_by(line, acls_, false);
    if (demand.never) return;
    demand.is_about_pages() ? read_pages(line, demand, false) : deny(line, demand);
  }

  // Squid goes on with requests only that have a user, if a line of any list asks for one. As in a
  // line that denies, an acl without some of its values still asks everybody. Returns whether
  // nobody gets past the line, since the settings know no users.
  bool ask_for_user(const Line& line) {
    Demand demand = demanded_by(line, acls_, false);
    if (demand.pages_for_users) {  // there is nobody to ask
      if (demand.pages) monitor_denied_ = *parse_addresses("all");
      if (demand.is_about_purging()) admin_denied_ = *parse_addresses("all");
    }
    if (!demand.before_user) return false;
    demand.all = *demand.before_user;
    if (demand.asks == Acl::Asks::user) {
      Conditions users;
      users.users = {"*"};
      guard({demand.all, {users}, comment_for(line)});
      return false;
    }
    denial_ == Denial::less ? tell(line, Kind::wider, demand.unknown) : deny_more(line, demand);
    return denial_ == Denial::more;
  }

  // Of another list that a request has to pass, too: nothing is allowed but what these lines allow.
  void allow_nothing_but(const std::vector<Line>& lines) {
    Alternatives allowed;
    for (const Line& line : lines) {
      Demand demand = demanded_by(line, acls_, true);
      if (demand.never || demand.is_about_pages()) {
        tell(line, Kind::left, "allows nothing here: it is about no request for another server");
      } else if (!line.conditional && demand.is_conditions_only()) {
        allowed.push_back(std::move(demand.all));
      } else if (denial_ == Denial::less) {
        return tell(line, Kind::wider,
                    "part of it has no equal, so all is allowed that its list denies");
      } else {
        tell(line, Kind::left,
             "allows nothing here: it depends on a condition, or part of it has no equal");
      }
    }
    guard({{}, std::move(allowed), ""});
  }

  Access access() && {
    if (!closed_ && !last_allows_) {
      add_allowed({}, "the opposite of the last http_access line");
      tell(
          last_, Kind::changed,
          "it is the last http_access line, and Squid allows what no line denies: the settings let "
          "in all others, too. If that is not meant, end the list with \"http_access deny all\"");
    }
    take_clients_from_the_end();
    return std::move(result_);
  }

 private:
  // Requests for the proxy's own pages, and to purge, have settings of their own.
  void read_pages(const Line& line, const Demand& demand, bool allows) {
    auto& denied = demand.pages ? monitor_denied_ : admin_denied_;
    auto& into = demand.pages ? result_.monitor : result_.admin;
    const auto named = demand.all.clients.value_or(*parse_addresses("all"));
    if (!allows) {  // on some pages only, perhaps; the settings cannot say that
      denied.insert(denied.end(), named.begin(), named.end());
      return;
    }
    Conditions others = demand.all;
    others.methods.reset();
    others.clients.reset();
    if (!demand.is_conditions_only() || !others.is_always()) {
      return tell(line, Kind::left, "access.monitor and access.admin name clients only");
    }
    for (const config::Network& network : named) {
      if (reaches_pages(network, denied, demand.pages ? "GET" : "PURGE")) {
        into.push_back(network);
      } else {
        tell(line, Kind::left,
             "lines above it may refuse some of these clients: " + to_text(network));
      }
    }
  }

  // Whether nothing above refuses one of these clients a request for own pages. These have hosts
  // and ports of their own, so rules about other hosts and ports do not refuse them.
  bool reaches_pages(const config::Network& network, const config::Networks& denied,
                     const std::string& method) const {
    Conditions asked;
    asked.clients = {network};
    asked.methods = {method};
    asked.schemes = {"http"};
    return std::none_of(
               denied.begin(), denied.end(),
               [&](const auto& some) { return covers(some, network) || covers(network, some); }) &&
           std::none_of(result_.rules.begin(), result_.rules.end(),
                        [&](const Rule& rule) {
                          return !rule.allows && !rule.when.to && !rule.when.ports &&
                                 both(rule.when, asked);
                        }) &&
           std::all_of(guards_.begin(), guards_.end(), [&](const Guard& guard) {
             return !both(guard.when, asked) || lets_through(guard, asked);
           });
  }

  void allow(const Line& line, const Demand& demand) {
    if (!demand.unknown.empty()) return tell(line, Kind::left, demand.unknown);
    if (!demand.destinations.empty()) {
      return tell(line, Kind::left,
                  "a rule names hosts, not the addresses to which they resolve; name the hosts");
    }
    for (const Conditions& exception : demand.except) {
      if (const auto part = both(demand.all, exception)) add({false, *part, comment_for(line)});
    }
    if (!demand.except.empty()) {
      tell(line, Kind::changed,
           "what it excepts by ! is denied here; Squid would ask the lines below");
    }
    add_allowed(demand.all, comment_for(line));
    closed_ = closed_ || (demand.all.is_always() && demand.except.empty() && guards_.empty());
  }

  void deny(const Line& line, const Demand& demand) {
    const bool has_allowed = std::any_of(result_.rules.begin(), result_.rules.end(),
                                         [](const Rule& rule) { return rule.allows; });
    if (!demand.destinations.empty()) {
      result_.deny_to.insert(result_.deny_to.end(), demand.destinations.begin(),
                             demand.destinations.end());
      if (has_allowed || line.words.size() > 2) {
        tell(line, Kind::changed, "access.deny_to holds for all clients");
      }
    } else if (!demand.hosts_file.empty()) {
      result_.block.push_back(demand.hosts_file);
      tell(line, Kind::changed,
           "access.block holds for all clients, and for all hosts below a host");
    } else if (!demand.unknown.empty()) {
      denial_ == Denial::less ? deny_less(line, demand) : deny_more(line, demand);
    } else if (!demand.except.empty()) {
      guard({demand.all, demand.except, comment_for(line)});
    } else if (has_allowed || !take_connect_ports(demand.all)) {
      add({false, demand.all, comment_for(line)});
      closed_ = closed_ || demand.all.is_always();
    }
  }

  void deny_more(const Line& line, const Demand& demand) {
    tell(line, Kind::left,
         demand.unknown + ". The rule denies " +
             (demand.all.is_always() ? "everything" : "more than the line") +
             "; take it out once you have another way, or import with --wider, which leaves out "
             "such lines");
    add({false, demand.all, comment_for(line) + " (" + demand.unknown + ")", true});
  }

  // Denies what can be said of the line: some values of its acls, perhaps.
  void deny_less(const Line& line, const Demand& demand) {
    tell(line, Kind::wider, demand.unknown);
    Demand part = demanded_by(line, acls_, true);
    if (part.is_conditions_only()) {
      add({false, std::move(part.all), comment_for(line) + " (in part)"});
    }
  }

  // Only for a line above which no line allows: it holds for all clients, as the setting does.
  bool take_connect_ports(const Conditions& denied) {
    Conditions connect;
    connect.methods = {"CONNECT"};
    connect.ports = denied.ports;
    if (!denied.ports || denied != connect) return false;
    Conditions allowed;
    allowed.ports = other_ports(*denied.ports);
    connect.ports = result_.connect_ports;
    const auto left = both(connect, allowed);
    result_.connect_ports = left ? *left->ports : std::vector<Ports>{};
    return true;
  }

  void guard(Guard guard) {
    const bool known = std::any_of(guards_.begin(), guards_.end(), [&](const Guard& each) {
      return each.when == guard.when && each.unless == guard.unless;
    });
    if (!known) guards_.push_back(std::move(guard));
  }

  static bool lets_through(const Guard& guard, const Conditions& asked) {
    return std::any_of(guard.unless.begin(), guard.unless.end(),
                       [&](const Conditions& one) { return both(one, asked) == asked; });
  }

  // Adds the rules of a line that allows, as far as the guards from the number `from` on let it:
  // first what a guard lets through, then a denial of the rest that is the guard's.
  void add_allowed(const Conditions& when, const std::string& comment, std::size_t from = 0) {
    if (++steps_ > kMostSteps) return add({false, {}, comment}, true);
    if (closed_) return;
    if (from == guards_.size()) return add({true, when, comment});
    const Guard& guard = guards_[from];
    const auto guarded = both(when, guard.when);
    if (guarded && !lets_through(guard, *guarded)) {
      for (const Conditions& one : guard.unless) {
        if (const auto part = both(*guarded, one)) add_allowed(*part, comment, from + 1);
      }
      if (*guarded == when) return;
      add({false, *guarded, guard.comment});
    }
    add_allowed(when, comment, from + 1);
  }

  // A list that is full denies the rest.
  void add(Rule rule, bool full = false) {
    if (closed_) return;
    if (full || result_.rules.size() == kMostRules) {
      rule = {false, {}, "access.rules is full: all that follows is denied", true};
      tell({}, Kind::left, "the http_access lines come to more rules than access.rules takes");
      closed_ = true;
    }
    result_.rules.push_back(std::move(rule));
  }

  // Rules at the end that ask only who the client is are what access.clients says.
  void take_clients_from_the_end() {
    auto& rules = result_.rules;
    const bool denies_rest = !rules.empty() && !rules.back().allows &&
                             rules.back().when.is_always() && !rules.back().provisional;
    if (denies_rest) rules.pop_back();
    while (!rules.empty() && rules.back().allows) {
      Conditions others = rules.back().when;
      const auto clients = others.clients.value_or(*parse_addresses("all"));
      others.clients.reset();
      if (!others.is_always()) break;
      result_.clients.insert(result_.clients.begin(), clients.begin(), clients.end());
      rules.pop_back();
    }
    result_.clients = simplified(result_.clients);
  }

  static std::string comment_for(const Line& line) {
    return origin_of(line.place) + ": " + line.text;
  }

  void tell(const Line& line, Kind kind, std::string what) {
    squid::tell(findings_, line, kind, std::move(what));
  }

  const Acls& acls_;
  const Denial denial_;
  Findings& findings_;
  Access result_;
  std::vector<Guard> guards_;
  config::Networks monitor_denied_;  // clients that a line denies some of these pages
  config::Networks admin_denied_;    // or purging
  Line last_{};                      // of http_access
  bool last_allows_ = true;          // without any line, Squid denies
  bool closed_ = false;              // a rule decides on every request
  std::size_t steps_ = 0;
};

// Lists that can refuse what http_access allows.
constexpr std::array<std::string_view, 3> kFurther{"adapted_http_access", "http_reply_access",
                                                   "miss_access"};

// Refuses before the http_access lines are asked what another list refuses.
void read_further(const std::vector<Line>& lines, std::string_view name, Reader& reader,
                  Findings& findings) {
  std::vector<Line> allowing;
  bool allows_rest = true;  // a list that is empty, or ends with a deny
  for (const Line& line : lines) {
    if (line.name != name || line.words.empty()) continue;
    if (is_for_all(line, "allow")) return;
    const bool denies = line.words[0].text == "deny";
    allows_rest = denies && (allows_rest || !line.conditional);
    if (is_for_all(line, "deny")) {
      allows_rest = false;
      break;
    }
    findings.push_back({line.place, Kind::changed, line.text,
                        "decides before the http_access lines, and whatever it denies is denied "
                        "even if a line above it allows that"});
    if (reader.ask_for_user(line)) continue;
    if (denies) {
      reader.deny_for(line);
    } else {
      allowing.push_back(line);
    }
  }
  if (!allows_rest) reader.allow_nothing_but(allowing);
}

// To Hearsay, the client is who connects. A proxy that Squid trusts to name its own clients would
// let all of them in.
void read_indirect(const std::vector<Line>& lines, Denial denial, Reader& reader,
                   Findings& findings) {
  for (const Line& line : lines) {
    if (line.name != "follow_x_forwarded_for" || line.words.empty()) continue;
    if (line.words[0].text != "allow") continue;
    if (denial == Denial::less) {
      findings.push_back({line.place, Kind::wider, line.text,
                          "Hearsay does not look at X-Forwarded-For to tell clients apart: all "
                          "clients of these proxies may do what the proxies may"});
      continue;
    }
    findings.push_back({line.place, Kind::left, line.text,
                        "Hearsay does not look at X-Forwarded-For to tell clients apart. A rule "
                        "denies the proxies of this line; take it out if all of their clients may "
                        "use Hearsay"});
    reader.deny_for(line);
  }
}

}  // namespace

Access read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial,
                   Findings& findings) {
  Reader reader(acls, denial, findings);
  read_indirect(lines, denial, reader, findings);
  for (const std::string_view name : kFurther) read_further(lines, name, reader, findings);
  for (const Line& line : lines) {
    if (line.name == "http_access") reader.read(line);
  }
  return std::move(reader).access();
}

}  // namespace proxy::command::squid
