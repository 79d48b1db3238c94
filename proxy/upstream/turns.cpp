#include "proxy/upstream/turns.hpp"

#include <algorithm>
#include <utility>

namespace proxy::upstream {

Turns::Turns(const Endpoint& origin, std::shared_ptr<Origins> several, const Route& route)
    : origin_(origin), several_(std::move(several)), route_(route) {}

bool Turns::next(Clock::time_point now) {
  if (several_) {
    const auto chosen = several_->next(tried_, now);
    if (!chosen) return false;
    number_ = *chosen;
    at_ = At::one_of_several;
    return true;
  }
  if (choose_parent(now)) return true;
  if (!may_go_to_origin()) return false;
  origin_tried_ = true;
  at_ = At::origin;
  return true;
}

// The origin is better than a parent that rests, and such a parent is better than nobody.
bool Turns::choose_parent(Clock::time_point now) {
  if (!route_.has_parents()) return false;
  const auto at_rest = may_go_to_origin() ? Origins::AtRest::skipped : Origins::AtRest::last;
  const std::span<const std::size_t> order(route_.order.data(), route_.order.size());
  const auto chosen = route_.parents->live().next(tried_, now, order, at_rest);
  if (!chosen) return false;
  number_ = *chosen;
  at_ = At::parent;
  counted_ = false;
  route_.parents->counts(number_).requests.fetch_add(1, std::memory_order_relaxed);
  return true;
}

const Endpoint& Turns::to() const {
  if (at_ == At::one_of_several) return (*several_)[number_];
  return at_ == At::parent ? parent()->at : origin_;
}

const Parent* Turns::parent() const {
  return at_ == At::parent ? &(*route_.parents)[number_] : nullptr;
}

bool Turns::on_trial() const {
  return at_ == At::parent && route_.parents->live().in_doubt(number_);
}

bool Turns::others_left() const {
  if (several_) return tried_.count() < several_->size();
  const auto untried = [this](std::size_t number) { return !tried_[number]; };
  return may_go_to_origin() || std::any_of(route_.order.begin(), route_.order.end(), untried);
}

Route Turns::rest() const {
  Route left = route_;
  left.direct = may_go_to_origin();
  const auto tried = [this](std::size_t number) { return tried_[number]; };
  const auto end = std::remove_if(left.order.begin(), left.order.end(), tried);
  left.order.erase(end, left.order.end());
  return left;
}

Origins* Turns::live() const {
  if (at_ == At::one_of_several) return several_.get();
  return at_ == At::parent ? &route_.parents->live() : nullptr;
}

void Turns::count_failure() {
  if (at_ != At::parent || std::exchange(counted_, true)) return;
  route_.parents->counts(number_).failures.fetch_add(1, std::memory_order_relaxed);
}

void Turns::failed(Clock::time_point now) {
  count_failure();
  if (auto* const servers = live()) servers->failed(number_, now);
}

void Turns::worked(Clock::time_point now) {
  if (auto* const servers = live()) servers->worked(number_, now);
}

void Turns::silent_since(Clock::time_point asked, Clock::time_point now) {
  count_failure();
  if (auto* const servers = live()) servers->silent_since(asked, number_, now);
}

}  // namespace proxy::upstream
