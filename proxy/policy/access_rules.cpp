#include "proxy/policy/access_rules.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>

#include "proxy/http/text.hpp"

namespace proxy::policy {

using std::chrono::system_clock;

namespace {

std::atomic<std::uint64_t> zone_reads{0};  // how often the time zone was read

LocalTime computed(system_clock::time_point now) {
  const std::time_t seconds = system_clock::to_time_t(now);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return {};
  const int minute = local.tm_hour * 60 + local.tm_min;
  return {static_cast<unsigned>((local.tm_wday + 6) % 7), static_cast<unsigned>(minute)};
}

template <class T>
bool contains(const std::vector<T>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Many origins take `post` for POST. Methods are case-sensitive all the same (RFC 9110 9.1), so a
// rule that allows POST does not allow `post`, and one that denies POST denies both.
bool names_method(const config::AccessRule& rule, std::string_view method) {
  if (rule.allows) return contains(rule.methods, method);
  return std::any_of(rule.methods.begin(), rule.methods.end(),
                     [method](std::string_view denied) { return http::same_word(denied, method); });
}

}  // namespace

// localtime_r() takes a lock of the process, so each thread keeps the last minute's answer.
LocalTime local_time(system_clock::time_point now) {
  struct Last {
    std::chrono::sys_time<std::chrono::minutes> minute = decltype(minute)::min();
    std::uint64_t zone = 0;
    LocalTime local;
  };
  thread_local Last last;
  const auto minute = std::chrono::floor<std::chrono::minutes>(now);
  const auto zone = zone_reads.load(std::memory_order_acquire);
  if (last.minute != minute || last.zone != zone) last = {minute, zone, computed(now)};
  return last.local;
}

void read_time_zone() {
  ::tzset();
  zone_reads.fetch_add(1, std::memory_order_release);
}

AccessRule::AccessRule(const config::AccessRule& settings)
    : settings_(settings), to_(http::host_patterns(settings.to)) {}

bool AccessRule::matches(const AccessQuestion& asked) const {
  const auto& [client, target, method, now, user] = asked;
  return (settings_.clients.empty() || config::contains(settings_.clients, client)) &&
         matches_host(target) && (settings_.methods.empty() || names_method(settings_, method)) &&
         matches_scheme(target) && matches_time(now) && matches_user(user);
}

bool AccessRule::matches_host(const http::Target& target) const {
  return (to_.empty() || http::matches_any(to_, target)) &&
         (settings_.ports.empty() || config::contains(settings_.ports, target.port()));
}

// What a tunnel carries is not seen. Nearly all of it is https, and a rule that denies https would
// otherwise be evaded by each CONNECT.
bool AccessRule::matches_scheme(const http::Target& target) const {
  if (settings_.schemes.empty()) return true;
  const bool is_tunnel = target.form() == http::Target::Form::authority;
  return contains(settings_.schemes, is_tunnel ? "https" : target.scheme());
}

bool AccessRule::matches_time(const LocalTime& now) const {
  const auto& times = settings_.times;
  return times.empty() || std::any_of(times.begin(), times.end(), [&](const auto& time) {
           return time.contains(now.day, now.minute);
         });
}

bool AccessRule::matches_user(std::string_view user) const {
  const auto& users = settings_.users;
  return users.empty() || user.empty() || contains(users, "*") || contains(users, user);
}

// Its other conditions may narrow what is allowed, yet not to whom.
bool AccessRule::allows_everybody() const {
  return settings_.allows && !has_users() &&
         (settings_.clients.empty() || is_everybody(settings_.clients));
}

AccessRules::AccessRules(const std::vector<config::AccessRule>& settings)
    : rules_(settings.begin(), settings.end()),
      have_times_(std::any_of(rules_.begin(), rules_.end(),
                              [](const AccessRule& rule) { return rule.has_times(); })),
      have_users_(std::any_of(rules_.begin(), rules_.end(),
                              [](const AccessRule& rule) { return rule.has_users(); })) {
  // A reload is the moment at which an operator expects a change of the zone to count.
  if (have_times_) read_time_zone();
}

const AccessRule* AccessRules::find(const AccessQuestion& asked) const {
  const auto first = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const AccessRule& rule) { return rule.matches(asked); });
  return first == rules_.end() ? nullptr : &*first;
}

bool AccessRules::allow_everybody() const {
  return std::any_of(rules_.begin(), rules_.end(),
                     [](const AccessRule& rule) { return rule.allows_everybody(); });
}

// Only the two ranges that "any" stands for: halves that together have every address are no way to
// say it that anybody uses.
bool is_everybody(const config::Networks& networks) {
  const auto any = config::parse_networks("any").value();
  return std::all_of(any.begin(), any.end(), [&](const auto& network) {
    return std::find(networks.begin(), networks.end(), network) != networks.end();
  });
}

}  // namespace proxy::policy
