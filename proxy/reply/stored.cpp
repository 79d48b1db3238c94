#include "proxy/reply/stored.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "digest/random_words.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/net/socket_calls.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::reply {

using net::error_code;
using net::Soon;
using net::Task;
namespace asio = net::asio;

namespace {

// As many as a response usually has, so that the list needs no allocation. More of them are written
// in turns, since one long write would keep the thread from its other clients.
constexpr std::size_t kBuffersAtOnce = 16;
using Buffers = boost::container::small_vector<asio::const_buffer, kBuffersAtOnce>;

std::string unsatisfiable_head(const client::Client& client, const cache::Entry& entry,
                               cache::Time now) {
  // Made anew: the fields of the entry describe another response than this one (RFC 9110 15.5.17).
  std::string head;
  http::append_status_line(head, 416, http::reason_phrase(416));
  http::append_field(head, "Date",
                     http::format_date(machine::whole_seconds(client.access.clock().shown(now))));
  http::append_field(head, "Via", "1.1 " + client.access.name());
  http::append_field(head, "Content-Range", http::unsatisfied_range(entry.body.size));
  return head;
}

void append(Buffers& out, const cache::Body& body) {
  for (const auto& slice : body.slices) out.emplace_back(slice.block->data(), slice.size);
}

// The bytes of the part. `at`: where the body begins in what the part counts.
void append(Buffers& out, const cache::Body& body, std::uint64_t at, const http::ByteRange& part) {
  for (const auto& slice : body.slices) {
    const auto end = at + slice.size;
    if (at > part.last) break;
    const auto from = std::max(at, part.first);
    const auto to = std::min(end, part.last + 1);
    if (from < to) out.emplace_back(slice.block->data() + (from - at), to - from);
    at = end;
  }
}

void count(client::Client& client, error_code error, std::uint64_t size) {
  // An error leaves open how much has arrived, so nothing is counted.
  if (!error && !client.state.head_only) client.access.counters().bytes_from_cache.add(size);
}

// Ends a response whose first bytes are sent once `started` is here.
Task<Delivered> send_rest(client::Client& client, Soon<error_code> started, Buffers buffers) {
  auto& response = client.response;
  const std::span<const asio::const_buffer> all(buffers.data(), buffers.size());
  auto rest = all.subspan(std::min(all.size(), kBuffersAtOnce));
  auto error = co_await std::move(started);
  while (!error && !rest.empty() && !client.state.head_only) {
    co_await asio::post(client.access.executor(), net::use_task);  // others' turn
    const auto next = rest.first(std::min(rest.size(), kBuffersAtOnce));
    rest = rest.subspan(next.size());
    error = co_await response.body(next);
  }
  if (!error) error = co_await response.finish();
  count(client, error, asio::buffer_size(all));
  co_return Delivered::sent;
}

Task<Delivered> count_once_finished(client::Client& client, Soon<error_code> finished,
                                    std::uint64_t size) {
  count(client, co_await std::move(finished), size);
  co_return Delivered::sent;
}

// Not a coroutine if the first write takes all, as it does for most hits.
Soon<Delivered> send(client::Client& client, std::string_view head, unsigned status,
                     Buffers&& buffers) {
  auto& response = client.response;
  const std::span<const asio::const_buffer> all(buffers.data(), buffers.size());
  const auto size = asio::buffer_size(all);
  const auto first = all.first(std::min(all.size(), kBuffersAtOnce));
  auto started = response.start(head, status, size, first);
  const bool is_sent = started.is_here() && !started.value() && first.size() == all.size();
  if (!is_sent) return send_rest(client, std::move(started), std::move(buffers));
  auto finished = response.finish();
  if (!finished.is_here()) return count_once_finished(client, std::move(finished), size);
  count(client, finished.value(), size);
  return Delivered::sent;
}

Task<Delivered> send_unsatisfiable(client::Client& client, const cache::Entry& entry,
                                   cache::Time now) {
  const auto head = unsatisfiable_head(client, entry, now);
  Buffers nothing;
  co_return co_await send(client, head, 416, std::move(nothing));
}

Task<Delivered> send_parts(client::Client& client, const cache::Entry& entry,
                           http::ByteRanges parts) {
  // RFC 9110 15.3.7.2: a single part has no boundary.
  const auto boundary = parts.size() > 1 ? random_boundary() : std::string();
  const auto text = cache::partial_text(entry, parts, boundary);
  Buffers buffers;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!text.openings.empty()) buffers.push_back(asio::buffer(text.openings[i]));
    append(buffers, entry.body, cache::range_of_body(entry).first, parts[i]);
  }
  if (!text.closing.empty()) buffers.push_back(asio::buffer(text.closing));
  co_return co_await send(client, text.head, 206, std::move(buffers));
}

}  // namespace

