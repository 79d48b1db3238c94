#include "proxy/deliver.hpp"

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::size_t kSlicesAtOnce = 16;

void add_age(std::string& fields, const cache::Entry& entry, cache::Time now) {
  fields += "Age: ";
  http::append_decimal(fields, static_cast<std::uint64_t>(entry.age(now).count()));
  fields += "\r\n";
}

void add_cache_status(Client& client, const http::CacheStatus& status) {
  auto& fields = client.reply.fields();
  fields += "Cache-Status: ";
  http::append_cache_status(fields, client.worker.shared.name, status);
  fields += "\r\n";
}

bool answers_with_304(const Request& request, const cache::Entry& entry, cache::Time now) {
  const auto& fields = request.head.fields;
  if (!fields.has(http::field::if_none_match) && !fields.has(http::field::if_modified_since)) {
    return false;
  }
  return entry.status == 200 && http::not_modified(fields, entry.validators(), whole_seconds(now));
}

// The entry's fields under another status line.
std::string not_modified_head(const cache::Entry& entry) {
  std::string head;
  http::append_status_line(head, 304, http::reason_phrase(304));
  head += std::string_view(entry.head).substr(entry.head.find("\r\n") + 2);
  return head;
}

Task<void> send_not_modified(Client& client, const cache::Entry& entry) {
  const auto head = not_modified_head(entry);
  const auto error = co_await client.reply.start(head, 304, std::nullopt);
  if (!error) co_await client.reply.finish();
}

// For the log alone: the value of Content-Type without its parameters.
void note_content_type(Client& client, const cache::Entry& entry) {
  if (!client.worker.shared.log.on()) return;
  constexpr std::string_view kName = "Content-Type:";
  std::string_view lines = entry.head;
  for (auto end = lines.find('\n'); end != lines.npos; end = lines.find('\n')) {
    lines.remove_prefix(end + 1);
    if (lines.size() < kName.size() || !http::same_word(lines.substr(0, kName.size()), kName)) {
      continue;
    }
    const auto value = lines.substr(kName.size());
    client.reply.record().content_type = http::trim(value.substr(0, value.find_first_of(";\r")));
    return;
  }
}

}  // namespace

Task<void> serve(Client& client, const Request& request, const cache::Entry& entry,
                 cache::Time now) {
  auto& reply = client.reply;
  reply.record().tag = Tag::mem_hit;
  note_content_type(client, entry);
  add_age(reply.fields(), entry, now);
  http::CacheStatus status;
  status.hit = true;
  status.ttl = entry.ttl(now);
  add_cache_status(client, status);
  if (answers_with_304(request, entry, now)) {
    reply.record().tag = Tag::conditional_hit;
    co_return co_await send_not_modified(client, entry);
  }
  const auto& slices = entry.body.slices;
  boost::container::small_vector<asio::const_buffer, kSlicesAtOnce> first;
  const auto at_once = std::min(slices.size(), kSlicesAtOnce);
  for (std::size_t i = 0; i < at_once; ++i) {
    first.emplace_back(slices[i].block->data(), slices[i].size);
  }
  auto error =
      co_await reply.start(entry.head, entry.status, entry.body.size, {first.data(), first.size()});
  for (auto i = at_once; i < slices.size() && !error && !reply.head_only(); ++i) {
    error = co_await reply.body(asio::const_buffer(slices[i].block->data(), slices[i].size));
    if (i % kSlicesAtOnce == 0) {
      co_await asio::post(client.worker.io.get_executor(), net::use_task);
    }
  }
  if (!error) error = co_await reply.finish();
  if (!error && !reply.head_only()) client.worker.counters.bytes_from_cache.add(entry.body.size);
}

namespace {

void describe(Client& client, const FillHead& head, http::Forward reason) {
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
  if (sibling || from.validated || from.stood_in || head.entry->age(now).count() > 0) {
    add_age(client.reply.fields(), *head.entry, now);
  }
  add_cache_status(client, status);
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

}  // namespace

Task<void> deliver(Client& client, const Request& request, FillReader& reader, const FillHead& head,
                   http::Forward reason) {
  auto& reply = client.reply;
  const auto& entry = *head.entry;
  describe(client, head, reason);
  note_content_type(client, entry);
  if (answers_with_304(request, entry, client.worker.shared.clock.now())) {
    co_return co_await send_not_modified(client, entry);
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

}  // namespace proxy
