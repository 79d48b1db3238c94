#include "proxy/reply/from_file.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "proxy/net/socket_calls.hpp"

namespace proxy {

using net::error_code;
using net::Task;
namespace asio = net::asio;

namespace {

// One system call sends no more, so that other connections get their turn.
constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 20;

// Sends the bytes of a body in memory from `sent` up to `end`, and adds them to `sent`.
Task<error_code> send_part(Client& client, const cache::Body& body, std::uint64_t& sent,
                           std::uint64_t end) {
  std::uint64_t at = 0;  // where the slice begins
  for (const auto& slice : body.slices) {
    const auto begin = std::max(at, sent);
    const auto slice_end = std::min(at + slice.size, end);
    if (begin < slice_end) {
      const auto bytes = asio::buffer(slice.block->data() + (begin - at), slice_end - begin);
      const auto error = co_await client.response.body(bytes);
      if (error) co_return error;
      sent = slice_end;
    }
    at += slice.size;
  }
  co_return error_code{};
}

Task<error_code> send_body(Client& client, const cache::Entry& entry,
                           std::shared_ptr<FileBody> body) {
  std::uint64_t sent = 0;
  const auto error = co_await send_part_of_file(client, body, sent, body->size());
  if (error || sent == body->size()) co_return error;
  spdlog::warn("the rest of {} is not on the disk any more: the response was cut", entry.url());
  co_return asio::error::connection_aborted;
}

// The answer to HEAD.
Task<void> send_head(Client& client, const cache::Entry& entry, std::uint64_t size) {
  const auto error = co_await client.response.start(entry.head(), entry.status, size);
  if (!error) co_await client.response.finish();
}

}  // namespace

Task<error_code> send_part_of_file(Client& client, std::shared_ptr<FileBody> body,
                                   std::uint64_t& sent, std::uint64_t end) {
  const auto& place = body->stored();
  while (sent < end) {
    const auto size = std::min(end - sent, kAtOnce);
    const net::FilePart part{place.segment->file.descriptor(), place.offset + sent, size};
    const auto some = co_await client.response.body_of_file(part);
    if (!some) co_return some.error();
    sent += *some;
    if (*some == 0 || sent == end) break;
    co_await asio::post(client.access.executor(), net::use_task);
    const bool may = co_await may_go_on(client.access.fetching.cached(), body);
    if (!may) break;
  }
  if (const auto saved = body->saved()) co_return co_await send_part(client, *saved, sent, end);
  co_return error_code{};
}

Task<void> send_from_file(Client& client, const cache::Entry& entry,
                          std::shared_ptr<FileBody> body) {
  auto& response = client.response;
  const auto size = body->size();
  if (response.head_only()) co_return co_await send_head(client, entry, size);
  auto error = co_await response.start_file(entry.head(), entry.status, size);
  if (!error) error = co_await send_body(client, entry, std::move(body));
  if (error) co_return response.abort();
  error = co_await response.finish();
  if (!error) client.access.counters().bytes_from_cache.add(size);
}

}  // namespace proxy