std::string random_boundary() {
  constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuv";
  const auto random = digest::unpredictable();
  std::string boundary;
  std::uint64_t word = 0;
  for (int i = 0; i < 26; ++i) {  // 130 bits; a word has 12 letters
    word = i % 12 == 0 ? random() : word / kLetters.size();
    boundary += kLetters[word % kLetters.size()];
  }
  return boundary;
}

Task<Delivered> send_not_modified(client::Client& client, const cache::Entry& entry) {
  const auto head = cache::not_modified_head(entry);
  const auto error = co_await client.response.start(head, 304, std::nullopt);
  if (!error) co_await client.response.finish();
  co_return Delivered::sent;
}

Soon<Delivered> send_stored(client::Client& client, const policy::Request& request,
                            const cache::Entry& entry, cache::Time now) {
  // Most requests have no range, and are spared a look at the entry's.
  auto wanted = request.facts.range ? cache::parts_wanted(request.facts, entry) : http::Selection{};
  switch (wanted.kind) {
    case http::Selection::Kind::parts:
      return send_parts(client, entry, std::move(wanted.parts));
    case http::Selection::Kind::none:  // RFC 9110 15.5.17
      return send_unsatisfiable(client, entry, now);
    case http::Selection::Kind::whole:
      break;
  }
  Buffers buffers;
  append(buffers, entry.body);
  return send(client, entry.head(), entry.status, std::move(buffers));
}

namespace {

// One system call sends no more, so that other connections get their turn.
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;

// Sends the bytes of a body in memory from `sent` up to `end`, and adds them to `sent`.
Task<error_code> send_part(client::Client& client, const cache::Body& body, std::uint64_t& sent,
                           std::uint64_t end) {
  Buffers rest;
  if (sent < end) append(rest, body, 0, {sent, end - 1});
  for (const auto& bytes : rest) {
    const auto error = co_await client.response.body(bytes);
    if (error) co_return error;
    sent += bytes.size();
  }
  co_return error_code{};
}

Task<error_code> send_body(client::Client& client, const cache::Entry& entry,
                           std::shared_ptr<tiers::FileBody> body) {
  std::uint64_t sent = 0;
  // A client that got fewer bytes than it was promised must see a cut, not an end.
  const auto error = co_await send_part_of_file(client, body, sent, body->size());
  if (error || sent == body->size()) co_return error;
  spdlog::warn("the rest of {} is not on the disk any more: the response was cut", entry.url());
  co_return asio::error::connection_aborted;
}

}  // namespace

Task<error_code> send_part_of_file(client::Client& client, std::shared_ptr<tiers::FileBody> body,
                                   std::uint64_t& sent, std::uint64_t end) {
  const auto& place = body->stored();
  while (sent < end) {
    const auto size = std::min(end - sent, kAtOnce);
    const net::FilePart part{place.segment->file.descriptor(), place.offset + sent, size};
    const auto some = co_await client.response.body_of_file(part);
    if (!some) co_return some.error();
    sent += *some;
    if (*some == 0 || sent == end) break;
    // The page cache may lose the rest meanwhile, and a read would then hold up the thread.
    co_await asio::post(client.access.executor(), net::use_task);
    const bool may = co_await client.access.fetching.cached().may_go_on(body);
    if (!may) break;
  }
  if (const auto saved = body->saved()) co_return co_await send_part(client, *saved, sent, end);
  co_return error_code{};
}

Task<Delivered> send_from_file(client::Client& client, const cache::Entry& entry,
                               std::shared_ptr<tiers::FileBody> body) {
  auto& response = client.response;
  const auto size = body->size();
  error_code error;
  if (client.state.head_only) {
    error = co_await response.start(entry.head(), entry.status, size);
    if (!error) co_await response.finish();
    co_return Delivered::sent;
  }
  // The head waits for the first bytes of the file, so that both leave in one packet.
  error = co_await response.start_file(entry.head(), entry.status, size);
  if (!error) error = co_await send_body(client, entry, std::move(body));
  if (error) {
    response.abort();
  } else {
    count(client, co_await response.finish(), size);
  }
  co_return Delivered::sent;
}

}  // namespace proxy::reply
