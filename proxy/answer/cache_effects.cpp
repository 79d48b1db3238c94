#include "proxy/answer/cache_effects.hpp"

#include "proxy/cache/other_methods.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using net::Task;

Task<void> invalidate(const ServeAccess& access, const Request& request,
                      const http::ResponseHead& answer) {
  for (const auto& target : cache::invalidated_by(request.head.method, request.target, answer)) {
    const auto name = request.stored_as(target);
    const auto key = digest::key_of(digest::Method::get, name);
    co_await forget(access.fetching.cached(), key, name);
  }
}

void heed_head(const ServeAccess& access, const Request& request, const http::ResponseHead& answer,
               const cache::Times& times, std::chrono::steady_clock::time_point since) {
  const auto& url = request.stored_as();
  const auto key = digest::key_of(digest::Method::get, url);
  const auto stored = access.cache().store.find(key, url, request.head.fields).entry;
  const auto says =
      stored ? cache::head_says(request.facts, answer, *stored) : cache::HeadSays::nothing;
  if (says == cache::HeadSays::changed) drop(access.cache(), key, url);
  if (says != cache::HeadSays::unchanged || access.cache().fills.outdated(key, url, since)) return;
  if (stored->giver().guest) return;  // a HEAD confirms no body, so the guest's freshness stays
  const cache::Received received{.url = url,
                                 .request = request.head.fields,
                                 .response = answer,
                                 .times = times,
                                 .our_name = access.name(),
                                 .targets = targets_for(request, request.policy().settings.cache),
                                 .bounds = request.facts.freshness,
                                 .giver = stored->giver(),
                                 .rule = request.facts.rule,
                                 .by_rule_alone = request.facts.has_credentials};
  const auto updated =
      cache::freshen(access.cache().budget, *stored, cache::as_get(request.facts), received);
  if (updated.storability == cache::Storability::yes) {
    keep(access.cache(), key, updated.entry, since, {stored});
  } else if (updated.storability != cache::Storability::vary_too_long) {
    drop(access.cache(), key, url);
  }
}

}  // namespace proxy
