#include "proxy/pages/health.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/text.hpp"
#include "proxy/machine/limits.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/pages/origins.hpp"
#include "proxy/pages/query.hpp"

namespace proxy::pages {
namespace {

using Time = std::chrono::steady_clock::time_point;

using Troubles = std::vector<Trouble>;

// What there is only one of.
void add(Troubles& all, std::string_view what, std::string text) {
  all.push_back({what, {}, std::move(text)});
}

void add_fault(Troubles& all, std::string_view what, std::optional<observe::Fault::Told> told) {
  if (told) all.push_back({what, {}, std::move(told->text), 1, told->since, told->last});
}

void add_disk(Troubles& all, const PagesAccess& pages, const policy::Policy& policy) {
  const auto* const disk = pages.tiers.disk;
  // Without a disk none was asked for, and nothing is wrong.
  if (!disk) return;
  const auto state = disk->state();
  if (!state.working) {
    const auto& told = policy.settings.cache.disk;
    return add(all, "disk", observe::why_rests(state.reason, told ? told->path : std::string()));
  }
  if (disk->disk().catalog().squeezed) add(all, "disk", std::string(observe::kSqueezed));
  if (pages.observed.disk_watch) add_fault(all, "disk", pages.observed.disk_watch->lost());
}

void add_neighbours(Troubles& all, const policy::Policy& policy, const upstream::NameHealth& names,
                    Time now) {
  const bool are_silent = names.are_silent(now);
  for (const auto& peer : policy.directory->status(now)) {
    // Its name is not resolved because the name servers are silent: one cause is one reason, in
    // add_names().
    auto why = observe::is_excused(peer, names, now) ? std::string() : observe::why_down(peer);
    if (!why.empty()) all.push_back({"peer", peer.name, std::move(why)});
    const auto parent = policy.routes.status(peer.id, now);
    const bool by_name = !config::parse_address(policy.directory->peers()[peer.id]->host);
    // One that nobody can resolve is no trouble of its own: add_names() says why.
    if (parent && parent->rests && !(by_name && are_silent)) {
      all.push_back({"peer", peer.name, "as a parent it failed requests, and rests"});
    }
  }
}

void add_names(Troubles& all, const upstream::NameHealth& names, Time now) {
  const auto trouble = names.trouble(now);
  if (!trouble) return;
  auto text = fmt::format("{}: {}", trouble->text, trouble->advice);
  all.push_back({"dns", {}, std::move(text), 1, trouble->since, trouble->last});
}

void add_clock(Troubles& all, const PagesAccess& pages, Time now) {
  const auto skew = pages.upstream.clocks.skew(now);
  if (skew) {
    return add(all, "clock",
               fmt::format("the clock of this machine is {} s {} the origins' clocks",
                           std::abs(skew->count()), skew->count() > 0 ? "behind" : "ahead of"));
  }
  const auto doubt = pages.clock().doubt();
  if (doubt) add(all, "clock", observe::doubt_text(*doubt, pages.clock().now()));
}

// The neighbour's own health says so, too.
void add_refused(Troubles& all, const PagesAccess& pages, const policy::Policy& policy, Time now) {
  for (const auto& refused : pages.observed.refused_neighbours.lately(now)) {
    if (config::contains(policy.settings.access.clients, refused.address)) continue;
    const auto peer = policy.directory->at(refused.address);
    const auto& which = peer ? peer->name : refused.text;
    all.push_back(
        {"peer", which, std::string(observe::RefusedNeighbours::kWhy), 1, {}, refused.last, !peer});
  }
}

void add_memory(Troubles& all, const PagesAccess& pages, const policy::Policy& policy) {
  const auto& limit = pages.instance.memory_limit;
  if (auto shortage = machine::memory_shortage(policy.settings, limit)) {
    add(all, "memory", std::move(*shortage));
  }
  if (const auto full = pages.tiers.reduced_from.load()) {
    add(all, "memory", text_of_reduced(pages.tiers.budget.limit(), full));
  }
  // Of the whole process: what the cache does not count, such as fragments, counts for the system,
  // too.
  const auto resident =
      pages.observed.facts ? pages.observed.facts->resident_bytes().value_or(0) : 0;
  // Nine tenths: the system ends a process that takes more memory than there is.
  if (!limit || resident <= limit->bytes - limit->bytes / 10) return;
  add(all, "memory",
      fmt::format("the proxy takes {} MiB of {} MiB: set cache.memory to less, or the system may "
                  "end the proxy",
                  resident >> 20, limit->bytes >> 20));
}

void add_descriptors(Troubles& all, const PagesAccess& pages, const policy::Policy& policy) {
  constexpr std::size_t kFewConnections = 1'000;  // a site's clients keep hundreds open
  const auto most = pages.crowd.descriptors.connections;
  if (most >= std::min(kFewConnections, policy.settings.limits.connections)) return;
  add(all, "descriptors",
      fmt::format("the file descriptors that are allowed here are enough for {} client "
                  "connections: allow more (ulimit -n, or LimitNOFILE of the service)",
                  most));
}

}  // namespace

std::string text_of_reduced(std::uint64_t bytes, std::uint64_t wanted) {
  return fmt::format(
      "allocations failed: this process gets no more memory (ulimit -v, or a limit of the "
      "machine), "
      "so the cache keeps {} MiB in place of {} MiB; set cache.memory to less, or allow more, and "
      "restart",
      bytes >> 20, wanted >> 20);
}

std::vector<Trouble> origin_troubles(const std::vector<upstream::OriginHealth::Failing>& failing,
                                     Time now) {
  std::vector<Trouble> all;
  const auto named = std::min(failing.size(), kMostOrigins);
  for (std::size_t i = 0; i < named; ++i) {
    const auto& one = failing[i];
    // Failures of this very second would read as those of no time at all.
    const std::chrono::seconds shortest(1);
    const auto time = std::max(shortest, std::chrono::ceil<std::chrono::seconds>(now - one.since));
    all.push_back({"origin", one.origin,
                   fmt::format("{} requests in a row failed in the last {}: {}: {}", one.failures,
                               config::rough_text(time), upstream::text(one.why),
                               upstream::advice_on(one.why)),
                   1, one.since, one.last});
  }
  // A reader of /health wants to know that there are more, not which.
  const auto others = failing.size() - named;
  if (others > 0) all.push_back({"origin", {}, fmt::format("and {} more", others), others});
  return all;
}

std::vector<Trouble> troubles_of(const PagesAccess& pages, const policy::Policy& policy, Time now) {
  std::vector<Trouble> all;
  add_disk(all, pages, policy);
  add_neighbours(all, policy, pages.upstream.names, now);
  add_refused(all, pages, policy, now);
  add_names(all, pages.upstream.names, now);
  for (auto& one : origin_reasons(origins_seen(pages, now), now)) all.push_back(std::move(one));
  add_clock(all, pages, now);
  add_memory(all, pages, policy);
  add_descriptors(all, pages, policy);
  for (const auto what : crowd::kShortages) {
    const auto& warnings = pages.crowd.warnings;
    if (!warnings.lately(what, now)) continue;
    all.push_back(
        {crowd::word(what), {}, std::string(crowd::text(what)), 1, {}, warnings.last(what)});
  }
  for (auto& name : pages.observed.stuck.names()) {
    all.push_back({"thread", std::move(name),
                   "does not get on, so part of the work is not done: restart the proxy, and "
                   "report this fault of the program"});
  }
  if (policy.settings.cache.offline) {
    add(all, "offline",
        "this proxy asks no origin and no parent, by the setting cache.offline: what neither it "
        "nor a neighbour has stored gets 504");
  }
  add_fault(all, "settings", pages.observed.settings_fault.told());
  add_fault(all, "log", pages.observed.log.fault());
  // Some parts know since when; for the others it counts from the first look that saw them.
  for (auto& one : all) {
    if (!one.since) one.since = pages.observed.first_seen.since(one.name(), now);
    if (!one.last) one.last = now;
  }
  return all;
}

std::string health_json(const PagesAccess& pages, const std::vector<Trouble>& troubles,
                        Audience readers) {
  nlohmann::ordered_json page;
  page["status"] = pages.instance.draining ? "draining" : troubles.empty() ? "ok" : "degraded";
  page["reasons"] = nlohmann::ordered_json::array();
  const auto wall = pages.clock().shown();
  const auto shown = [&wall, now = pages.clock().steady()](Time time) {
    const auto at = std::chrono::round<std::chrono::seconds>(wall - (now - time));
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(at)));
  };
  for (const auto& trouble : troubles) {
    nlohmann::ordered_json one{{"what", trouble.what}};
    // Which origins clients ask for tells what people read, and is for administrators.
    const bool is_hidden = trouble.which_is_private && readers != Audience::admins;
    if (!trouble.which.empty()) one["which"] = is_hidden ? kForAdmins : trouble.which;
    one["text"] = trouble.text;
    if (trouble.since) one["since"] = shown(*trouble.since);
    if (trouble.last) one["last_seen"] = shown(*trouble.last);
    if (trouble.number > 1) one["number"] = trouble.number;
    page["reasons"].push_back(std::move(one));
  }
  if (pages.tiers.disk) {
    const auto state = pages.tiers.disk->state();
    page["disk"]["state"] = state.working ? "working" : "resting";
    if (!state.working) page["disk"]["reason"] = to_string(state.reason);
  }
  return page.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

PageAnswer serve_health(const Visit& visit) {
  const auto& pages = visit.pages;
  const auto strict = only_parameter(visit.path(), "strict");
  if (!strict) return refused(reply::Refusal::bad(strict.error().text));
  const auto troubles = troubles_of(pages, visit.policy(), pages.clock().steady());
  // Degraded is not down: a load balancer that took this proxy out for an origin's fault would only
  // make things worse. Who wants to know asks by ?strict=1.
  const bool serves = !pages.instance.draining && (*strict != "1" || troubles.empty());
  const auto readers = visit.caller.is_admin() ? Audience::admins : Audience::monitors;
  return send_json(visit.client, health_json(pages, troubles, readers), serves ? 200 : 503);
}

}  // namespace proxy::pages
