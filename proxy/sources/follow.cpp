#include "proxy/sources/follow.hpp"

#include <algorithm>

#include "proxy/policy/policy.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::sources {
namespace {

using mirrors::Redirect;
using upstream::Errc;

// How long the redirect holds, so that an answer found through it is no fresher. Without a word of
// its own it holds for this request alone (RFC 9110 15.4), though the answer may be unchanged.
std::chrono::seconds lifetime_of(const http::ResponseHead& redirect, cache::Time now) {
  const auto control = http::response_cache_control(redirect.fields, {});
  if (control.no_store || control.no_cache || control.private_) return std::chrono::seconds(0);
  return cache::freshness_of(redirect, control, now).lifetime;
}

}  // namespace

bool follows_redirects(const policy::Request& request) {
  const auto& hosts = request.policy().mirrored_hosts;
  if (hosts.empty() || request.mapping()) return false;  // mostly
  const bool is_plain = request.facts.method != cache::RequestFacts::Method::other &&
                        !request.framing.has_body() && !request.asks_for_websocket();
  const bool has_url = request.target.form() == http::Target::Form::absolute;
  return is_plain && has_url && hosts.have(request.target);
}

std::unique_ptr<Follow> Follow::of(const policy::Request& request, const std::string& head) {
  if (!follows_redirects(request)) return nullptr;
  return std::unique_ptr<Follow>(new Follow(request, head));
}

Follow::Follow(const policy::Request& request, std::string head)
    : policy_(request.pinned()),
      strict_(request.terms().mirrored == mirrors::Mirrored::yes),
      head_(std::move(head)),
      redirects_(request.target) {}

std::optional<upstream::Outcome<upstream::FetchPlan>> Follow::instead_of(
    const http::ResponseHead& answer, cache::Time now) {
  const auto from = redirects_.last();
  const auto redirect = redirects_.judge(answer, policy_->mirrored_hosts);
  if (redirect == Redirect::none) return std::nullopt;
  if (redirect != Redirect::followed) {
    if (!strict_) return std::nullopt;
    const auto why = redirect == Redirect::leads_out ? Errc::redirected_out : Errc::bad_redirect;
    return upstream::failure_of(upstream::Failure::Where::upstream, why);
  }
  lasts_ = std::min(lasts_, lifetime_of(answer, now));
  head_ = mirrors::redirected_head(head_, from, redirects_.last());
  return plan();
}

upstream::FetchPlan Follow::plan() const {
  const auto& to = redirects_.last();
  const auto& timeouts = policy_->settings.timeouts;
  return {.to = origin_of(to, policy_->lists),
          .route = policy_->routes.find(to),
          .asked = upstream::FetchPlan::Asked::redirected,
          .head = head_,
          .method = head_.substr(0, head_.find(' ')),
          .connect = timeouts.connect,
          .first_byte = timeouts.first_byte};
}

}  // namespace proxy::sources
