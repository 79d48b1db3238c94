#include "proxy/answer/hit.hpp"

#include "proxy/answer/miss.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy::answer {

using net::Soon;
using net::Task;

namespace {

enum class Whom : std::uint8_t { anyone, origin };

void validate(client::Client& client, const policy::Request& request,
              const fetching::Lookup& lookup, Whom whom) {
  // An answer to one client's credentials must not replace a response that is stored for all.
  if (request.facts.authorization) return;
  auto& access = client.access;
  if (sources::origin_rests(access.fetching.sources, request)) return;
  const fill::FillPlace place{access.executor(), &access.clock()};
  auto fill = access.cache().fills.begin_refresh(lookup.key, request.stored_as(), place);
  if (!fill) return;
  auto renewing = lookup;
  renewing.verdict = {cache::Action::revalidate, http::Forward::stale};
  fetching::FillJob job{.fill = std::move(fill),
                        .key = lookup.key,
                        .request = std::make_unique<policy::OwnedRequest>(request),
                        .how = renewing.verdict,
                        .stored = {lookup.found.entry, lookup.found.on_disk},
                        .asked = lookup.asked,
                        .refresh = true};
  if (whom == Whom::anyone) job.allowed = fetching::allowed_for(access.fetching, request, renewing);
  fetching::start_fetching(access.fetching, std::move(job));
}

// A guest's response answers: in the share `digest.confirm_sample` of such hits, the origin is
// asked for it. A 304 confirms the stored response, any other one replaces it. So guests cost the
// origin at most this share of the requests that they answer.
void confirm_some(client::Client& client, const policy::Request& request,
                  const fetching::Lookup& lookup) {
  const auto& facts = request.facts;
  const bool looped = http::via_names(request.head.fields, client.access.name());
  if (facts.offline || facts.control.no_store || looped || !lookup.stored()->has_validator())
    return;
  const double share = request.policy().settings.digest.samples.confirm;
  if (client.access.fetching.sources.probes.chosen(share))
    validate(client, request, lookup, Whom::origin);
}

// An object whose blocks turn out to be outdated is a miss.
Task<void> sent_or_fetched(client::Client& client, const policy::Request& request,
                           fetching::Lookup& lookup, Soon<reply::Delivered> serving) {
  const auto delivered = co_await serving;
  if (delivered == reply::Delivered::sent) co_return;
  auto again = fetching::begin_anew(std::move(lookup), request);
  co_await answer_miss(client, request, std::move(again));
}

}  // namespace

Soon<void> answer_hit(client::Client& client, const policy::Request& request,
                      fetching::Lookup& lookup, std::string_view detail) {
  const auto& entry = lookup.stored();
  if (entry->giver().guest) confirm_some(client, request, lookup);
  auto serving = reply::serve(client, request,
                              {lookup.key, entry, detail, std::move(lookup.body), lookup.presence});
  if (serving.is_here()) return {};  // only an object can be outdated
  return sent_or_fetched(client, request, lookup, std::move(serving));
}

void refresh(client::Client& client, const policy::Request& request,
             const fetching::Lookup& lookup) {
  validate(client, request, lookup, Whom::anyone);
}

}  // namespace proxy::answer
