// Judges what the cache does with a request.
#include <algorithm>
#include <cstdlib>

#include "tests/scenario/model/model.hpp"

namespace model {
namespace {

bool is_error(const Answer& answer) {
  return answer.cut || answer.status == 500 || answer.status == 502 || answer.status == 503 ||
         answer.status == 504;
}

std::string named(const Stored& stored) {
  return "answer " + std::to_string(stored.number);
}

// Whether the cache would give out a cookie with it.
bool sets_cookie(const Stored& stored) {
  return has(kept_fields(stored), "Set-Cookie");
}

// Whether the client may have a newer version of a file that grows: it names another one than the
// stored one, and asks for bytes behind the end of that. The origin is then asked.
bool may_be_ahead(const Stored& stored, const Ask& ask) {
  const auto range = value(ask.fields, "Range");
  if (range.rfind("bytes=", 0) != 0) return false;
  const auto first = number(range.substr(6, range.find('-') - 6));
  const bool behind = first && *first >= static_cast<Seconds>(stored.answer.body.size());
  const bool names =
      has(ask.fields, "If-None-Match") ? !unmodified(stored, ask) : has(ask.fields, "If-Range");
  return behind && names;
}

}  // namespace

bool Model::should_serve(const Ask& ask, Seconds now) const {
  const bool reads = ask.method == "GET" || ask.method == "HEAD";
  const Stored* const best = most_recent(ask);
  if (!reads || has(ask.fields, "If-Match") || !best) return false;
  const bool only_if_cached = Control(ask.fields).says("only-if-cached");
  if (only_if_cached && (best->answer.status != 200 || sets_cookie(*best))) return false;
  if (may_be_ahead(*best, ask)) return false;
  return may_reuse(*best, ask, age(*best, now) + leave_.slack);
}

bool Model::overtaken(const Stored& stored, const Ask& ask, Seconds now) const {
  return std::any_of(held_.begin(), held_.end(), [&](const Stored& other) {
    return other.ask.url == ask.url && selects(other, ask) &&
           may_reuse(other, ask, age(other, now) + leave_.slack) &&
           is_preferred(other, stored, leave_.slack);
  });
}

std::vector<std::string> Model::watch(const Ask& ask, const Told& told) {
  problems_.clear();
  if (told.exchanges.empty()) {
    watch_unasked(ask, told);
  } else {
    watch_asked(ask, told);
  }
  return problems_;
}

void Model::watch_unasked(const Ask& ask, const Told& told) {
  const Stored* const served = by_serial(told.response);
  if (served) {
    ++reused_;
    check_reuse(*served, ask, told.begun);
    return check_content(*served, ask, told);
  }
  if (told.response.status == 416) return;  // has no fields to identify it by
  const bool only_if_cached = Control(ask.fields).says("only-if-cached");
  if (told.response.status != 504 || !only_if_cached) {
    problem("answered " + std::to_string(told.response.status) + " without asking the origin");
  } else if (should_serve(ask, told.begun)) {
    problem("refused, though " + named(*most_recent(ask)) + " could be served");
  }
}

void Model::check_reuse(const Stored& stored, const Ask& ask, Seconds now) {
  const Seconds youngest = age(stored, now) - leave_.slack;
  const bool reads = ask.method == "GET" || ask.method == "HEAD";
  if (!reads || stored.ask.url != ask.url || !selects(stored, ask)) {
    problem(named(stored) + " does not answer this request");
  } else if (!may_reuse(stored, ask, youngest) && !may_reuse_first(stored, ask, youngest)) {
    problem(named(stored) + " may not be reused: age " + std::to_string(age(stored, now)) + " of " +
            std::to_string(lifetime(stored)));
  }
  if (Control(ask.fields).says("only-if-cached") && sets_cookie(stored)) {
    problem(named(stored) + " sets a cookie, and went to a neighbour");
  }
  if (overtaken(stored, ask, now)) problem(named(stored) + " is not the most recent");
}

// A stored response answers for an origin that failed, or before the origin is asked (RFC 5861 3).
bool Model::took_stale(const Ask& ask, const Told& told) {
  const Stored* const served = by_serial(told.response);
  const Exchange& last = told.exchanges.back();
  const bool without_origin = told.answered_first || is_error(last.got);
  if (!served) return without_origin && told.response.status == 416;
  const Seconds old = age(*served, told.answered);
  if (told.answered_first) {
    check_reuse(*served, ask, told.answered);
    return true;
  }
  if (!is_error(last.got)) return false;
  const Seconds reach = last.got.cut ? leave_.reach : 0;
  const bool may = may_stand_in(*served, ask, old, reach) ||
                   may_stand_in(*served, ask, old - leave_.slack, reach);
  if (!selects(*served, ask) || !may) {
    problem(named(*served) + " may not stand in for an error");
  }
  return true;
}

void Model::watch_asked(const Ask& ask, const Told& told) {
  if (should_serve(ask, told.begun)) {
    problem("asked the origin, though " + named(*most_recent(ask)) + " could be served");
  }
  if (Control(ask.fields).says("only-if-cached")) problem("asked the origin, only-if-cached");
  const bool stale = took_stale(ask, told);
  if (const auto* served = by_serial(told.response); stale && served) {
    check_content(*served, ask, told);
  }
  const Exchange& last = told.exchanges.back();
  const Stored* const best = most_recent(ask);
  if (!stale && is_error(last.got) && !passed_as_it_is(ask, last.sent) && best &&
      may_stand_in(*best, ask, age(*best, told.answered) + leave_.slack,
                   last.got.cut ? leave_.reach : 0)) {
    problem(named(*best) + " could stand in for the error");
  }
  for (const Exchange& exchange : told.exchanges) {
    Ask as_sent = ask;
    as_sent.method = exchange.sent.method;  // a HEAD that is answered first sends a GET
    check_sent(as_sent, exchange);
    if (stale && is_error(exchange.got)) {
      ++answers_;
    } else {
      learn(as_sent, exchange);
    }
  }
  if (!stale) check_passed(ask, told);
}

// RFC 9111 4.3.1.
void Model::check_sent(const Ask& ask, const Exchange& exchange) {
  const Fields& sent = exchange.sent.fields;
  if (passed_as_it_is(ask, exchange.sent)) {
    for (const auto* name : {"If-None-Match", "If-Modified-Since", "Range", "If-Range"}) {
      if (lines(sent, name) != lines(ask.fields, name)) problem(std::string("changed ") + name);
    }
    return;
  }
  const auto since = value(sent, "If-Modified-Since");
  const auto known = [&](std::string_view name, const std::string& said) {
    return said.empty() || std::any_of(held_.begin(), held_.end(), [&](const Stored& one) {
             return one.ask.url == ask.url && value(one.answer.fields, name) == said;
           });
  };
  const auto clients = members(ask.fields, "If-None-Match");
  for (const auto& tag : members(sent, "If-None-Match")) {
    const bool is_clients = std::find(clients.begin(), clients.end(), tag) != clients.end();
    if (!is_clients && !known("ETag", tag)) problem("asked for a tag that is not held: " + tag);
  }
  if (!known("Last-Modified", since)) problem("asked for a time that is not held: " + since);
}

// The client receives the origin's answer, or the response that the origin validated.
void Model::check_passed(const Ask& ask, const Told& told) {
  if (validated_) return check_content(*validated_, ask, told);
  const Exchange& last = told.exchanges.back();
  const Answer& got = last.got;
  const Answer& response = told.response;
  const Stored whole{answers_, ask, got, last.asked, last.answered};
  const bool as_it_is = passed_as_it_is(ask, last.sent);
  const bool unasked =
      !as_it_is && (got.status == 304 || (got.status == 206 && !has(last.sent.fields, "Range")));
  const bool no_answer = response.status == 502 || response.status == 504;
  if ((got.cut || unasked) && no_answer) return;
  if (got.cut) return problem("answered " + std::to_string(response.status) + " for nothing");
  if (response.status == 304 && !as_it_is) {  // to the client's own condition
    bool holds = unmodified(whole, ask);
    for (const auto& tag : lines(got.fields, "ETag")) {  // of a 304 that is handed on, any
      Stored tagged = whole;
      tagged.answer.fields = {{"ETag", tag}};
      holds = holds || unmodified(tagged, ask);
    }
    if (!holds) problem("304, though the condition does not hold");
  } else if (response.status != got.status || response.body != got.body) {
    problem("the answer was changed on the way: " + std::to_string(response.status) + " " +
            response.body);
  } else if (value(response.fields, "X-Serial") != value(got.fields, "X-Serial")) {
    problem("another answer was passed on");
  }
}

}  // namespace model
