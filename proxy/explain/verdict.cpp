#include <fmt/format.h>

#include <algorithm>

#include "config/text.hpp"
#include "proxy/explain/explanation.hpp"

namespace proxy {
namespace {

using cache::Action;

const StoredFacts* selected(const Explanation& explanation) {
  const auto& all = explanation.stored;
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
  for (const auto& peer : explanation.peers) {
    if (peer.asks == Asks::yes || peer.asks == Asks::on_trial) names.push_back(peer.name);
  }
  return names;
}

// The sources in their order: ", whose digest claims it, then the origin http://a.test:80".
std::string sources(const Explanation& explanation) {
  std::vector<std::string> steps;
  if (const auto names = asked(explanation); !names.empty()) {
    steps.push_back(listed(names) +
                    (names.size() > 1 ? ", whose digests claim it" : ", whose digest claims it"));
  } else if (!explanation.owner.empty()) {
    steps.push_back(explanation.owner + ", which would know who fetches it");
  }
  const auto& origin = explanation.origin;
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
  if (explanation.verdict.action == Action::refresh) {
    return text + ", which stale-while-revalidate allows; it would be renewed meanwhile";
  }
  if (explanation.offline && !stored.entry->fresh(explanation.now)) {
    text += ", but this proxy is offline";
  }
  return text;
}

std::string why_passed(const Explanation& explanation) {
  switch (explanation.verdict.reason) {
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
  if (explanation.fetching)
    return "would wait for the fetch of another request, which is under way";
  if (explanation.verdict.action == Action::complete) {
    return "is stored in part; the missing part would be asked of " + from;
  }
  if (!stored) {
    const auto* const what = explanation.verdict.reason == http::Forward::vary_miss
                                 ? "is stored, but not in this variant; would ask "
                                 : "is not stored; would ask ";
    return what + from;
  }
  const auto age = stored->entry->no_cache ? "must be validated each time"
                                           : freshness(*stored->entry, explanation.now);
  const auto* const how = explanation.verdict.action == Action::revalidate
                              ? "would be validated by "
                              : "cannot be validated, and would be fetched from ";
  return fmt::format("is stored, but {}: {}{}", age, how, from);
}

}  // namespace

std::string sentence(const Explanation& explanation) {
  if (explanation.own_page) return "is for this proxy's own pages";
  if (!explanation.refusal.empty()) {
    return fmt::format("would be refused with {}: {}", explanation.refusal_status,
                       explanation.refusal);
  }
  if (explanation.tunnel) {
    return fmt::format("would be tunnelled to {}; what passes is encrypted, and never cached",
                       sources(explanation));
  }
  const auto* const stored = selected(explanation);
  switch (explanation.verdict.action) {
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

}  // namespace proxy
