#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/text.hpp"
#include "proxy/explain/words.hpp"

namespace proxy {
namespace {

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
  auto client = explanation.client;
  if (!explanation.user.empty()) client += ", user " + explanation.user;
  if (explanation.refusal.empty() && !own_page) client += ", allowed";
  saying.add("client", std::move(client));
  saying.add("refused", explanation.refusal);
  saying.add("rule", explanation.rule);
  saying.add("as", explanation.reverse && !own_page ? "a server (setting reverse)" : "");
  saying.add("key", explanation.key);
  if (explanation.stored_as != explanation.url) saying.add("stored as", explanation.stored_as);
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
  for (const auto& stored : explanation.stored) {
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
  if (explanation.more_on_disk) {
    saying.add("", "the disk may hold other variants (hearsay cache show)");
  }
  if (!explanation.disk_fault.empty()) {
    saying.add("disk", "not looked at: " + explanation.disk_fault);
  }
}

void say_neighbours(Saying& saying, const Explanation& explanation) {
  for (const auto& peer : explanation.peers) {
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
  if (!explanation.owner.empty()) {
    saying.add("owner", explanation.owner + " is asked whether it fetches this");
  }
}

void say_origin(Saying& saying, const Explanation& explanation) {
  const auto& origin = explanation.origin;
  saying.add("parents", fmt::format("{}", fmt::join(origin.parents, ", ")));
  auto servers = fmt::format("{}", fmt::join(origin.servers, ", "));
  if (!servers.empty() && origin.takes) {
    servers += fmt::format(", {:.1f} ms to the first byte",
                           static_cast<double>(origin.takes->count()) / 1000);
  }
  saying.add("origin", std::move(servers));
}

}  // namespace

std::vector<Said> sentences(const Explanation& explanation) {
  Saying saying;
  say_request(saying, explanation);
  say_stored(saying, explanation);
  say_neighbours(saying, explanation);
  say_origin(saying, explanation);
  return std::move(saying).all();
}

}  // namespace proxy
