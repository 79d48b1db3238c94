#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/text.hpp"
#include "proxy/explain/explanation.hpp"

namespace proxy {

std::string_view word(cache::Freshness::Basis basis) {
  using Basis = cache::Freshness::Basis;
  switch (basis) {
    case Basis::s_maxage:
      return "s-maxage";
    case Basis::max_age:
      return "max-age";
    case Basis::expires:
      return "Expires";
    case Basis::heuristic:
      return "heuristic";
    case Basis::none:
      break;
  }
  return "none";
}

std::string_view word(Asks asks) {
  switch (asks) {
    case Asks::yes:
      return "yes";
    case Asks::on_trial:
      return "on-trial";
    case Asks::if_origin_fails:
      return "if-origin-fails";
    case Asks::no:
      break;
  }
  return "no";
}

std::string moment_text(cache::Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

namespace {

using cache::Action;

const StoredFacts* selected(const Explanation& explanation) {
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
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::vector<std::string> asked(const Explanation& explanation) {
  std::vector<std::string> names;
  for (const auto& peer : explanation.sources.peers) {
    if (peer.asks == Asks::yes || peer.asks == Asks::on_trial) names.push_back(peer.name);
  }
  return names;
}

// The sources in their order: ", whose digest claims it, then the origin http://a.test:80".
std::string sources(const Explanation& explanation) {
  std::vector<std::string> steps;
  // Those in reserve are left out: they are asked only where this order has failed.
  if (const auto names = asked(explanation); !names.empty()) {
    steps.push_back(listed(names) +
                    (names.size() > 1 ? ", whose digests claim it" : ", whose digest claims it"));
  } else if (!explanation.sources.owner.empty()) {
    steps.push_back(explanation.sources.owner + ", which would know who fetches it");
  }
  const auto& origin = explanation.sources.origin;
  if (!origin.parents.empty()) {
    steps.push_back((origin.parents.size() > 1 ? "the parents " : "the parent ") +
                    listed(origin.parents));
  }
  if (!origin.servers.empty()) steps.push_back("the origin " + origin.servers.front());
  std::string text;
  for (const auto& step : steps) text += (text.empty() ? "" : ", then ") + step;
  if (!text.empty()) return text;
  return explanation.offline ? "nobody: this proxy is offline"
                             : "nobody: the settings leave no way (never_direct)";
}

std::string hit(const Explanation& explanation, const StoredFacts& stored) {
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

// Collects what is said, and leaves out what has no text.
class Saying {
 public:
  void add(std::string_view about, std::string text) {
    if (!text.empty()) all_.push_back({about, std::move(text)});
  }
  std::vector<Said> all() && { return std::move(all_); }

 private:
  std::vector<Said> all_;
};

void say_request(Saying& saying, const Explanation& explanation) {
  const bool own_page = explanation.own_page;  // which judges for itself
  auto client = explanation.asked.client;
  if (!explanation.asked.user.empty()) client += ", user " + explanation.asked.user;
  if (explanation.refused.reason.empty() && !own_page) client += ", allowed";
  saying.add("client", std::move(client));
  saying.add("refused", explanation.refused.reason);
  saying.add("rule", explanation.asked.rule);
  saying.add("as", explanation.asked.reverse && !own_page ? "a server (setting reverse)" : "");
  saying.add("key", explanation.cached.key);
  if (explanation.cached.stored_as != explanation.asked.url)
    saying.add("stored as", explanation.cached.stored_as);
}

// "600 s by max-age, 288 s old, fresh for another 312 s".
std::string lifetime_of(const StoredFacts& stored, const Explanation& explanation) {
  const auto& entry = *stored.entry;
  const auto& freshness = entry.freshness();
  auto text = "lifetime " + config::rough_text(freshness.lifetime);
  if (stored.told_lifetime) {
    text += fmt::format(" by rule ({} by {})", config::rough_text(*stored.told_lifetime),
                        word(freshness.basis));
  } else {
    text += fmt::format(" by {}", word(freshness.basis));
  }
  const auto left = entry.ttl(explanation.now);
  text += fmt::format(", {} old, ", config::rough_text(entry.age(explanation.now)));
  if (left.count() <= 0) return text + "stale for " + config::rough_text(-left);
  return text + fmt::format("fresh for another {}, until {}", config::rough_text(left),
                            moment_text(entry.fresh_until() + explanation.ahead));
}

// What the response says of its use once it is stale.
std::string stale_rules_of(const cache::Entry& entry) {
  if (entry.no_cache) return "validated before each use (no-cache)";
  if (entry.never_stale) return "never used stale";
  const auto while_asked = entry.extras().stale_while_revalidate;
  const auto if_error = entry.extras().stale_if_error;
  std::string text;
  if (while_asked.count() > 0) {
    text = "then for " + config::rough_text(while_asked) + " while it is renewed";
  }
  if (if_error.count() > 0) {
    text += (text.empty() ? "then for " : ", for ") + config::rough_text(if_error) +
            " if the origin fails";
  }
  return text;
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
    saying.add("stored", std::move(what));
    saying.add("", variant_of(*stored.entry));
    saying.add("", lifetime_of(stored, explanation));
    saying.add("", stale_rules_of(*stored.entry));
  }
  if (explanation.cached.more_on_disk) {
    saying.add("", "the disk may hold other variants (hearsay cache show)");
  }
  if (!explanation.cached.disk_fault.empty()) {
    saying.add("disk", "not looked at: " + explanation.cached.disk_fault);
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
    saying.add("neighbour", std::move(what));
  }
  if (!explanation.sources.owner.empty()) {
    saying.add("owner", explanation.sources.owner + " is asked whether it fetches this");
  }
}

void say_origin(Saying& saying, const Explanation& explanation) {
  const auto& origin = explanation.sources.origin;
  saying.add("parents", fmt::format("{}", fmt::join(origin.parents, ", ")));
  auto servers = fmt::format("{}", fmt::join(origin.servers, ", "));
  if (!servers.empty() && origin.takes) {
    servers += fmt::format(", {:.1f} ms to the first byte",
                           static_cast<double>(origin.takes->count()) / 1000);
  }
  saying.add("origin", std::move(servers));
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
  return std::move(saying).all();
}

}  // namespace proxy
