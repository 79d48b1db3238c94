#include "proxy/policy/content.hpp"

#include "proxy/cache/combine.hpp"
#include "proxy/http/secrets.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::policy {

std::optional<mirrors::ContentName> content_of(const Request& request) {
  const auto text = request.rule() ? request.rule()->content_name(request.target) : std::nullopt;
  return text ? mirrors::ContentName::parse(*text) : std::nullopt;
}

std::optional<mirrors::ContentName> shared_content_of(const Request& request) {
  const auto* const rule = request.rule();
  if (!rule || !rule->shares_content()) return std::nullopt;
  const auto& facts = request.facts;
  const bool is_read = facts.method != cache::RequestFacts::Method::other && !facts.for_origin;
  const bool is_of_web = request.stored_as() == request.target.url() && !request.mapping();
  const bool is_secret = facts.authorization || facts.has_credentials ||
                         http::shows_secret(request.head.fields) ||
                         http::has_signed_query(request.target.url());
  const bool is_for_all = !is_secret && !facts.never_store && !facts.control.no_store;
  return is_read && is_of_web && is_for_all ? content_of(request) : std::nullopt;
}

std::string stored_under(const mirrors::ContentName& name) {
  return cache::StoredName{cache::Space::content, name.to_text()}.encode();
}

std::string entity_tag_of(const mirrors::ContentName& name) {
  return '"' + name.to_text() + '"';
}

bool has_tag_of_digest(const cache::Entry& stored, const Request& request) {
  const auto name = content_of(request);
  return name && stored.quotes().etag == entity_tag_of(*name);
}

bool may_continue(const cache::Entry& stored, const http::Fields& answer, const Request& request) {
  const bool is_plain = !cache::is_coded(answer) && cache::same_coding(stored, answer);
  const bool is_verified = is_plain && has_tag_of_digest(stored, request);
  return is_verified || cache::same_representation(stored, answer);
}

std::optional<mirrors::ContentName> digest_of(const http::Fields& answer, const Request& request) {
  if (answer.has(http::field::content_encoding)) return std::nullopt;
  const auto name = content_of(request);
  return name ? name : mirrors::ContentName::said_by(answer);
}

}  // namespace proxy::policy
