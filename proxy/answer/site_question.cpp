#include "proxy/answer/site_question.hpp"

#include <utility>

#include "proxy/answer/miss.hpp"
#include "proxy/lookup/lookup.hpp"
#include "proxy/reply/deliver.hpp"

namespace proxy {

using net::Task;

namespace {

// Tells the neighbour that we wait for a fetch, so that it does not take us for slow.
constexpr std::string_view kProcessing = "HTTP/1.1 102 Processing\r\n\r\n";

// Whether the object would answer, if all its blocks were here, and those that are not are
// arriving.
bool arrives(const ServeAccess& access, const Request& request, const Lookup& lookup) {
  const bool is_object = lookup.stored() && lookup.stored()->is_object();
  if (!is_object || lookup.presence != Presence::under_way) return false;
  auto whole = lookup.found;
  whole.lacks = false;
  const auto now = access.clock().now();
  return cache::judge(request.facts, whole, now).action == cache::Action::serve;
}

std::shared_ptr<Fill> fill_to_join(const ServeAccess& access, const Request& request,
                                   const Lookup& lookup) {
  if (!may_share(access.fetching, request, lookup)) return nullptr;
  return access.cache().fills.under_way(lookup.key, request.stored_as(), access.clock().steady());
}

// Answers from a fetch under way. Returns whether an answer was sent.
Task<bool> join(Client& client, const Request& request, const Lookup& lookup) {
  const auto& access = client.access;
  if (arrives(access, request, lookup)) {
    co_await client.response.interim(kProcessing);
    ObjectToServe object{lookup.key, lookup.stored(), lookup.presence, true};
    const auto now = access.clock().now();
    const auto delivered = co_await serve_object(client, request, std::move(object), now);
    co_return delivered == Delivered::sent;
  }
  auto fill = fill_to_join(client.access, request, lookup);
  if (!fill) co_return false;
  co_await client.response.interim(kProcessing);
  co_return co_await answer_by_others_fill(client, request, lookup, std::move(fill));
}

}  // namespace

std::optional<peers::Epoch> site_asker(const Request& request) {
  if (!request.facts.control.only_if_cached) return std::nullopt;
  return peers::parse_epoch(request.head.fields.only_value(peers::kFetchField));
}

Task<void> answer_of_site(Client& client, const Request& request, const Lookup& lookup,
                          peers::Epoch asker, Refusal refusal) {
  auto& fetches = client.access.fetching.sources.shared.site_fetches;
  const auto now = client.access.clock().steady();
  // If we have taken the asker for the fetcher, our own fetch may be waiting for the asker.
  const bool may_wait = fetches.fetcher_of(lookup.key, now) != asker;
  bool answered = false;
  if (may_wait) answered = co_await join(client, request, lookup);
  if (answered) co_return;
  refusal.tag = Tag::site_question;
  const bool is_member =
      request.facts.from_neighbour && !!request.policy().directory->member(asker, now);
  const auto fetcher = is_member ? fetches.enter(lookup.key, asker, now) : asker;
  if (fetcher != asker) refusal.cache_status.detail = "fetched-by/" + peers::to_text(fetcher);
  co_await refuse(client, request, std::move(refusal));
}

}  // namespace proxy
