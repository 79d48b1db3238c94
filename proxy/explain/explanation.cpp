#include "proxy/explain/explain.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/text.hpp"

namespace proxy::explain {
namespace {

using cache::Action;
using Json = nlohmann::ordered_json;

// The words are in the order of their enumerations.
std::string_view word(cache::Freshness::Basis basis) {
  constexpr std::string_view kWords[] = {"none", "heuristic", "Expires", "max-age", "s-maxage"};
  return kWords[static_cast<std::size_t>(basis)];
}

std::string_view word(Asks asks) {
  constexpr std::string_view kWords[] = {"yes", "on-trial", "if-origin-fails", "no"};
  return kWords[static_cast<std::size_t>(asks)];
}

std::string_view word(Action action) {
  constexpr std::string_view kWords[] = {"serve", "refresh",    "refuse",  "pass",
                                         "fetch", "revalidate", "complete"};
  return kWords[static_cast<std::size_t>(action)];
}

std::string moment_text(cache::Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

double ms_of(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

const StoredResponse* selected(const Explanation& explanation) {
  const auto& all = explanation.cached.stored;
  const auto found =
      std::find_if(all.begin(), all.end(), [](const auto& one) { return one.selected; });
  return found == all.end() ? nullptr : &*found;
}

// "fresh for another 312 s", "stale for 12 s".
std::string freshness(const cache::Entry& entry, cache::Time now) {
  const auto ttl = entry.ttl(now);
  if (entry.fresh(now)) return "fresh for another " + config::rough_text(ttl);
  return "stale for " + config::rough_text(-ttl);
}

// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::vector<std::string> asked(const Explanation& explanation, Asks how) {
  std::vector<std::string> names;
  for (const auto& peer : explanation.sources.peers)
    if (peer.asks == how) names.push_back(peer.name);
  return names;
}

// The sources in their order: ", whose digest claims it, then the origin http://a.test:80".
std::string sources(const Explanation& explanation) {
  std::vector<std::string> steps;
  // Those in reserve are left out: they are asked only where this order has failed.
  if (const auto names = asked(explanation, Asks::yes); !names.empty())
    steps.push_back(listed(names) +
                    (names.size() > 1 ? ", whose digests claim it" : ", whose digest claims it"));
  else if (!explanation.sources.owner.empty())
    steps.push_back(explanation.sources.owner + ", which would know who fetches it");
  const auto& origin = explanation.sources.origin;
  if (!origin.parents.empty())
    steps.push_back((origin.parents.size() > 1 ? "the parents " : "the parent ") +
                    listed(origin.parents));
  if (!origin.servers.empty()) steps.push_back("the origin " + origin.servers.front());
  const auto tried = asked(explanation, Asks::on_trial);
  if (!steps.empty() && !tried.empty())
    steps.front() += ", and at once " + listed(tried) + ", which is on trial";
  if (!steps.empty()) return fmt::format("{}", fmt::join(steps, ", then "));
  return explanation.offline ? "nobody: this proxy is offline"
                             : "nobody: the settings leave no way (never_direct)";
}

std::string hit(const Explanation& explanation, const StoredResponse& stored) {
  const auto where = stored.facts.where == "disk" ? "disk" : "memory";
  auto text = fmt::format("would be answered from {}; {}", where,
                          freshness(*stored.entry, explanation.now));
  if (explanation.cached.verdict.action == Action::refresh) {
    return text + ", which stale-while-revalidate allows; it would be renewed meanwhile";
  }
  if (explanation.offline && !stored.entry->fresh(explanation.now)) {
    text += ", but this proxy is offline";
  }
  return text;
}

std::string why_passed(const Explanation& explanation) {
  switch (explanation.cached.verdict.reason) {
    case http::Forward::method:
      return "only GET and HEAD are answered from the cache";
    case http::Forward::bypass:
      return "a rule of the settings, or the request itself, keeps it from the cache";
    default:
      return "the request lets nothing be stored";
  }
}

std::string miss(const Explanation& explanation) {
  const auto* const stored = selected(explanation);
  const auto from = sources(explanation);
  if (explanation.cached.fetching)
    return "would wait for the fetch of another request, which is under way";
  if (explanation.cached.verdict.action == Action::complete) {
    return "is stored in part; the missing part would be asked of " + from;
  }
  if (!stored) {
    const auto* const what = explanation.cached.verdict.reason == http::Forward::vary_miss
                                 ? "is stored, but not in this variant; would ask "
                                 : "is not stored; would ask ";
    return what + from;
  }
  const auto age = stored->entry->no_cache ? "must be validated each time"
                                           : freshness(*stored->entry, explanation.now);
  const auto* const how = explanation.cached.verdict.action == Action::revalidate
                              ? "would be validated by "
                              : "cannot be validated, and would be fetched from ";
  return fmt::format("is stored, but {}: {}{}", age, how, from);
}

using Saying = std::vector<Said>;

// Leaves out what has no text.
void say(Saying& saying, std::string_view about, std::string text) {
  if (!text.empty()) saying.push_back({about, std::move(text)});
}

void say_request(Saying& saying, const Explanation& explanation) {
  const bool own_page = explanation.own_page;  // which judges for itself
  auto client = explanation.asked.client;
  if (!explanation.asked.user.empty()) client += ", user " + explanation.asked.user;
  if (explanation.refused.reason.empty() && !own_page) client += ", allowed";
  say(saying, "client", std::move(client));
  say(saying, "refused", explanation.refused.reason);
  say(saying, "rule", explanation.asked.rule);
  for (const auto& [about, text] : explanation.asked.of_rule) say(saying, about, text);
  say(saying, "as", explanation.asked.reverse && !own_page ? "a server (setting reverse)" : "");
  say(saying, "key", explanation.cached.key);
  if (explanation.cached.stored_as != explanation.asked.url)
    say(saying, "stored as", explanation.cached.stored_as);
}

// "600 s by max-age, 288 s old, fresh for another 312 s".
std::string lifetime_of(const StoredResponse& stored, const Explanation& explanation) {
  const auto& entry = *stored.entry;
  const auto basis = word(entry.freshness().basis);
  auto text = fmt::format(
      "lifetime {} by {}, {} old, ", config::rough_text(entry.freshness().lifetime),
      stored.told_lifetime
          ? fmt::format("rule ({} by {})", config::rough_text(*stored.told_lifetime), basis)
          : std::string(basis),
      config::rough_text(entry.age(explanation.now)));
  // The entry is stale at the end of its lifetime, not after it (RFC 9111 4.2).
  const auto left = entry.ttl(explanation.now);
  if (left.count() <= 0) return text + "stale for " + config::rough_text(-left);
  return text + fmt::format("fresh for another {}, until {}", config::rough_text(left),
                            moment_text(entry.fresh_until() + explanation.ahead));
}

// What the response says of its use once it is stale.
std::string stale_rules_of(const cache::Entry& entry) {
  // The first that applies is the only one: no-cache and must-revalidate outweigh both windows of
  // RFC 5861.
  if (entry.no_cache) return "validated before each use (no-cache)";
  if (entry.never_stale) return "never used stale";
  const auto while_asked = entry.extras().stale_while_revalidate;
  const auto if_error = entry.extras().stale_if_error;
  std::vector<std::string> uses;
  if (while_asked.count() > 0)
    uses.push_back("for " + config::rough_text(while_asked) + " while it is renewed");
  if (if_error.count() > 0)
    uses.push_back("for " + config::rough_text(if_error) + " if the origin fails");
  return uses.empty() ? "" : fmt::format("then {}", fmt::join(uses, ", "));
}

std::string variant_of(const cache::Entry& entry) {
  std::string text;
  for (const auto& field : entry.variant().selecting_fields()) {
    text += text.empty() ? "for " : ", ";
    text += fmt::format("{}: {}", field.name, field.value.value_or("none"));
  }
  return text;
}

void say_stored(Saying& saying, const Explanation& explanation) {
  for (const auto& stored : explanation.cached.stored) {
    const auto& facts = stored.facts;
    auto what = fmt::format("{}: {}, {}", facts.where, stored.entry->status,
                            config::short_size(facts.bytes));
    if (facts.held_bytes != facts.bytes) {
      what += fmt::format(", of which {} are held", config::short_size(facts.held_bytes));
    }
    if (!stored.selected) what += " (another variant)";
    say(saying, "stored", std::move(what));
    say(saying, "", variant_of(*stored.entry));
    say(saying, "", lifetime_of(stored, explanation));
    say(saying, "", stale_rules_of(*stored.entry));
  }
  if (explanation.cached.more_on_disk) {
    say(saying, "", "the disk may hold other variants (hearsay cache show)");
  }
  if (!explanation.cached.disk_fault.empty()) {
    say(saying, "disk", "not looked at: " + explanation.cached.disk_fault);
  }
}

void say_neighbours(Saying& saying, const Explanation& explanation) {
  for (const auto& peer : explanation.sources.peers) {
    const auto* const claim = !peer.claims   ? "unknown"
                              : *peer.claims ? "claims it"
                                             : "does not claim it";
    const auto asked = peer.asks == Asks::no    ? "not asked"
                       : peer.asks == Asks::yes ? "asked"
                                                : word(peer.asks);
    auto what = fmt::format("{}: {}; {}", peer.name, claim, asked);
    if (!peer.why.empty()) what += ": " + peer.why;
    say(saying, "neighbour", std::move(what));
  }
  if (!explanation.sources.owner.empty()) {
    say(saying, "owner", explanation.sources.owner + " is asked whether it fetches this");
  }
}

void say_origin(Saying& saying, const Explanation& explanation) {
  const auto& origin = explanation.sources.origin;
  say(saying, "parents", fmt::format("{}", fmt::join(origin.parents, ", ")));
  auto servers = fmt::format("{}", fmt::join(origin.servers, ", "));
  if (!servers.empty() && origin.takes) {
    servers += fmt::format(", {:.1f} ms to the first byte", ms_of(*origin.takes));
  }
  say(saying, "origin", std::move(servers));
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string_view action_of(const Explanation& explanation) {
  if (explanation.own_page) return "own-page";
  if (!explanation.refused.reason.empty()) return word(Action::refuse);
  return explanation.tunnel ? "tunnel" : word(explanation.cached.verdict.action);
}

Json vary_json(const http::Variant& variant) {
  Json fields = Json::object();
  for (const auto& field : variant.selecting_fields()) {
    fields[field.name] = field.value ? Json(*field.value) : Json(nullptr);
  }
  return fields;
}

Json freshness_json(const StoredResponse& stored, const Explanation& explanation) {
  const auto now = explanation.now;
  const auto& entry = *stored.entry;
  const bool by_rule = stored.told_lifetime.has_value();
  const auto told = stored.told_lifetime.value_or(entry.freshness().lifetime);
  // A response that forbids it is never served stale (RFC 9111 4.2.4).
  const auto stale_for = [&entry](cache::seconds window) {
    return entry.never_stale ? 0 : window.count();
  };
  return {{"lifetime_seconds", entry.freshness().lifetime.count()},
          {"lifetime_from", by_rule ? "rule" : word(entry.freshness().basis)},
          {"told_lifetime_seconds", told.count()},
          {"told_lifetime_from", word(entry.freshness().basis)},
          {"age_seconds", entry.age(now).count()},
          {"fresh_seconds", entry.ttl(now).count()},
          {"fresh_until", moment_text(entry.fresh_until() + explanation.ahead)},
          {"stale_while_revalidate_seconds", stale_for(entry.extras().stale_while_revalidate)},
          {"stale_if_error_seconds", stale_for(entry.extras().stale_if_error)},
          {"no_cache", entry.no_cache},
          {"never_stale", entry.never_stale}};
}

Json stored_json(const StoredResponse& stored, const Explanation& explanation) {
  const auto& entry = *stored.entry;
  const auto& facts = stored.facts;
  Json json{{"selected", stored.selected},
            {"where", facts.where},
            {"kind", facts.kind},
            {"status", entry.status},
            {"bytes", facts.bytes},
            {"held_bytes", facts.held_bytes},
            {"hits", facts.hits ? Json(*facts.hits) : Json(nullptr)},
            {"vary", vary_json(entry.variant())},
            {"etag", text_or_null(std::string(entry.quotes().etag))},
            {"last_modified", text_or_null(std::string(entry.quotes().last_modified))}};
  json.update(freshness_json(stored, explanation));
  return json;
}

Json peer_json(const PeerFacts& peer) {
  return {{"name", peer.name},
          {"state", peer.state},
          {"claims", peer.claims ? Json(*peer.claims) : Json(nullptr)},
          {"asked", word(peer.asks)},
          {"why", text_or_null(peer.why)}};
}

Json origin_json(const OriginFacts& origin) {
  return {{"parents", origin.parents},
          {"servers", origin.servers},
          {"first_byte_ms", origin.takes ? Json(ms_of(*origin.takes)) : Json(nullptr)}};
}

}  // namespace

std::string sentence(const Explanation& explanation) {
  if (explanation.own_page) return "is for this proxy's own pages";
  if (!explanation.refused.reason.empty()) {
    return fmt::format("would be refused with {}: {}", explanation.refused.status,
                       explanation.refused.reason);
  }
  if (explanation.tunnel) {
    return fmt::format("would be tunnelled to {}; what passes is encrypted, and never cached",
                       sources(explanation));
  }
  const auto* const stored = selected(explanation);
  switch (explanation.cached.verdict.action) {
    case Action::serve:
    case Action::refresh:
      if (stored) return hit(explanation, *stored);
      break;
    case Action::refuse:
      return "would be refused with 504: it is not held, and this proxy is offline";
    case Action::pass:
      return fmt::format("would be forwarded to {}: {}", sources(explanation),
                         why_passed(explanation));
    case Action::fetch:
    case Action::revalidate:
    case Action::complete:
      break;
  }
  return miss(explanation);
}

std::vector<Said> sentences(const Explanation& explanation) {
  Saying saying;
  say_request(saying, explanation);
  say_stored(saying, explanation);
  say_neighbours(saying, explanation);
  say_origin(saying, explanation);
  return saying;
}

// Each key is always there, null if it does not apply, so that programs need not test for it.
std::string explanation_json(const Explanation& explanation) {
  Json json{{"url", explanation.asked.url},
            {"method", explanation.asked.method},
            {"client", explanation.asked.client},
            {"user", text_or_null(explanation.asked.user)},
            {"verdict", sentence(explanation)},
            {"sentences", Json::array()},
            {"allowed", explanation.refused.reason.empty()},
            {"refusal", text_or_null(explanation.refused.reason)},
            {"own_page", explanation.own_page},
            {"mode", explanation.asked.reverse ? "reverse" : "forward"},
            {"rule", text_or_null(explanation.asked.rule)},
            {"key", text_or_null(explanation.cached.key)},
            {"stored_as", text_or_null(explanation.cached.stored_as)},
            {"for_neighbours", explanation.cached.for_neighbours},
            {"action", action_of(explanation)},
            {"fwd", text_or_null(std::string(http::text(explanation.cached.verdict.reason)))},
            {"offline", explanation.offline},
            {"being_fetched", explanation.cached.fetching},
            {"disk_fault", text_or_null(explanation.cached.disk_fault)},
            {"other_variants_on_disk", explanation.cached.more_on_disk},
            {"stored", Json::array()},
            {"no_neighbours", text_or_null(explanation.sources.no_neighbours)},
            {"peers", Json::array()},
            {"owner", text_or_null(explanation.sources.owner)},
            {"origin", origin_json(explanation.sources.origin)}};
  for (const auto& [name, text] : explanation.asked.of_rule) json[name] = text_or_null(text);
  for (const auto& [about, text] : sentences(explanation))
    json["sentences"].push_back({{"about", about}, {"text", text}});
  for (const auto& stored : explanation.cached.stored)
    json["stored"].push_back(stored_json(stored, explanation));
  for (const auto& peer : explanation.sources.peers) json["peers"].push_back(peer_json(peer));
  // A URL or a name of a neighbour may have bytes that are no UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace proxy::explain
