// The setting access.rules: who may ask for what, and when. Pure; any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"

namespace proxy::policy {

// The hour of the week on the clocks of this place.
struct LocalTime {
  unsigned day = 0;     // 0 is Monday
  unsigned minute = 0;  // of the day

  bool operator==(const LocalTime&) const = default;
};

// The time in the system's time zone, summer time included. Any thread may call this.
LocalTime local_time(std::chrono::system_clock::time_point now);
// Reads the system's time zone anew, since it may have changed.
void read_time_zone();

// The facts with which the conditions of a rule are compared.
struct AccessQuestion {
  const config::Address& client;
  const http::Target& target;
  std::string_view method;
  LocalTime now;
  std::string_view user;  // empty: not known yet
};

// A request meets a rule if it meets all conditions that the rule has:
// - clients: the client's address is in one of the networks.
// - to, ports: the host as the request names it, and its port. A name is not resolved, so a rule
//   for a name does not cover its addresses, nor the other way round.
// - methods. A rule that denies ignores their case, because many origins do; one that allows does
//   not.
// - schemes: CONNECT counts as https, whatever the tunnel carries.
// - times.
// - users. While the user is not known, every request meets this condition. If the rule that is
//   found has users, the caller finds out who the user is, and asks again.
class AccessRule {
 public:
  explicit AccessRule(const config::AccessRule& settings);

  [[nodiscard]] bool matches(const AccessQuestion& asked) const;
  [[nodiscard]] bool allows() const { return settings_.allows; }
  // The name of the rule, for Cache-Status and the log.
  [[nodiscard]] const std::string& name() const { return settings_.name; }
  [[nodiscard]] bool has_users() const { return !settings_.users.empty(); }
  // Whether the rule asks for the time.
  [[nodiscard]] bool has_times() const { return !settings_.times.empty(); }
  // Whether the rule allows clients of every address something, whoever they are.
  [[nodiscard]] bool allows_everybody() const;

 private:
  [[nodiscard]] bool matches_host(const http::Target& target) const;
  [[nodiscard]] bool matches_scheme(const http::Target& target) const;
  [[nodiscard]] bool matches_time(const LocalTime& now) const;
  [[nodiscard]] bool matches_user(std::string_view user) const;

  config::AccessRule settings_;
  std::vector<http::HostPattern> to_;
};

class AccessRules {
 public:
  AccessRules() = default;
  // Reads the system's time zone if a rule asks for the time.
  explicit AccessRules(const std::vector<config::AccessRule>& settings);

  // The first rule that the request meets. Null: access.clients decides.
  [[nodiscard]] const AccessRule* find(const AccessQuestion& asked) const;
  // Whether a rule allows clients of every address something, whoever they are.
  [[nodiscard]] bool allow_everybody() const;
  // Whether a rule has users.
  [[nodiscard]] bool have_users() const { return have_users_; }
  // Whether AccessQuestion::now matters.
  [[nodiscard]] bool have_times() const { return have_times_; }

 private:
  std::vector<AccessRule> rules_;
  bool have_times_ = false;
  bool have_users_ = false;
};

// Whether the networks contain every address. Pure.
bool is_everybody(const config::Networks& networks);

}  // namespace proxy::policy
