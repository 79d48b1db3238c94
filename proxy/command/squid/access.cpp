#include "proxy/command/squid/access.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/command/squid/let_on.hpp"
#include "proxy/command/squid/networks.hpp"
#include "proxy/command/squid/required.hpp"

namespace proxy::command::squid {
namespace {

using Kind = Finding::Kind;

constexpr std::size_t kMostRules = 250;  // access.rules takes 256

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
    last_allows_ = allows;
    if (closed_) return tell(line, Kind::unneeded, "no request gets so far");
    if (line.conditional && allows) return tell(line, Kind::left, "depends on a condition");
    const Required required = required_by(line, acls_, allows);
    read(line, required, allows);
    if (required.before_user) let_on_only_users(*required.before_user);
  }

  // Denies what the acls of a line of another list name.
  void deny_for(const Line& line) {
    const Required required = required_by(line, acls_, false);
    if (!required.never && !required.is_about_pages()) deny(line, required);
  }

  // Of another list that a request has to pass, too: nothing is allowed but what these lines allow.
  void allow_nothing_but(const std::vector<Line>& lines) {
    Alternatives allowed;
    for (const Line& line : lines) {
      const Required required = required_by(line, acls_, true);
      if (line.conditional || required.never || !required.unknown.empty() ||
          !required.except.empty() || !required.destinations.empty()) {
        if (denial_ == Denial::less && !required.never) {
          return tell(line, Kind::wider,
                      "part of it has no equal, so all is allowed that its list denies");
        }
        tell(line, Kind::left,
             "allows nothing here: it depends on a condition, or part of it has no equal");
      } else {
        allowed.push_back(required.all);
      }
    }
    guards_.push_back(std::move(allowed));
  }

  Access access() && {
    if (!closed_ && !last_allows_) {
      add_allowed({}, {}, "the opposite of the last http_access line");
      tell(
          last_, Kind::changed,
          "it is the last http_access line, and Squid allows what no line denies: the settings let "
          "in all others, too. If that is not meant, end the list with \"http_access deny all\"");
    }
    take_clients_from_the_end();
    result_.monitor = monitor_.empty() ? loopback() : simplified(monitor_);
    return std::move(result_);
  }

 private:
  void read(const Line& line, const Required& required, bool allows) {
    if (required.never) {
      tell(line, Kind::unneeded, "no request that Hearsay serves meets it");
    } else if (required.is_about_pages()) {
      read_pages(line, required, allows);
    } else if (allows) {
      allow(line, required);
    } else {
      deny(line, required);
    }
  }

  // Requests for the proxy's own pages, and to purge, have settings of their own.
  void read_pages(const Line& line, const Required& required, bool allows) {
    auto& denied = required.pages ? monitor_denied_ : admin_denied_;
    const auto named = required.all.clients ? *required.all.clients : *parse_addresses("all");
    if (required.pages_for_users) denied = *parse_addresses("all");  // there is nobody to ask
    if (!allows) {  // on some pages only, perhaps; the settings cannot say that
      denied.insert(denied.end(), named.begin(), named.end());
      return;
    }
    Conditions who = required.all;
    who.methods.reset();
    const bool plain = required.unknown.empty() && required.except.empty() &&
                       required.destinations.empty() && who.is_about_clients_only();
    if (!plain) return tell(line, Kind::left, "access.monitor and access.admin name clients only");
    const auto clients =
        intersection(without(named, denied),
                     clients_let_on(result_.rules, guards_, required.pages ? "GET" : "PURGE"));
    if (clients.empty()) return tell(line, Kind::left, "lines above it may refuse these clients");
    if (clients != simplified(named)) {
      tell(line, Kind::changed, "without the clients that lines above it may refuse");
    }
    auto& into = required.pages ? monitor_ : result_.admin;
    into.insert(into.end(), clients.begin(), clients.end());
  }

  void allow(const Line& line, const Required& required) {
    if (!required.unknown.empty()) return tell(line, Kind::left, required.unknown);
    if (!required.destinations.empty()) {
      return tell(line, Kind::left,
                  "a rule names hosts, not the addresses to which they resolve; name the hosts");
    }
    if (!required.except.empty()) {
      tell(line, Kind::changed,
           "what it excepts by ! is denied here; Squid would ask the lines below");
    }
    closed_ = required.all.is_always() && required.except.empty() && guards_.empty();
    add_allowed(required.all, required.except, comment_for(line));
  }

  void deny(const Line& line, const Required& required) {
    const bool has_allowed = std::any_of(result_.rules.begin(), result_.rules.end(),
                                         [](const Rule& rule) { return rule.allows; });
    const bool for_some = has_allowed || line.words.size() > 2;
    if (!required.destinations.empty()) {
      result_.deny_to.insert(result_.deny_to.end(), required.destinations.begin(),
                             required.destinations.end());
      if (for_some) tell(line, Kind::changed, "access.deny_to holds for all clients");
      return;
    }
    if (!required.hosts_file.empty()) {
      result_.block.push_back(required.hosts_file);
      return tell(line, Kind::changed,
                  "access.block holds for all clients, and for all hosts below a host");
    }
    if (!required.unknown.empty()) return deny_unknown(line, required);
    if (!required.except.empty()) return deny_except(line, required);
    if (!has_allowed && take_connect_ports(required.all)) return;
    closed_ = required.all.is_always();
    add({false, required.all, comment_for(line)});
  }

  void deny_unknown(const Line& line, const Required& required) {
    if (denial_ == Denial::less) return deny_less(line, required);
    tell(line, Kind::left,
         required.unknown + ". The rule denies " +
             (required.all.is_always() ? "everything" : "more than the line") +
             "; take it out once you have another way, or import with --wider, which leaves out "
             "such lines");
    add({false, required.all, comment_for(line) + " (" + required.unknown + ")", true});
  }

