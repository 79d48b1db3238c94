#include "proxy/answer/relay.hpp"

#include "proxy/http/text.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/passed_head.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

// After so many buffers, other coroutines of the thread get their turn.
constexpr std::uint64_t kBuffersAtATime = 64;

void tell(Client& client, const Request& request, unsigned fwd_status, http::Forward reason,
          const PostCapture* capture, const upstream::Parent* parent) {
  auto& status = client.record.told;
  status.clear();
  status.fwd = reason;
  status.fwd_status = fwd_status;
  status.stored = capture != nullptr;
  if (parent) status.detail = "parent/" + parent->name;
  if (capture) status.ttl = capture->ttl();
  add_cache_status(client, request);
}

std::optional<std::uint64_t> length_of(const Fetch& fetch, const Request& request) {
  const auto& framing = fetch.framing();
  if (framing.kind == http::Framing::Kind::sized) return framing.length;
  if (framing.kind != http::Framing::Kind::none) return std::nullopt;
  // To HEAD, the length that the GET would have.
  if (!request.is_head()) return 0;
  return http::parse_decimal(fetch.head().fields.value(http::field::content_length));
}

// Whether the whole body was received and sent.
enum class Relayed { whole, cut };

Task<Relayed> relay_body(Client& client, const Request& request, Fetch& fetch,
                         const PooledBuffer& buffer, PostCapture* capture) {
  auto& access = client.access;
  const auto from = fetch.server().parent() ? Hierarchy::parent : Hierarchy::direct;
  auto& received = access.counters().upstream_bytes[static_cast<std::size_t>(from)];
  const auto idle = request.policy().settings.timeouts.body;
  std::uint64_t turn = 0;
  while (!fetch.body_finished()) {
    const auto read = co_await fetch.body(buffer.all(), idle);
    if (!read) co_return Relayed::cut;
    received.add(*read);
    if (capture) capture->append({buffer.data(), *read});
    // Before the client gets the last byte, because its next request may ask for this response.
    if (capture && fetch.body_finished()) capture->store();
    const auto error = co_await client.response.body(asio::const_buffer(buffer.data(), *read));
    if (error) co_return Relayed::cut;
    if (++turn % kBuffersAtATime == 0) co_await asio::post(access.executor(), net::use_task);
  }
  if (capture) capture->store();
  co_return Relayed::whole;
}

}  // namespace

Task<void> relay(Client& client, const Request& request, PassedRequest& passed,
                 const cache::Times& times, http::Forward reason, PostCapture* capture) {
  auto& response = client.response;
  auto& fetch = passed.fetch();
  const auto& head = fetch.head();
  // The time that the client took to send its body does not age the answer.
  const cache::Times answered{times.response, times.response};
  const auto text = passed_head(client.access, head, answered);
  note_content_type(client, head.fields.value(http::field::content_type));
  tell(client, request, head.status, reason, capture, fetch.server().parent());
  if (!passed.sent_whole()) response.close_after();

  const auto error = co_await response.start(text, head.status, length_of(fetch, request));
  if (error) co_return response.abort();
  const auto body = co_await relay_body(client, request, fetch, passed.buffer(), capture);
  if (body == Relayed::cut) co_return response.abort();
  // A connection on which a request was cut cannot carry another one.
  if (passed.sent_whole()) fetch.finish();
  co_await response.finish();
}

}  // namespace proxy
