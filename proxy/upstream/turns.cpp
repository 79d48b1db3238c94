#include "proxy/upstream/turns.hpp"

#include <algorithm>
#include <utility>

namespace proxy::upstream {

Turns::Turns(const Endpoint& origin, std::shared_ptr<Origins> several, const Route& route,
             Clock::time_point now)
    : origin_(origin), several_(std::move(several)), route_(route) {
  next(now);
}

const Endpoint& Turns::to() const {
  if (at_ == At::one_of_several) return (*several_)[number_];
  return at_ == At::parent ? parent()->at : origin_;
}

const Parent* Turns::parent() const {
  return at_ == At::parent ? &(*route_.parents)[number_] : nullptr;
}

bool Turns::several() const {
  return several_ || route_.order.size() + (route_.direct ? 1 : 0) > 1;
}

bool Turns::others_left() const {
  if (several_) return tried_.count() < several_->size();
  if (at_ != At::parent) return false;
  const auto untried = [this](std::size_t number) { return !tried_[number]; };
  return route_.direct || std::any_of(route_.order.begin(), route_.order.end(), untried);
}

bool Turns::next(Clock::time_point now) {
  std::optional<std::size_t> chosen;
  if (several_) {
    chosen = several_->next(tried_, now);
    if (!chosen) return false;
    at_ = At::one_of_several;
  } else if (at_ != At::origin && route_.has_parents()) {
    // The origin is better than a parent that rests.
    const auto at_rest = route_.direct ? Origins::AtRest::skipped : Origins::AtRest::last;
    const std::span<const std::size_t> order(route_.order.data(), route_.order.size());
    chosen = route_.parents->live().next(tried_, now, order, at_rest);
    if (chosen) at_ = At::parent;
  }
  if (chosen) {
    number_ = *chosen;
    return true;
  }
  if (at_ == At::origin || !route_.direct) return false;
  at_ = At::origin;
  return true;
}

Origins* Turns::live() const {
  if (at_ == At::one_of_several) return several_.get();
  return at_ == At::parent ? &route_.parents->live() : nullptr;
}

void Turns::asked() {
  if (at_ == At::parent) route_.parents->counts(number_).requests.fetch_add(1);
}

void Turns::failed(Clock::time_point now) {
  if (at_ == At::parent) route_.parents->counts(number_).failures.fetch_add(1);
  if (auto* const servers = live()) servers->failed(number_, now);
}

void Turns::worked(Clock::time_point now) {
  if (auto* const servers = live()) servers->worked(number_, now);
}

void Turns::silent_since(Clock::time_point asked, Clock::time_point now) {
  if (at_ == At::parent) route_.parents->counts(number_).failures.fetch_add(1);
  if (auto* const servers = live()) servers->silent_since(asked, number_, now);
}

}  // namespace proxy::upstream