  // Denies what can be said of the line: some values of its acls, perhaps.
  void deny_less(const Line& line, const Required& required) {
    tell(line, Kind::wider, required.unknown);
    const Required part = required_by(line, acls_, true);
    if (part.unknown.empty() && part.except.empty() && part.destinations.empty() && !part.never) {
      add({false, part.all, comment_for(line) + " (in part)"});
    }
  }

  void let_on_only_users(const Alternatives& unless) {
    Alternatives others;
    for (const Conditions& part : unless) {
      if (auto opposite_of_part = opposite(part)) others.push_back(std::move(*opposite_of_part));
    }
    others.emplace_back().users = {"*"};
    guards_.push_back(std::move(others));
  }

  // "deny clients !hosts": later lines may allow only other clients, or these hosts.
  void deny_except(const Line& line, const Required& required) {
    Alternatives others = required.except;
    for (const Conditions& part : required.parts) {
      if (auto opposite_of_part = opposite(part)) {
        others.push_back(std::move(*opposite_of_part));
      } else if (denial_ == Denial::less) {
        return tell(line, Kind::wider,
                    "a part of it has no opposite, and rules have no exceptions; write an allow "
                    "for what it excepts by !, and a deny below it");
      } else {
        tell(line, Kind::changed,
             "a part of it has no opposite, so more is denied: of the requests that meet the rest, "
             "lines below allow only those that it excepts by !");
      }
    }
    guards_.push_back(std::move(others));
  }

  // Only for a line above which no line allows: it holds for all clients, as the setting does.
  bool take_connect_ports(const Conditions& denied) {
    Conditions expected;
    expected.methods = {"CONNECT"};
    expected.ports = denied.ports;
    if (!denied.ports || denied != expected) return false;
    Conditions ports;
    ports.ports = denied.ports;
    Conditions before;
    before.ports = result_.connect_ports;
    const auto others = opposite(ports);
    const auto left = others ? both(before, *others) : std::nullopt;
    result_.connect_ports = left ? *left->ports : std::vector<Ports>{};
    return true;
  }

  // Adds the rules of a line that allows, as far as the guards let it.
  void add_allowed(const Conditions& when, const Alternatives& except, const std::string& comment) {
    Alternatives allowed{when};
    for (const Alternatives& guard : guards_) {
      Alternatives narrowed;
      for (const Conditions& one : allowed) append_narrowed(narrowed, one, guard);
      allowed = std::move(narrowed);
    }
    for (const Conditions& one : allowed) {
      for (const Conditions& other : except) {
        if (auto part = both(one, other)) add({false, std::move(*part), comment});
      }
    }
    for (Conditions& one : allowed) add({true, std::move(one), comment});
  }

  // The parts of `one` that a guard lets through; `one` itself where an alternative does not narrow
  // it.
  static void append_narrowed(Alternatives& into, const Conditions& one,
                              const Alternatives& guard) {
    Alternatives parts;
    for (const Conditions& other : guard) {
      auto part = both(one, other);
      if (!part) continue;
      if (*part == one) parts.clear();
      const bool whole = *part == one;
      parts.push_back(std::move(*part));
      if (whole) break;
    }
    for (Conditions& part : parts) {
      if (into.size() < kMostRules) into.push_back(std::move(part));
    }
  }

  // A list that is full denies the rest.
  void add(Rule rule) {
    if (result_.rules.size() == kMostRules) {
      rule = {false, {}, "access.rules is full: all that follows is denied", true};
      tell({}, Kind::left, "the http_access lines come to more rules than access.rules takes");
      closed_ = true;
    }
    if (result_.rules.size() <= kMostRules) result_.rules.push_back(std::move(rule));
  }

  // Rules at the end that ask only who the client is are what access.clients says.
  void take_clients_from_the_end() {
    auto& rules = result_.rules;
    const bool denies_rest = !rules.empty() && !rules.back().allows &&
                             rules.back().when.is_always() && !rules.back().provisional;
    if (denies_rest) rules.pop_back();
    while (!rules.empty() && rules.back().allows && rules.back().when.is_about_clients_only()) {
      const auto& when = rules.back().when;
      const auto clients = when.clients ? *when.clients : *parse_addresses("all");
      result_.clients.insert(result_.clients.begin(), clients.begin(), clients.end());
      rules.pop_back();
    }
    result_.clients = simplified(result_.clients);
  }

  static config::Networks loopback() {
    auto networks = *parse_addresses("127.0.0.1");
    networks.push_back(parse_addresses("::1")->front());
    return networks;
  }

  static std::string comment_for(const Line& line) {
    return line.place.file + ':' + std::to_string(line.place.number) + ": " + line.text;
  }

  void tell(const Line& line, Kind kind, std::string what) {
    findings_.push_back({line.place, kind, line.text, std::move(what)});
  }

  const Acls& acls_;
  const Denial denial_;
  Findings& findings_;
  Access result_;
  config::Networks monitor_;
  std::vector<Alternatives> guards_;  // each later allowed request meets one of each
  config::Networks monitor_denied_;   // clients that a line denies some of these pages
  config::Networks admin_denied_;     // or purging
  Line last_{};                       // of http_access
  bool last_allows_ = true;           // without any line, Squid denies
  bool closed_ = false;               // a rule decides on every request
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
    allows_rest = line.words[0].text == "deny";
    if (is_for_all(line, "deny")) {
      allows_rest = false;
      break;
    }
    findings.push_back({line.place, Kind::changed, line.text,
                        "decides before the http_access lines, and whatever it denies is denied "
                        "even if a line above it allows that"});
    if (allows_rest) {
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
