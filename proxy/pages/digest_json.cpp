#include <fmt/chrono.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "proxy/pages/texts.hpp"

namespace proxy {
namespace {

using Json = nlohmann::ordered_json;

// RFC 3339, to the millisecond.
std::string timestamp(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(time - whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(whole)), part.count());
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json filter_json(const peers::FilterStats& stats, cache::Time now) {
  const std::chrono::duration<double> age = now - stats.built_at;
  return {{"epoch", stats.epoch},
          {"generation", stats.generation},
          {"entries", stats.entries},
          {"capacity", stats.capacity},
          {"bits", stats.bits},
          {"bits_per_entry", stats.bits_per_entry},
          {"hashes", stats.hashes},
          {"bits_set", stats.bits_set},
          {"fill_ratio", stats.fill_ratio},
          {"false_positive_rate", stats.false_positive_rate},
          {"built_at", timestamp(stats.built_at)},
          {"age_seconds", std::max(0.0, age.count())},
          {"bytes", stats.bytes}};
}

Json causes_json(const peers::Accuracy::Books& books) {
  Json causes;
  for (std::size_t cause = 0; cause < peers::kFalseHits; ++cause) {
    causes[peers::to_string(static_cast<peers::FalseHit>(cause))] = books.by_cause[cause];
  }
  return causes;
}

Json rests_json(const peers::Accuracy::Books& books) {
  auto rests = Json::object();
  for (std::size_t reason = 0; reason < peers::kReasons; ++reason) {
    const auto begun = books.rests[reason];
    if (begun > 0) rests[peers::to_string(static_cast<peers::Reason>(reason))] = begun;
  }
  return rests;
}

// What a parent has fetched for us; null for a sibling.
Json forwarding_json(const std::optional<Routes::Status>& parent) {
  if (!parent) return nullptr;
  const char* const state = parent->rests ? "resting" : parent->on_trial ? "trying" : "usable";
  return {{"state", state}, {"requests", parent->requests}, {"failures", parent->failures}};
}

Json peer_json(const peers::PeerStatus& peer, const std::optional<Routes::Status>& parent) {
  const auto& digest = peer.digest;
  const auto& books = peer.books;
  const auto reason = peers::reason_of(peer.state, books.reason);
  return {
      {"name", peer.name},
      {"url", peer.url},
      {"role", peer.role == config::Role::parent ? "parent" : "sibling"},
      {"trust", peer.trust == config::Trust::guest ? "guest" : "site"},
      {"kind", peers::to_string(peer.kind)},
      {"state", peers::to_string(peer.state)},
      {"reason", reason == peers::Reason::none ? Json(nullptr) : Json(peers::to_string(reason))},
      {"entries", or_null(digest.entries)},
      {"generation", or_null(digest.generation)},
      {"age_seconds", or_null(digest.age_seconds)},
      {"false_positive_rate", or_null(digest.false_positive_rate)},
      {"observed_false_positive_rate", or_null(peer.observed_false_positive_rate)},
      {"lookups", peer.lookups},
      {"claims", books.claims},
      {"asked", books.asked},
      {"true_hits", books.true_hits},
      {"false_hits", books.false_hits},
      {"false_hit_causes", causes_json(books)},
      {"probes", books.probes},
      {"false_misses", books.false_misses},
      {"false_miss_rate", or_null(peer.false_miss_rate)},
      {"checks", books.checks},
      {"contradictions", books.contradictions},
      {"failures", books.failures},
      {"outruns", books.outruns},
      {"unclaimed_hits", books.unclaimed_hits},
      {"rests", rests_json(books)},
      {"bytes_saved", books.bytes_saved},
      {"first_byte_ms", books.first_byte
                            ? Json(static_cast<double>(books.first_byte->count()) / 1000)
                            : Json(nullptr)},
      {"forwarding", forwarding_json(parent)},
      {"polls", peer.polls.made},
      {"polls_failed", peer.polls.failed},
      {"resyncs", peer.polls.resyncs},
      {"bytes_received", peer.polls.bytes_received},
      {"bytes_sent", or_null(peer.bytes_sent)},
      {"last_error", peer.last_error.empty() ? Json(nullptr) : Json(peer.last_error)}};
}

Json served_json(const Metrics& metrics, ServedForm form) {
  const auto sum = [&](Count DigestsSent::*count) {
    return metrics.sum([&](const ThreadCounters& of_thread) -> const Count& {
      return of_thread.digests_sent[static_cast<std::size_t>(form)].*count;
    });
  };
  return {{"requests", sum(&DigestsSent::requests)},
          {"bytes", sum(&DigestsSent::bytes)},
          {"not_modified", sum(&DigestsSent::not_modified)}};
}

}  // namespace

std::string digest_json(const PagesAccess& pages, const Policy& policy, Layout layout) {
  const auto now = pages.clock().now();
  const auto published = pages.publisher.current();
  Json json{{"name", pages.instance.name}};
  json.update(filter_json(published->live, now));
  json["squid"] = filter_json(published->squid->stats, now);
  json["peers"] = Json::array();
  const auto steady_now = pages.clock().steady();
  for (const auto& peer : policy.directory->status(steady_now)) {
    json["peers"].push_back(peer_json(peer, policy.routes.status(peer.id, steady_now)));
  }
  json["served"] = {{"native", served_json(pages.observed.metrics, ServedForm::native)},
                    {"squid", served_json(pages.observed.metrics, ServedForm::squid)}};
  return json.dump(layout == Layout::indented ? 2 : -1, ' ', true, Json::error_handler_t::replace) +
         '\n';
}

PageAnswer serve_digest_json(const Visit& visit) {
  return send_json(visit.client, digest_json(visit.pages, visit.policy()));
}

}  // namespace proxy
