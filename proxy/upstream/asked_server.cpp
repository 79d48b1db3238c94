#include "proxy/upstream/asked_server.hpp"

#include <algorithm>

#include "proxy/http/date.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {
namespace {

// Whether a parent says by this status that it has no way to the origin, or that the request loops.
bool tells_of_no_way(unsigned status) {
  return status == 502 || status == 503 || status == 504 || status == 508;
}

}  // namespace

std::chrono::milliseconds AskedServer::connect_time() const {
  const bool is_one_of_several = parent() && turns_.others_left();
  return is_one_of_several ? plan_.parent_connect : plan_.connect;
}

std::chrono::milliseconds AskedServer::first_byte_time() const {
  if (!may_leave_parent()) return plan_.first_byte;
  const auto most = turns_.on_trial() ? plan_.trial_first_byte : plan_.parent_first_byte;
  return std::min(most, plan_.first_byte);
}

// Whether another server may get the same request because a parent is silent.
bool AskedServer::may_leave_parent() const {
  return parent() && plan_.repeatable && turns_.others_left();
}

void AskedServer::turn_to(Clock::time_point now) {
  asked_ = now;
  known_to_fail_ = false;
  under_way_.turn_to(parent() ? plan_.to : to(), to(), parent(), now);
}

net::error_code AskedServer::known_failure() {
  const auto known = on_.failed.find(to(), asked_);
  known_to_fail_ = !!known;
  return known;
}

void AskedServer::note_unreachable(net::error_code why) {
  on_.failed.note(to(), why, Clock::now());
}

bool AskedServer::moves_on(const Failure& failure, Heard heard) {
  if (failure.what == Failure::What::abandoned) return false;
  if (failure.what == Failure::What::overload) return false;          // no fault of the server
  if (failure.cause == upstream::Errc::no_parent_left) return false;  // the caller goes on
  note_failure(failure);
  // A parent that sends no head has shown nothing of the origin.
  if (heard.any && !parent()) return false;
  const bool unsent = failure.cause.category() == upstream::upstream_category();
  if (!unsent && failure.what == Failure::What::timed_out) return leaves_silent_parent();
  // A response that this proxy refuses is the origin's fault.
  if (!parent() || unsent || !heard.http) turns_.failed(Clock::now());
  return (plan_.repeatable || unsent) && next();
}

// A server that is silent is working on the request, or hangs. Only of a parent is it known that
// another server might be quicker.
bool AskedServer::leaves_silent_parent() {
  turns_.silent_since(asked_, Clock::now());
  return may_leave_parent() && next();
}

bool AskedServer::goes_around(unsigned status) {
  if (!parent() || !(refuses_login(status) || tells_of_no_way(status))) return false;
  if (refuses_login(status)) turns_.failed(Clock::now());
  return plan_.repeatable && next();
}

void AskedServer::note_failure(const Failure& failure) {
  if (parent() || plan_.of_neighbour) return;
  const auto now = Clock::now();
  if (is_of_origin(failure.what)) on_.health.failed(to(), failure, now);
  under_way_.failed(failure.what, now);
}

void AskedServer::note_head(const http::ResponseHead& answer) {
  const bool is_final = !answer.interim() || answer.status == 101;
  if (!is_final && !turns_.has_choice()) return;
  const auto now = Clock::now();
  if (turns_.has_choice()) turns_.worked(now);
  if (is_final) under_way_.answered(answer.status, now);
}

void AskedServer::note_wish(const http::ResponseHead& answer) const {
  if (plan_.of_neighbour || (answer.status != 429 && answer.status != 503)) return;
  if (const auto wanted = http::retry_after(answer.fields)) {
    on_.health.rest(plan_.to, Clock::now() + *wanted);
  }
}

// The first answer over a connection has shown that the origin works, so a later one tells
// something new only while an origin fails.
void AskedServer::note_answer(bool reused) const {
  if (parent() || plan_.of_neighbour) return;
  if (!reused || on_.health.has_troubles()) on_.health.answered(to());
}

void AskedServer::note_silence() {
  if (parent()) turns_.silent_since(asked_, Clock::now());
}

void AskedServer::note_cut() {
  if (parent()) turns_.failed(Clock::now());
}

}  // namespace proxy
