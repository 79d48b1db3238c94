#include "proxy/upstream/asked_server.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/date.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {

bool AskedServer::next() {
  // The clock is read only for a choice, so that a plain request does not pay for it.
  if (plan_.origins) {
    const auto chosen = plan_.origins->next(tried_, on_.clock.steady());
    if (!chosen) return false;
    among_ = plan_.origins.get();
    number_ = *chosen;
    return true;
  }
  if (plan_.route.has_parents() && next_parent(on_.clock.steady())) return true;
  if (!may_go_to_origin()) return false;
  origin_tried_ = true;
  among_ = nullptr;
  return true;
}

// The origin is better than a parent that rests, and such a parent is better than nobody.
bool AskedServer::next_parent(Time now) {
  auto& parents = *plan_.route.parents;
  const auto& order = plan_.route.order;
  const auto at_rest = may_go_to_origin() ? Origins::AtRest::skipped : Origins::AtRest::last;
  const auto chosen = parents.live().next(tried_, now, {order.data(), order.size()}, at_rest);
  if (!chosen) return false;
  among_ = &parents.live();
  number_ = *chosen;
  failure_counted_ = false;
  parents.counts(number_).requests.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool AskedServer::others_left() const {
  if (plan_.origins) return tried_.count() < plan_.origins->size();
  const auto& order = plan_.route.order;
  return may_go_to_origin() || std::any_of(order.begin(), order.end(),
                                           [this](std::size_t number) { return !tried_[number]; });
}

Route AskedServer::rest_of_route() const {
  auto left = plan_.route;
  left.direct = may_go_to_origin();
  const auto tried = [this](std::size_t number) { return tried_[number]; };
  left.order.erase(std::remove_if(left.order.begin(), left.order.end(), tried), left.order.end());
  return left;
}

std::chrono::milliseconds AskedServer::connect_time() const {
  return parent() && others_left() ? plan_.parent.connect : plan_.connect;
}

std::chrono::milliseconds AskedServer::first_byte_time() const {
  if (!may_leave_parent()) return plan_.first_byte;
  // One that has failed lately gets less time, so that a trial costs its client little.
  const bool on_trial = among_->in_doubt(number_);
  return std::min(on_trial ? plan_.parent.trial_first_byte : plan_.parent.first_byte,
                  plan_.first_byte);
}

// Whether another server may get the same request because a parent is silent.
bool AskedServer::may_leave_parent() const {
  return parent() && plan_.repeatable && others_left();
}

void AskedServer::turn_to(Time now) {
  asked_ = now;
  known_to_fail_ = false;
  under_way_.turn_to(parent() ? plan_.to : to(), to(), parent(), now);
}

net::error_code AskedServer::known_failure() {
  const auto known = on_.failed.find(to(), asked_);
  known_to_fail_ = !!known;
  return known;
}

bool AskedServer::moves_on(const Failure& failure, Heard heard) {
  if (failure.what == Failure::What::abandoned) return false;
  if (failure.what == Failure::What::overload) return false;  // no fault of the server
  if (failure.cause == Errc::no_parent_left) return false;    // the caller goes on
  record_failure(failure);
  // A parent that sends no head has shown nothing of the origin.
  if (heard.any && !parent()) return false;
  const bool unsent = failure.cause.category() == upstream_category();
  // A server that is silent is working on the request, or hangs. Only of a parent is it known that
  // another server might be quicker.
  if (!unsent && failure.what == Failure::What::timed_out) {
    record(Fault::silent);
    return may_leave_parent() && next();
  }
  // A response that this proxy refuses is the origin's fault.
  if (!parent() || unsent || !heard.http) record(Fault::failed);
  return (plan_.repeatable || unsent) && next();
}

bool AskedServer::goes_around(unsigned status) {
  // It has no way to the origin, or the request loops.
  const bool has_no_way = status == 502 || status == 503 || status == 504 || status == 508;
  const bool refuses_login = status == 407;
  if (!parent() || !(refuses_login || has_no_way)) return false;
  if (refuses_login) record(Fault::failed);
  return plan_.repeatable && next();
}

void AskedServer::record_failure(const Failure& failure) {
  if (parent() || is_neighbour()) return;
  const auto now = on_.clock.steady();
  // A neighbour's or a parent's failure says nothing of the origin: both returned above.
  if (is_of_origin(failure.what)) on_.health.failed(to(), failure, now);
  under_way_.failed(failure.what, now);
}

void AskedServer::record_head(const http::ResponseHead& answer) {
  const bool is_final = !answer.interim() || answer.status == 101;
  if (!is_final && !among_) return;
  const auto now = on_.clock.steady();
  if (among_) among_->worked(number_, now);
  if (!is_final) return;
  under_way_.answered(answer.status, now);
  if (is_neighbour() || (answer.status != 429 && answer.status != 503)) return;
  if (const auto wanted = http::retry_after(answer.fields))
    on_.health.rest(plan_.to, now + *wanted);
}

// The first answer over a connection has shown that the origin works, so a later one tells
// something new only while an origin fails.
void AskedServer::record_answer(Answer which) const {
  if (parent() || is_neighbour()) return;
  if (which == Answer::first || on_.health.has_troubles()) on_.health.answered(to());
}

void AskedServer::record_silence() {
  if (parent()) record(Fault::silent);
}

void AskedServer::note_cut() {
  if (parent()) record(Fault::failed);
}

void AskedServer::record(Fault fault) {
  // A parent that fails in several ways while it is asked once has failed once.
  if (parent() && !std::exchange(failure_counted_, true)) {
    plan_.route.parents->counts(number_).failures.fetch_add(1, std::memory_order_relaxed);
  }
  if (!among_) return;
  const auto now = on_.clock.steady();
  if (fault == Fault::silent) {
    among_->silent_since(asked_, number_, now);
  } else {
    among_->failed(number_, now);
  }
}

}  // namespace proxy::upstream
