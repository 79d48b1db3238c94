#include "proxy/reply/deliver.hpp"

#include "proxy/cache/partial.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/attempt.hpp"

namespace proxy::reply {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

std::string passed_head(const client::ServeAccess& access, const http::ResponseHead& head,
                        const cache::Times& times) {
  using http::field;
  std::string text;
  http::append_response_head(text, head, access.name());
  if (!head.fields.has(field::date)) {
    http::append_field(text, "Date", http::format_date(machine::whole_seconds(times.arrived())));
  }
  // Without an Age the response is new: a cache on the way would have added one (RFC 9111 5.1).
  if (head.fields.has(field::age)) {
    const auto age = floor<std::chrono::seconds>(cache::initial_age(head.fields, times));
    http::append_field(text, "Age", std::to_string(age.count()));
  }
  return text;
}

void record_content_type(client::Client& client, std::string_view content_type) {
  // Only the access log tells it, and a copy of it costs each hit a little.
  if (!client.access.observed.log.on()) return;
  client.record.content_type = http::trim(content_type.substr(0, content_type.find(';')));
}

namespace {

// `entry`: whose age is told; null: of none.
void add_fields(client::Client& client, const policy::Request& request, const cache::Entry* entry,
                cache::Time now) {
  const bool has_key = request.facts.method != cache::RequestFacts::Method::other;
  if (request.policy().settings.cache.key_in_status && has_key)
    client.record.told.key = request.stored_as();
  http::PieceWriter fields(client.state.fields);
  if (entry) fields << "Age: " << static_cast<std::uint64_t>(entry->age(now).count()) << "\r\n";
  client::write_cache_status(fields, client);
  fields.flush();
}

}  // namespace

void add_cache_status(client::Client& client, const policy::Request& request) {
  add_fields(client, request, nullptr, {});
}

void note_source(client::Client& client, const fill::Provenance& from, http::Forward reason) {
  auto& record = client.record;
  const bool sibling = from.source == cache::SourceKind::sibling;
  record.hierarchy = from.hierarchy;
  record.upstream_host = from.host;
  record.asked = from.inquiries.list;
  record.claimed = from.inquiries.claimed;
  record.storability = from.storability;
  record.tag = observe::Tag::miss;
  if (reason == http::Forward::request) record.tag = observe::Tag::client_refresh;
  if (reason == http::Forward::stale) record.tag = observe::Tag::refresh_modified;
  if (from.validated) record.tag = observe::Tag::refresh_unmodified;
  if (from.stood_in) record.tag = observe::Tag::stale_hit;

  auto& status = client.record.told;
  status.clear();
  status.fwd = reason;
  status.fwd_status = from.fwd_status;
  status.stored = from.stored;
  status.collapsed = record.collapsed;
  status.detail = from.inquiries.detail;
  if (!from.peer.empty()) {
    http::add_detail(status.detail, (sibling ? "peer/" : "parent/") + from.peer);
  }
}

namespace {

// Returns the time as of which the response is described.
cache::Time describe_filled(client::Client& client, const policy::Request& request,
                            const ToDeliver& filled) {
  const auto& head = filled.head;
  const auto& from = head.provenance;
  note_source(client, from, filled.reason);
  const auto now = client.access.clock().now();
  if (from.stored || head.is_stored()) client.record.told.ttl = head.entry->ttl(now);
  const bool sibling = from.source == cache::SourceKind::sibling;
  // RFC 9111 5.1: an Age says that the response is not first-hand. So what has just come from the
  // origin, without one, gets none.
  const bool tells_age = sibling || from.aged || head.is_stored();
  record_content_type(client, head.entry->quotes().content_type);
  add_fields(client, request, tells_age ? head.entry.get() : nullptr, now);
  return now;
}

// What is said of each stored response, after the rest of `told`.
void describe_stored(client::Client& client, const policy::Request& request, const Hit& hit,
                     cache::Time now) {
  auto& status = client.record.told;
  status.ttl = hit.entry->ttl(now);
  if (!hit.detail.empty()) {
    status.detail = std::string(hit.detail) + (status.detail.empty() ? "" : " ") + status.detail;
  }
  record_content_type(client, hit.entry->quotes().content_type);
  add_fields(client, request, hit.entry.get(), now);
}

void describe_hit(client::Client& client, const policy::Request& request, const Hit& hit,
                  cache::Time now, observe::Tag tag) {
  client.record.tag = tag;
  client.record.told.clear();
  client.record.told.hit = true;
  describe_stored(client, request, hit, now);
}

observe::Tag tag_of_hit(const observe::RequestRecord& record, bool unmodified) {
  if (unmodified) return observe::Tag::conditional_hit;
  return record.from_disk ? observe::Tag::disk_hit : observe::Tag::mem_hit;
}

// For an object some of whose blocks had to be fetched.
void describe_fetched(client::Client& client, const policy::Request& request, const Hit& hit,
                      const ObjectAnswer& answer) {
  auto& record = client.record;
  const auto peer = answer.peer();
  auto inquiries = answer.inquiries();
  record.tag = observe::Tag::miss;
  record.hierarchy = peer ? sources::hierarchy_of(*peer) : observe::Hierarchy::direct;
  record.upstream_host = peer ? peer->host : request.target.host();
  record.claimed = inquiries.claimed;
  record.asked = std::move(inquiries.list);
  auto& status = record.told;
  status.clear();
  status.detail = std::move(inquiries.detail);
  if (peer) http::add_detail(status.detail, "peer/" + peer->name);
  // RFC 9211 2.2: the request went forward, if only for some of the blocks.
  status.fwd = http::Forward::partial;
  status.stored = true;
  status.collapsed = record.collapsed = hit.there == blocks::Presence::under_way;
  describe_stored(client, request, hit, answer.now());
}

// The body of an object is read from its blocks, also if a fill has the head.
Task<Delivered> serve_object(client::Client& client, const policy::Request& request, Hit hit) {
  const auto& filled = hit.filled;
  const bool looped = http::via_names(request.head.fields, client.access.name());
  const bool asks = !request.asks_as_sibling() && !looped;
  // What only this client may get is not for a run that others read.
  const bool may_fetch = filled || hit.joins || (asks && !request.facts.never_store);
  const bool may_begin_anew =
      filled ? filled->on_outdated == OnOutdated::begin_anew : hit.joins || asks;
  const auto now = client.access.clock().now();
  ObjectAnswer answer(client, request, {hit.key, hit.entry, may_fetch}, now);
  // Before any byte is sent: a failure can still become another answer.
  const auto opened = co_await answer.open();
  if (!opened) {
    if (filled) client.state.fields.clear();  // fields for the fill's head, which is not sent
    if (answer.begin_anew() && may_begin_anew) co_return Delivered::begin_anew;
    const auto reason = filled ? filled->reason : http::Forward::partial;
    co_await refuse(client, request, opened.error(), reason);
    co_return Delivered::sent;
  }
  // Only now: the status would be wrong for a refusal.
  if (filled)
    describe_filled(client, request, *filled);
  else if (hit.there == blocks::Presence::stored)
    describe_hit(client, request, hit, now, tag_of_hit(client.record, answer.unmodified()));
  else
    describe_fetched(client, request, hit, answer);
  co_await answer.send();
  co_return Delivered::sent;
}

// Answers with the failure in place of the response.
Task<Delivered> keep_back(client::Client& client, const policy::Request& request,
                          upstream::Failure failure, http::Forward reason) {
  client.state.fields.clear();  // fields for the head that is not sent
  co_await refuse(client, request, failure, reason);
  co_return Delivered::sent;
}

}  // namespace

// Not a coroutine, since most hits are over with their first write: see send_stored().
Soon<Delivered> serve(client::Client& client, const policy::Request& request, Hit hit) {
  if (hit.entry->is_object()) return serve_object(client, request, std::move(hit));
  const auto& entry = *hit.entry;
  if (const auto failure = why_kept_back(client, entry.status))
    return keep_back(client, request, *failure, http::Forward::none);
  const auto now = client.access.clock().now();
  const bool unmodified = cache::is_unmodified_for(request.head.fields, entry, now);
  if (hit.filled)
    describe_filled(client, request, *hit.filled);
  else
    describe_hit(client, request, hit, now, tag_of_hit(client.record, unmodified));
  if (unmodified) return send_not_modified(client, entry);
  if (hit.body) return send_from_file(client, entry, std::move(hit.body));
  return send_stored(client, request, entry, now);
}

Soon<Delivered> serve_filled(client::Client& client, const policy::Request& request,
                             ToDeliver filled) {
  const auto& entry = filled.head.entry;
  const bool is_object = entry->is_object();
  const auto key =
      is_object ? digest::key_of(digest::Method::get, request.stored_as()) : digest::Key{};
  return serve(client, request, {.key = key, .entry = entry, .filled = filled});
}

namespace {

using PieceBuffers = boost::container::small_vector<asio::const_buffer, 4>;

PieceBuffers buffers_of(const fill::Pieces& pieces) {
  PieceBuffers buffers;
  for (const auto& piece : pieces) {
    buffers.emplace_back(piece.block->data() + piece.offset, piece.size);
  }
  return buffers;
}

// The head may have promised that the response is stored.
void record_end(observe::RequestRecord& record, const fill::FillReader& reader) {
  if (record.storability == cache::Storability::yes) record.storability = reader.end().storability;
}

void record_cut(observe::RequestRecord& record, const upstream::Failure& cut) {
  record.failure = upstream::word(cut.what);
  // A failure of ours, such as a reader that was left behind, says nothing of what is stored.
  const bool is_for_all = cut.where == upstream::Failure::Where::upstream;
  if (is_for_all && record.storability == cache::Storability::yes)
    record.storability = cache::Storability::incomplete;
}

// Passes what the fill lends on, within the kernel. The reader's next() tells how it has ended.
// Without a pipe, the body goes on through memory.
Task<error_code> pass_on(client::Client& client, fill::FillReader& reader) {
  const auto rest = reader.borrow();
  if (!rest) co_return error_code{};
  const net::Pipes::Lent lent(client.access.pipes);
  if (!lent.get()) reader.borrows(fill::FillReader::Borrows::no);
  while (lent.get()) {
    auto& pipe = *lent.get();
    const auto moved = co_await rest->next(pipe);
    if (!moved || *moved == 0) co_return error_code{};
    while (!pipe.empty()) {
      const auto sent = co_await client.response.body_of_file(pipe.content());
      if (!sent) co_return sent.error();
      pipe.sent(*sent);
    }
    co_await asio::post(client.access.executor(), net::use_task);  // others
  }
  co_return error_code{};
}

Task<Delivered> deliver_body(client::Client& client, const policy::Request& request,
                             fill::FillReader& reader, ToDeliver filled) {
  auto& response = client.response;
  const auto& head = filled.head;
  const auto& entry = *head.entry;
  const auto now = describe_filled(client, request, filled);
  if (cache::is_unmodified_for(request.head.fields, entry, now)) {
    co_return co_await send_not_modified(client, entry);
  }
  if (entry.is_part()) {
    http::append_field(client.state.fields, "Content-Range", http::content_range(*entry.range()));
  }
  auto first = reader.at_hand();
  const auto buffers = buffers_of(first);
  auto error = co_await response.start(entry.head(), entry.status, head.length,
                                       {buffers.data(), buffers.size()});
  // A slow client would otherwise keep the first block alive until its response ends.
  first.clear();
  if (head.length >= fill::LentBody::kLeast && response.sends_files())
    reader.borrows(fill::FillReader::Borrows::yes);
  while (!error && !client.state.head_only && !reader.at_end()) {
    const auto pieces = co_await reader.next();
    if (pieces && pieces->empty() && !reader.is_lent()) break;
    if (pieces && pieces->empty()) {
      error = co_await pass_on(client, reader);
    } else if (pieces) {
      const auto more = buffers_of(*pieces);
      error = co_await response.body(std::span(more.data(), more.size()));
      if (!error) co_await asio::post(client.access.executor(), net::use_task);  // others
    } else {
      record_cut(client.record, pieces.error());
      error = asio::error::connection_aborted;
    }
  }
  if (!error) record_end(client.record, reader);
  if (error) {
    response.abort();
  } else {
    co_await response.finish();
  }
  co_return Delivered::sent;
}

}  // namespace

Soon<Delivered> deliver(client::Client& client, const policy::Request& request,
                        fill::FillReader& reader, ToDeliver filled) {
  const auto& head = filled.head;
  if (head.entry->is_object() || head.is_stored()) return serve_filled(client, request, filled);
  if (const auto failure = why_kept_back(client, head.entry->status))
    return keep_back(client, request, *failure, filled.reason);
  return deliver_body(client, request, reader, filled);
}

}  // namespace proxy::reply
