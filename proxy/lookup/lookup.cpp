#include "proxy/lookup/lookup.hpp"

#include "proxy/cache/partial.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {

using cache::Action;
using net::Task;

Lookup look_in_memory(FetchAccess& access, const Request& request,
                      std::chrono::steady_clock::time_point asked) {
  Lookup lookup;
  lookup.key = digest::key_of(digest::Method::get, request.stored_as());
  lookup.asked = asked;
  note_asked(access.cache(), request, lookup.key);
  lookup.found = access.cache().store.find(lookup.key, request.stored_as(), request.head.fields);
  offer_to_disk(access.cache(), lookup.key, lookup.found);
  return lookup;
}

bool may_be_on_disk(const FetchAccess& access, const Request& request, const Lookup& lookup) {
  return may_be_below(access.cache(), request, lookup.key, lookup.found);
}

Task<LookupOnDisk> look_on_disk(FetchAccess& access, const Request& request, Lookup lookup,
                                cache::Bodies bodies) {
  Sought sought{lookup.key, std::move(lookup.found), lookup.asked, bodies};
  auto back = co_await read_back(access.cached(), request, std::move(sought));
  lookup.found = std::move(back.found);
  lookup.body = std::move(back.body);
  co_return LookupOnDisk{std::move(lookup), back.from_disk};
}

bool keeps_its_range(const FetchAccess& access, const Request& request) {
  if (request.facts.signs_range) return true;
  const auto now = access.clock().steady();
  return access.range_refusals.has(request.target.authority(), now);
}

void decide(const FetchAccess& access, const Request& request, Lookup& lookup) {
  lookup.presence = Presence::stored;
  if (lookup.stored() && lookup.stored()->is_object()) {
    lookup.presence = presence(access, request, lookup.key, *lookup.stored());
    // Blocks without a strong validator cannot be fetched apart (RFC 9110 15.3.7.3), so a request
    // that finds them under way can only wait for them.
    const bool only_joined =
        cache::strong_validator(*lookup.stored()).empty() && !request.facts.control.only_if_cached;
    lookup.found.lacks = lookup.presence == Presence::missing ||
                         (lookup.presence == Presence::under_way && !only_joined);
  }
  // The clock is read here and not before the search, because the disk may have taken a while.
  lookup.verdict = cache::judge(request.facts, lookup.found, access.clock().now());
  // Only a range of our own could complete the stored part.
  if (lookup.verdict.action == Action::complete && keeps_its_range(access, request)) {
    lookup.verdict = {Action::fetch, http::Forward::partial, request.facts.range};
  }
}

bool answers_from_cache(const Lookup& lookup) {
  return lookup.verdict.action == Action::serve || lookup.verdict.action == Action::refresh;
}

bool answers_from_memory(const Lookup& lookup) {
  return answers_from_cache(lookup) && !lookup.stored()->is_object();
}

bool is_hit(const Lookup& lookup) {
  if (lookup.verdict.action == Action::complete) {
    return lookup.stored()->is_object() && !lookup.stored()->is_part();
  }
  return lookup.verdict.action == Action::serve;
}

std::optional<Lookup> look_again(FetchAccess& access, const Request& request, const Lookup& first) {
  if (first.anew) return std::nullopt;  // memory would give the entry that was of no use
  Lookup again;
  again.found = access.cache().store.find(first.key, request.stored_as(), request.head.fields);
  if (!again.stored()) return std::nullopt;
  again.key = first.key;
  again.asked = first.asked;
  decide(access, request, again);
  return again;
}

Lookup begin_anew(Lookup lookup, const Request& request) {
  lookup.found.entry = nullptr;
  lookup.verdict = {Action::fetch, http::Forward::partial, request.facts.range};
  lookup.anew = true;
  return lookup;
}

}  // namespace proxy
