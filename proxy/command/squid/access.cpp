#include "proxy/command/squid/access.hpp"

#include <algorithm>
#include <utility>

namespace proxy::command::squid {
namespace {

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
    } else if (demand.is_about_pages()) {
      read_pages(line, demand, allows);
    } else {
      allows ? allow(line, demand) : deny(line, demand);
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
      deny_for(line);
      if (denies_all) return;
    }
    if (allows_rest) return;
    Demand all;
    all.unknown = "its list denies all that it does not allow, and rules are one list";
    denial_ == Denial::less ? findings_.wider(*allowing, all.unknown) : deny_more(*allowing, all);
  }

  // To Hearsay, the client is who connects. A proxy that Squid trusts to name its own clients would
  // let all of them in.
  void read_indirect(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      if (line.name != "follow_x_forwarded_for" || line.words.empty()) continue;
      if (line.words[0].text != "allow") continue;
      const std::string why = "Hearsay does not look at X-Forwarded-For to tell clients apart";
      if (denial_ == Denial::less) {
        findings_.wider(line, why + ": all clients of these proxies may do what the proxies may");
        continue;
      }
      findings_.left(
          line, why +
                    ". A rule denies the proxies of this line; take it out if all of their clients "
                    "may use Hearsay");
      deny_for(line);
    }
  }

  // Squid goes on with requests only that have a user, if a line of any list asks for one. As in a
  // line that denies, an acl without some of its values still asks everybody. Returns whether
  // nobody gets past the line, since the settings know no users.
  bool ask_for_user(const Line& line) {
    Demand demand = demanded_by(line, acls_, Action::deny);
    if (demand.pages_for_users) {  // there is nobody to ask
      if (demand.pages) monitor_denied_ = true;
      if (demand.is_about_purging()) admin_denied_ = true;
    }
    if (!demand.before_user) return false;
    demand.all = *demand.before_user;
    if (demand.asks == Acl::Asks::user) {
      Conditions users;
      users.users = {"*"};
      guard({demand.all, {users}, comment_for(line)});
      return false;
    }
    denial_ == Denial::less ? findings_.wider(line, demand.unknown) : deny_more(line, demand);
    return denial_ == Denial::more;
  }

  Access access() && {
    if (!closed_ && !last_allows_) {
      add_allowed({}, "the opposite of the last http_access line");
      findings_.changed(
          last_,
          "it is the last http_access line, and Squid allows what no line denies: the settings let "
          "in all others, too. If that is not meant, end the list with \"http_access deny all\"");
    }
    move_clients_from_the_end();
    return std::move(result_);
  }

 private:
  // Denies what the acls of a line of another list name.
  void deny_for(const Line& line) {
    const Demand demand = demanded_by(line, acls_, Action::deny);
    if (demand.never) return;
    demand.is_about_pages() ? read_pages(line, demand, false) : deny(line, demand);
  }

  // Requests for the proxy's own pages, and to purge, have settings of their own.
  void read_pages(const Line& line, const Demand& demand, bool allows) {
    bool& denied = demand.pages ? monitor_denied_ : admin_denied_;
    if (!allows) {  // some clients only, or on some pages only; the settings cannot say that
      denied = true;
      return;
    }
    Conditions others = demand.all;
    others.methods.reset();
    others.clients.reset();
    if (!demand.is_conditions_only() || !others.is_always()) {
      return findings_.left(line, "access.monitor and access.admin name clients only");
    }
    const auto named = demand.all.clients.value_or(*parse_addresses("all"));
    if (denied || may_refuse_pages()) {
      for (const config::Network& network : named) {
        findings_.left(line,
                       "lines above it may refuse some of these clients: " + to_text(network));
      }
      return;
    }
    auto& into = demand.pages ? result_.monitor : result_.admin;
    into.insert(into.end(), named.begin(), named.end());
  }

  // Own pages have hosts and ports of their own, so rules about other hosts and ports refuse none.
  bool may_refuse_pages() const {
    return !guards_.empty() ||
           std::any_of(result_.rules.begin(), result_.rules.end(), [](const Rule& rule) {
             return !rule.allows && !rule.when.to && !rule.when.ports;
           });
  }

  void allow(const Line& line, const Demand& demand) {
    if (!demand.unknown.empty()) return findings_.left(line, demand.unknown);
    if (!demand.destinations.empty()) {
      return findings_.left(
          line, "a rule names hosts, not the addresses to which they resolve; name the hosts");
    }
    for (const Conditions& exception : demand.except) {
      if (const auto part = both(demand.all, exception)) add({false, *part, comment_for(line)});
    }
    if (!demand.except.empty()) {
      findings_.changed(line,
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
        findings_.changed(line, "access.deny_to holds for all clients");
      }
    } else if (!demand.hosts_file.empty()) {
      result_.block.push_back(demand.hosts_file);
      findings_.changed(line, "access.block holds for all clients, and for all hosts below a host");
    } else if (!demand.unknown.empty()) {
      denial_ == Denial::less ? deny_less(line, demand) : deny_more(line, demand);
    } else if (!demand.except.empty()) {
      guard({demand.all, demand.except, comment_for(line)});
    } else if (has_allowed || !limit_connect_ports(demand.all)) {
      add({false, demand.all, comment_for(line)});
      closed_ = closed_ || demand.all.is_always();
    }
  }

  void deny_more(const Line& line, const Demand& demand) {
    findings_.left(
        line,
        demand.unknown + ". The rule denies " +
            (demand.all.is_always() ? "everything" : "more than the line") +
            "; take it out once you have another way, or import with --wider, which leaves out "
            "such lines");
    add({false, demand.all, comment_for(line) + " (" + demand.unknown + ")", true});
  }

  // Denies what can be said of the line: some values of its acls, perhaps.
  void deny_less(const Line& line, const Demand& demand) {
    findings_.wider(line, demand.unknown);
    Demand part = demanded_by(line, acls_, Action::allow);
    if (part.is_conditions_only()) {
      add({false, std::move(part.all), comment_for(line) + " (in part)"});
    }
  }

  // Only for a line above which no line allows: it holds for all clients, as the setting does.
  bool limit_connect_ports(const Conditions& denied) {
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
      findings_.left({}, "the http_access lines come to more rules than access.rules takes");
      closed_ = true;
    }
    result_.rules.push_back(std::move(rule));
  }

  // Rules at the end that ask only who the client is are what access.clients says.
  void move_clients_from_the_end() {
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

  const Acls& acls_;
  const Denial denial_;
  Findings& findings_;
  Access result_;
  std::vector<Guard> guards_;
  bool monitor_denied_ = false;  // a line above denies some client some of these pages
  bool admin_denied_ = false;    // or purging
  Line last_{};                  // of http_access
  bool last_allows_ = true;      // without any line, Squid denies
  bool closed_ = false;          // a rule decides on every request
  std::size_t steps_ = 0;
};

}  // namespace

Access read_access(const std::vector<Line>& lines, const Acls& acls, Denial denial,
                   Findings& findings) {
  Reader reader(acls, denial, findings);
  reader.read_indirect(lines);
  for (const auto* name : {"adapted_http_access", "http_reply_access", "miss_access"}) {
    reader.read_further(lines, name);
  }
  for (const Line& line : lines) {
    if (line.name == "http_access") reader.read(line);
  }
  return std::move(reader).access();
}

}  // namespace proxy::command::squid
