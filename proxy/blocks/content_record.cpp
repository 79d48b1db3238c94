#include "proxy/blocks/content_record.hpp"

#include <utility>

#include "proxy/cache/combine.hpp"
#include "proxy/policy/content.hpp"
#include "proxy/policy/policy.hpp"

namespace proxy::blocks {

using mirrors::ContentName;
using net::Task;

namespace {

constexpr std::string_view kLasting = "Cache-Control: max-age=31536000, immutable\r\n";

// A text that no response has which is stored under the same URL later.
std::string identity_of(const cache::Entry& stored) {
  const auto& object = stored.object();
  if (object) return "\"object-" + std::to_string(object->version) + '"';
  const auto came = stored.times().response.time_since_epoch();
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(came).count();
  return "\"came-" + std::to_string(ms) + '"';
}

cache::Ref<cache::Entry> entry_of(FetchAccess& access, const cache::Entry& stored,
                                  std::string_view url, std::string text, cache::Times times) {
  static const http::Fields kNoFields;
  const auto head = http::parse_response_head(text).value();
  const cache::Received received{.url = url,
                                 .request = kNoFields,
                                 .response = head,
                                 .times = times,
                                 .our_name = access.name(),
                                 .source = stored.source,
                                 .shared = stored.shared,
                                 .giver = stored.giver()};
  auto& budget = access.cache().budget;
  if (stored.object() && url == stored.url())
    return cache::object_entry(budget, received, *stored.object(), stored.body.size);
  return cache::Entry::make(budget, received);
}

// The fields of the other URL are for its own clients. The digest proves the bytes alone, so the
// head tells of nothing else.
cache::Ref<const cache::Entry> with_own_head(FetchAccess& access, const cache::Entry& stored,
                                             const ContentName& name) {
  auto entry = entry_of(access, stored, stored.url(), own_head_of(name), stored.times());
  if (!stored.object()) entry->body = stored.body;
  return entry;
}

}  // namespace

std::string own_head_of(const ContentName& name) {
  std::string text("HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n");
  text.append(kLasting).append("ETag: ").append(policy::entity_tag_of(name)).append("\r\n\r\n");
  return text;
}

void record_content(FetchAccess& access, const cache::Entry& stored,
                    const policy::Request& request) {
  const auto name = policy::shared_content_of(request);
  const bool is_plain = stored.status == 200 && !stored.range() && !stored.variant().varies();
  if (!name || !is_plain || stored.giver().guest || stored.url() != request.target.url()) return;
  std::string text("HTTP/1.1 200 OK\r\n");
  text.append(kLasting).append("Content-Location: ").append(stored.url());
  text.append("\r\nETag: ").append(identity_of(stored)).append("\r\n\r\n");
  const auto stored_as = policy::stored_under(*name);
  const auto now = access.clock().now();
  const auto record = entry_of(access, stored, stored_as, std::move(text), {now, now});
  (void)access.cache().store(digest::key_of(digest::Method::get, stored_as), record,
                             access.clock().steady());
}

void renew_record(FetchAccess& access, const cache::Entry& stored, const cache::Entry& freshened,
                  const policy::Request& request) {
  const auto name = policy::shared_content_of(request);
  if (!name || stored.object()) return;  // an object stays the same one
  const auto stored_as = policy::stored_under(*name);
  const auto key = digest::key_of(digest::Method::get, stored_as);
  // A record that only the disk has is not worth a read: whoever finds it drops it.
  const auto record = access.cache().in_memory(key, stored_as, request.head.fields).entry;
  if (!record) return;
  const cache::ParsedHead told(*record);
  const auto& fields = told.head.fields;
  const bool is_of_stored = fields.value(http::field::content_location) == stored.url() &&
                            fields.value(http::field::etag) == identity_of(stored);
  if (is_of_stored) record_content(access, freshened, request);
}

Task<OfContent> find_by_content(FetchAccess& access, const policy::Request& request,
                                std::function<bool(const policy::Request&)> may_ask,
                                tiers::AskedAt asked) {
  const auto name = policy::shared_content_of(request);
  if (!name) co_return OfContent{};
  const auto stored_as = policy::stored_under(*name);
  // The client has asked for neither URL, so a request of its own acts for it in each look-up.
  const policy::ActingRequest for_record(request, request.target.url(), stored_as);
  if (!for_record.get()) co_return OfContent{};
  tiers::Stored record;
  const tiers::Sought sought{digest::key_of(digest::Method::get, stored_as), asked};
  auto finding = access.cached().find(*for_record.get(), sought, record);
  co_await finding;
  if (!record.found.entry) co_return OfContent{};
  const cache::ParsedHead told(*record.found.entry);
  const auto url = told.head.fields.value(http::field::content_location);
  const policy::ActingRequest for_body(request, url);
  if (!for_body.get() || !may_ask(*for_body.get())) co_return OfContent{};
  tiers::Stored body;
  const tiers::Sought there{digest::key_of(digest::Method::get, url), asked};
  auto finding_body = access.cached().find(*for_body.get(), there, body);
  co_await finding_body;
  const auto& entry = body.found.entry;
  const bool is_it =
      entry && !entry->range() && identity_of(*entry) == told.head.fields.value(http::field::etag);
  if (!is_it) {
    access.cache().drop(sought.key, stored_as);
    co_return OfContent{};
  }
  co_return OfContent{there.key, with_own_head(access, *entry, *name)};
}

void remove_record(FetchAccess& access, const policy::Request& request) {
  const auto name = policy::shared_content_of(request);
  if (!name) return;
  const auto stored_as = policy::stored_under(*name);
  access.cache().drop(digest::key_of(digest::Method::get, stored_as), stored_as);
}

}  // namespace proxy::blocks
