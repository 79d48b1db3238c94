#include "proxy/reply/deliver.hpp"

#include "proxy/cache/not_modified.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/reply/stored.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

void add_age(std::string& fields, const cache::Entry& entry, cache::Time now) {
  fields += "Age: ";
  http::append_decimal(fields, static_cast<std::uint64_t>(entry.age(now).count()));
  fields += "\r\n";
}

// For the log alone: without parameters.
void note_content_type(Client& client, const cache::Entry& entry) {
  if (!client.worker.shared.log.on()) return;
  const auto type = entry.content_type.substr(0, entry.content_type.find(';'));
  client.reply.record().content_type = http::trim(type);
}

}  // namespace

void add_cache_status(Client& client, const Request& request, http::CacheStatus status) {
  const auto& shared = client.worker.shared;
  const bool has_key = request.facts.method != cache::RequestFacts::Method::other;
  if (shared.settings.cache.key_in_status && has_key) status.key = request.stored_as();
  append_cache_status(client.reply.fields(), client, std::move(status));
}

Task<void> serve(Client& client, const Request& request, const cache::Entry& entry, cache::Time now,
                 std::string_view detail) {
  auto& reply = client.reply;
  const bool unmodified = cache::is_unmodified_for(request.head.fields, entry, now);
  auto& record = reply.record();
  record.tag = unmodified ? Tag::conditional_hit : record.from_disk ? Tag::disk_hit : Tag::mem_hit;
  note_content_type(client, entry);
  add_age(reply.fields(), entry, now);
  http::CacheStatus status;
  status.hit = true;
  status.ttl = entry.ttl(now);
  status.detail = detail;
  add_cache_status(client, request, std::move(status));
  co_await send_stored(client, request, entry, now, unmodified);
}

namespace {

void describe_object(Client& client, const Request& request, const ObjectAnswer& answer,
                     Presence there, cache::Time now, std::string_view detail) {
  auto& record = client.reply.record();
  http::CacheStatus status;
  if (there == Presence::stored) {
    record.tag = record.from_disk ? Tag::disk_hit : Tag::mem_hit;
    if (answer.unmodified()) record.tag = Tag::conditional_hit;
    status.hit = true;
  } else {
    record.tag = Tag::miss;
    const auto peer = answer.peer();
    record.hierarchy = peer ? Hierarchy::sibling : Hierarchy::direct;
    record.upstream_host = peer ? peer->host : request.target.host();
    if (peer) status.detail = "peer/" + peer->name;
    status.fwd = http::Forward::partial;
    status.stored = true;
    status.collapsed = record.collapsed = there == Presence::under_way;
  }
  status.ttl = answer.object().ttl(now);
  if (!detail.empty()) {
    status.detail = std::string(detail) + (status.detail.empty() ? "" : " ") + status.detail;
  }
  add_cache_status(client, request, std::move(status));
}

}  // namespace

Task<bool> serve_object(Client& client, const Request& request, HeldObject held, cache::Time now,
                        std::string_view detail) {
  const auto& shared = client.worker.shared;
  const bool may_fetch = !request.facts.control.only_if_cached && !request.facts.offline &&
                         !http::via_names(request.head.fields, shared.name);
  ObjectAnswer answer(client, request, {held.key, held.entry, may_fetch}, now);
  const auto opened = co_await answer.open();
  if (!opened) {
    if (answer.begin_anew() && may_fetch) co_return false;
    co_await refuse(client, request, opened.error(), http::Forward::partial);
    co_return true;
  }
  note_content_type(client, *held.entry);
  add_age(client.reply.fields(), *held.entry, now);
  describe_object(client, request, answer, held.there, now, detail);
  co_await answer.send();
  co_return true;
}

