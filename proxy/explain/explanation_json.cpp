#include <nlohmann/json.hpp>

#include "proxy/explain/explanation.hpp"

namespace proxy {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

std::string_view word_of(cache::Action action) {
  using cache::Action;
  switch (action) {
    case Action::serve:
      return "serve";
    case Action::refresh:
      return "refresh";
    case Action::refuse:
      return "refuse";
    case Action::pass:
      return "pass";
    case Action::fetch:
      return "fetch";
    case Action::revalidate:
      return "revalidate";
    case Action::complete:
      break;
  }
  return "complete";
}

std::string_view action_of(const Explanation& explanation) {
  if (explanation.own_page) return "own-page";
  if (!explanation.refused.reason.empty()) return word_of(cache::Action::refuse);
  return explanation.tunnel ? "tunnel" : word_of(explanation.cached.verdict.action);
}

Json vary_json(const http::Variant& variant) {
  Json fields = Json::object();
  for (const auto& field : variant.selecting_fields()) {
    fields[field.name] = field.value ? Json(*field.value) : Json(nullptr);
  }
  return fields;
}

Json freshness_json(const StoredFacts& stored, const Explanation& explanation) {
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

Json stored_json(const StoredFacts& stored, const Explanation& explanation) {
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
  const auto ms = [](auto time) { return static_cast<double>(time.count()) / 1000; };
  return {{"parents", origin.parents},
          {"servers", origin.servers},
          {"first_byte_ms", origin.takes ? Json(ms(*origin.takes)) : Json(nullptr)}};
}

}  // namespace

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
  for (const auto& [about, text] : sentences(explanation)) {
    json["sentences"].push_back({{"about", about}, {"text", text}});
  }
  for (const auto& stored : explanation.cached.stored) {
    json["stored"].push_back(stored_json(stored, explanation));
  }
  for (const auto& peer : explanation.sources.peers) json["peers"].push_back(peer_json(peer));
  // A URL or a name of a neighbour may have bytes that are no UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace proxy
