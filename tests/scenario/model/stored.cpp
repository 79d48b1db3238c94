#include "tests/scenario/model/stored.hpp"

#include <algorithm>

namespace model {
namespace {

bool one_of(int status, std::initializer_list<int> statuses) {
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

// RFC 9110 15.1.
bool heuristically_cacheable(int status) {
  return one_of(status, {200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501});
}

bool strict(const Control& control) {
  return control.says("must-revalidate") || control.says("proxy-revalidate") ||
         control.says("s-maxage") || control.means_all("no-cache");
}

bool wants_no_cache(const Ask& ask) {
  const Control control(ask.fields);
  if (control.present()) return control.says("no-cache");
  const auto pragma = members(ask.fields, "Pragma");
  return std::any_of(pragma.begin(), pragma.end(),
                     [](const auto& word) { return same_word(word, "no-cache"); });
}

}  // namespace

bool is_explicit(const Stored& stored) {
  return stored.control().seconds("s-maxage") || stored.control().seconds("max-age") ||
         has(stored.answer.fields, "Expires");
}

Seconds date_of(const Stored& stored) {
  const auto date = parse_date(value(stored.answer.fields, "Date"), stored.answered);
  return date.value_or(stored.answered);
}

Seconds lifetime(const Stored& stored) {
  const Control control = stored.control();
  if (const auto said = control.seconds("s-maxage")) return *said;
  if (const auto said = control.seconds("max-age")) return *said;
  const Fields& fields = stored.answer.fields;
  const auto expires = lines(fields, "Expires");
  if (!expires.empty()) {
    const bool agree =
        std::count(expires.begin(), expires.end(), expires[0]) == static_cast<long>(expires.size());
    const auto end = agree ? parse_date(expires[0], stored.answered) : std::nullopt;
    return end ? std::clamp(*end - date_of(stored), 0L, kForever) : 0;
  }
  if (!heuristically_cacheable(stored.answer.status) && !control.says_plainly("public")) return 0;
  const auto modified = parse_date(value(fields, "Last-Modified"), stored.answered);
  if (!modified) return 0;
  const Seconds date = std::min(date_of(stored), stored.answered);  // 4.2.3: a clock may be ahead
  return std::clamp((date - *modified) / 10, 0L, 86400L);
}

Seconds age(const Stored& stored, Seconds now) {
  const std::string line = value(stored.answer.fields, "Age");
  const Seconds age_value = number(trim(line.substr(0, line.find(',')))).value_or(0);
  const Seconds apparent_age = std::max(0L, stored.answered - date_of(stored));
  const Seconds response_delay = stored.answered - stored.asked;
  const Seconds corrected_age_value = age_value + response_delay;
  const Seconds corrected_initial_age = std::max(apparent_age, corrected_age_value);
  return corrected_initial_age + (now - stored.answered);
}

bool forbids_storing(const Ask& ask) {
  const Control control(ask.fields);
  return control.says("no-store") || control.unreadable();
}

bool may_keep_cookie(const Control& control) {
  for (const auto* directive : {"private", "no-cache"}) {
    const auto names = control.names(directive);
    if (std::find(names.begin(), names.end(), "set-cookie") != names.end()) return true;
  }
  return control.says_plainly("public") || control.says("s-maxage");
}

bool may_store(const Stored& stored) {
  const Control control = stored.control();
  const int status = stored.answer.status;
  if (stored.ask.method != "GET" && stored.ask.method != "POST") return false;
  if (forbids_storing(stored.ask)) return false;
  if (status < 200 || status == 304 || status == 206) return false;
  const bool must_understand = control.says_plainly("must-understand") && !control.unreadable();
  if (must_understand && one_of(status, {299, 499, 599})) return false;
  if (control.says("no-store") && !must_understand) return false;
  if (control.unreadable() || control.means_all("private")) return false;
  const bool for_all =
      control.says_plainly("public") || control.says("must-revalidate") || control.says("s-maxage");
  if (has(stored.ask.fields, "Authorization") && !for_all) return false;
  if (has(stored.answer.fields, "Set-Cookie") && !may_keep_cookie(control)) return false;
  if (is_explicit(stored)) return true;
  return heuristically_cacheable(status) || control.says_plainly("public");
}

bool is_useful(const Stored& stored) {
  const Fields& fields = stored.answer.fields;
  for (const auto& name : members(fields, "Vary")) {
    if (name == "*") return false;
  }
  const Control said = stored.control();
  const Seconds served_stale = strict(said)
                                   ? 0
                                   : std::max(said.seconds("stale-while-revalidate").value_or(0),
                                              said.seconds("stale-if-error").value_or(0));
  return has(fields, "ETag") || has(fields, "Last-Modified") ||
         (!said.means_all("no-cache") &&
          lifetime(stored) + served_stale > age(stored, stored.answered));
}

bool may_reuse(const Stored& stored, const Ask& ask, Seconds age) {
  const Control asked(ask.fields);
  const Control said = stored.control();
  if (said.means_all("no-cache") || wants_no_cache(ask)) return false;
  const Seconds left = lifetime(stored) - age;
  if (left <= 0 && (strict(said) || !asked.max_stale() || -left > *asked.max_stale())) return false;
  if (const auto most = asked.seconds("max-age"); most && age > *most) return false;
  const auto least = asked.most_seconds("min-fresh");
  return !least || left >= *least;
}

bool may_reuse_first(const Stored& stored, const Ask& ask, Seconds age) {
  const Control asked(ask.fields);
  const Control said = stored.control();
  if (strict(said) || wants_no_cache(ask) || forbids_storing(ask)) return false;
  if (asked.says("max-age") || asked.says("min-fresh")) return false;
  const Seconds over = age - lifetime(stored);
  const Seconds allowed = said.seconds("stale-while-revalidate").value_or(0);
  return over >= 0 && allowed > 0 && over <= allowed;
}

bool may_stand_in(const Stored& stored, const Ask& ask, Seconds age, Seconds leave) {
  const Control asked(ask.fields);
  const Control said = stored.control();
  const Seconds over = age - lifetime(stored);
  if (strict(said) || wants_no_cache(ask) || over < 0) return false;
  Seconds allowed = asked.seconds("stale-if-error").value_or(0);
  const bool wants_fresh = asked.says("max-age") || asked.says("min-fresh");
  if (!wants_fresh || asked.says("max-stale")) {
    allowed = std::max({allowed, said.seconds("stale-if-error").value_or(0), leave});
  }
  return allowed > 0 && over <= allowed;
}

}  // namespace model