namespace {

void describe(Client& client, const Request& request, const FillHead& head, http::Forward reason) {
  const auto& from = head.provenance;
  auto& record = client.reply.record();
  const bool sibling = from.source == cache::SourceKind::sibling;
  record.hierarchy = sibling ? Hierarchy::sibling : Hierarchy::direct;
  record.upstream_host = from.host;
  record.tag = Tag::miss;
  if (reason == http::Forward::request) record.tag = Tag::client_refresh;
  if (reason == http::Forward::stale) record.tag = Tag::refresh_modified;
  if (from.validated) record.tag = Tag::refresh_unmodified;
  if (from.stood_in) record.tag = Tag::stale_hit;

  http::CacheStatus status;
  status.fwd = reason;
  status.fwd_status = from.fwd_status;
  status.stored = from.stored;
  status.collapsed = record.collapsed;
  status.detail = from.detail;
  if (sibling) status.detail += (status.detail.empty() ? "peer/" : " peer/") + from.peer;
  const auto now = client.worker.shared.clock.now();
  if (from.stored || head.is_stored()) status.ttl = head.entry->ttl(now);
  if (sibling || from.aged || head.is_stored()) {
    add_age(client.reply.fields(), *head.entry, now);
  }
  add_cache_status(client, request, std::move(status));
}

Task<net::error_code> stream(Client& client, FillReader& reader) {
  for (;;) {
    const auto pieces = co_await reader.next();
    if (!pieces) co_return asio::error::connection_aborted;
    if (pieces->empty()) co_return net::error_code{};
    const auto error = co_await client.reply.body(*pieces);
    if (error) co_return error;
    co_await asio::post(client.worker.io.get_executor(), net::use_task);  // others' turn
  }
}

// Its body is not the fill's.
Task<bool> deliver_object(Client& client, const Request& request, const FillHead& head,
                          http::Forward reason, bool may_begin_anew) {
  const auto key = digest::key_of(digest::Method::get, request.stored_as());
  const auto now = client.worker.shared.clock.now();
  ObjectAnswer answer(client, request, {key, head.entry}, now);
  const auto opened = co_await answer.open();
  if (!opened) {
    client.reply.fields().clear();  // the fill's head is not what is going to be said
    if (answer.begin_anew() && may_begin_anew) co_return false;
    co_await refuse(client, request, opened.error(), reason);
    co_return true;
  }
  describe(client, request, head, reason);
  note_content_type(client, *head.entry);
  co_await answer.send();
  co_return true;
}

Task<void> deliver_entry(Client& client, const Request& request, const FillHead& head,
                         http::Forward reason) {
  describe(client, request, head, reason);
  note_content_type(client, *head.entry);
  const auto now = client.worker.shared.clock.now();
  const bool unmodified = cache::is_unmodified_for(request.head.fields, *head.entry, now);
  co_await send_stored(client, request, *head.entry, now, unmodified);
}

}  // namespace

Task<void> deliver_stored(Client& client, const Request& request, const FillHead& head,
                          http::Forward reason) {
  if (!head.entry->object) co_return co_await deliver_entry(client, request, head, reason);
  co_await deliver_object(client, request, head, reason, false);
}

namespace {

Task<void> deliver_body(Client& client, const Request& request, FillReader& reader,
                        const FillHead& head, http::Forward reason) {
  auto& reply = client.reply;
  const auto& entry = *head.entry;
  describe(client, request, head, reason);
  note_content_type(client, entry);
  const auto now = client.worker.shared.clock.now();
  if (cache::is_unmodified_for(request.head.fields, entry, now))
    co_return co_await send_not_modified(client, entry);
  if (entry.range) {
    http::append_field(reply.fields(), "Content-Range", http::content_range(*entry.range));
  }
  const auto first = reader.at_hand();
  boost::container::small_vector<asio::const_buffer, 4> buffers;
  for (const auto& piece : first) {
    buffers.emplace_back(piece.block->data() + piece.offset, piece.size);
  }
  auto error =
      co_await reply.start(entry.head, entry.status, head.length, {buffers.data(), buffers.size()});
  if (!error && !reply.head_only()) error = co_await stream(client, reader);
  if (error) {
    reply.close_after();
  } else {
    co_await reply.finish();
  }
}

}  // namespace

Task<bool> deliver(Client& client, const Request& request, FillReader& reader, const FillHead& head,
                   http::Forward reason, bool may_begin_anew) {
  if (head.entry->object) {
    co_return co_await deliver_object(client, request, head, reason, may_begin_anew);
  }
  if (head.is_stored()) {
    co_await deliver_entry(client, request, head, reason);
  } else {
    co_await deliver_body(client, request, reader, head, reason);
  }
  co_return true;
}

}  // namespace proxy
