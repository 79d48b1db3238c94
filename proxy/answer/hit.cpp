#include "proxy/answer/hit.hpp"

#include "proxy/answer/miss.hpp"
#include "proxy/blocks/content_record.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/fetching/fetching.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/policy/access.hpp"
#include "proxy/policy/content.hpp"
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
  const cache::Verdict renewing{cache::Action::revalidate, http::Forward::stale};
  fetching::FillJob job{.fill = std::move(fill),
                        .key = lookup.key,
                        .request = std::make_unique<policy::OwnedRequest>(request),
                        .how = renewing,
                        .stored = {lookup.found.entry, lookup.found.on_disk},
                        .asked = lookup.asked,
                        .refresh = true};
  if (whom == Whom::anyone)
    job.allowed = fetching::allowed_for(access.fetching, request, lookup, renewing);
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
  // What look_elsewhere() has found has another key.
  again.key = digest::key_of(digest::Method::get, request.stored_as());
  co_await answer_miss(client, request, std::move(again));
}

// What is stored under another URL may have the body that this request is for, to the byte. It
// answers only if the client may ask for that URL, too, and nothing is missing.
Task<void> look_by_content(client::Client& client, const policy::Request& request,
                           fetching::Lookup& lookup) {
  auto& access = client.access.fetching;
  std::function<bool(const policy::Request&)> may_ask = [&client](const policy::Request& other) {
    return !policy::check_access(client::asker_of(client), other);
  };
  auto found = co_await blocks::find_by_content(access, request, std::move(may_ask), lookup.asked);
  if (!found.entry) co_return;
  fetching::Lookup other;
  other.key = found.key;
  other.asked = lookup.asked;
  other.found.entry = std::move(found.entry);
  fetching::decide(access, request, other);
  if (other.verdict.action != cache::Action::serve) co_return;
  if (other.presence == blocks::Presence::missing) blocks::remove_record(access, request);
  if (other.presence == blocks::Presence::stored) lookup = std::move(other);
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

Soon<void> look_elsewhere(client::Client& client, const policy::Request& request,
                          fetching::Lookup& lookup) {
  if (fetching::answers_from_cache(lookup) || !policy::shared_content_of(request)) return {};
  return look_by_content(client, request, lookup);
}

void refresh(client::Client& client, const policy::Request& request,
             const fetching::Lookup& lookup) {
  validate(client, request, lookup, Whom::anyone);
}

}  // namespace proxy::answer
