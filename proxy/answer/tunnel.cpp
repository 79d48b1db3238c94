#include "proxy/answer/tunnel.hpp"

#include <array>

#include "proxy/http/cache_status.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::answer {

using net::Task;
namespace asio = net::asio;

namespace {

std::optional<reply::Refusal> why_no_tunnel(client::Client& client, const policy::Request& request,
                                            crowd::RequestUnderWay& under_way) {
  const auto& access = client.access;
  const auto most = crowd::request_limits(request.policy().settings.limits,
                                          access.crowd.all.descriptors.connections);
  if (http::via_names(request.head.fields, access.name())) return reply::Refusal::loop();
  if (request.framing.has_body()) return reply::Refusal::bad("CONNECT has no body");
  if (request.facts.offline) return reply::Refusal::offline(http::Forward::method);
  if (!client.response.raw_connection()) return reply::Refusal::no_tunnel();
  if (!under_way.begin(most)) return reply::Refusal::too_many();
  return std::nullopt;
}

struct Direction {
  net::Stream& from;
  net::Stream& to;
  net::BufferPool& buffers;
  std::chrono::milliseconds idle;
  std::uint64_t& bytes;
  crowd::BandwidthUse* bandwidth = nullptr;  // null: there is no limit in this direction
};

// How many bytes may be carried now. Waits for them, and keeps both connections alive meanwhile.
Task<std::size_t> turn(Direction direction) {
  for (;;) {
    const auto allowed = direction.bandwidth->take(net::BufferPool::kSize);
    if (allowed > 0) co_return static_cast<std::size_t>(allowed);
    co_await direction.bandwidth->wait(direction.idle / 2);
    direction.from.expires_after(direction.idle);
    direction.to.expires_after(direction.idle);
  }
}

// Carries one direction to its end. Takes a buffer only while there are bytes to carry. Bytes in
// either direction keep both connections alive.
Task<void> carry(Direction direction) {
  for (;;) {
    direction.from.expires_after(direction.idle);
    direction.to.expires_after(direction.idle);
    const bool can_read = co_await direction.from.readable();
    if (!can_read) break;
    const bool in_turns = direction.bandwidth && direction.bandwidth->is_limited();
    auto allowed = net::BufferPool::kSize;
    if (in_turns) allowed = co_await turn(direction);
    const net::PooledBuffer buffer(direction.buffers);
    const auto read = co_await direction.from.read_some(asio::buffer(buffer.all(), allowed));
    if (in_turns) direction.bandwidth->give_back(allowed - (read ? *read : 0));
    net::error_code error;
    if (read) error = co_await direction.to.write(asio::const_buffer(buffer.data(), *read));
    if (read && !error) direction.bytes += *read;
    if (!read || error) break;
  }
  direction.to.shutdown_send();
}

// Sends each side its first bytes, before any others are carried.
Task<net::error_code> send_first(client::Client& client, TunnelEnds& ends) {
  const auto idle = client.access.policy->settings.timeouts.body;
  auto& [stream, input] = ends.client;
  const std::array<asio::const_buffer, 2> first{asio::buffer(ends.head),
                                                asio::buffer(ends.from_server)};
  stream.expires_after(idle);
  auto error = co_await stream.write(first);
  if (error) co_return error;
  client.record.bytes = asio::buffer_size(first);

  const auto early = input.buffered();
  ends.server.expires_after(idle);
  if (!early.empty()) error = co_await ends.server.write(asio::buffer(early));
  if (error) co_return error;
  input.consume(early.size());
  input.release_if_empty();
  co_return net::error_code{};
}

void append_cache_status(std::string& head, const client::Client& client) {
  http::PieceWriter text(head);
  client::write_cache_status(text, client);
  text.flush();
}

// The response that begins a tunnel (RFC 9110 9.3.6: without length and coding). `parent`: the name
// of the parent that opened it; empty: none.
std::string established_head(const client::Client& client, std::string_view parent = {}) {
  std::string head = "HTTP/1.1 200 Connection established\r\nVia: 1.1 " + client.access.name();
  head += "\r\n";
  auto& status = client.record.told;
  status.clear();
  status.fwd = http::Forward::method;
  if (!parent.empty()) status.detail.append("parent/").append(parent);
  append_cache_status(head, client);
  head += "\r\n";
  return head;
}

Task<void> tunnel_directly(client::Client& client, const policy::Request& request) {
  const auto& upstream = client.access.fetching.sources.upstream;
  const auto to = sources::origin_of(request.target, request.policy().lists);
  // Those who look at origins see the wait for a connection, then the bytes of the tunnel.
  auto shown = to;
  shown.tls = true;
  const auto line = "CONNECT " + std::string(request.target.authority());
  upstream::UnderWay under_way(upstream.traffic, line);
  under_way.turn_to(shown, shown, nullptr, upstream.clock.steady());
  auto connected = co_await upstream.connector.connect(
      to, request.policy().settings.timeouts.connect, &under_way);
  if (!connected) {
    const auto failure =
        upstream::failure_of(upstream::Failure::Where::upstream, connected.error());
    under_way.failed(failure.what, upstream.clock.steady());
    under_way.end();
    co_return co_await reply::refuse(client, request, failure, http::Forward::method);
  }
  under_way.answered(200, upstream.clock.steady());
  under_way.end();
  client.record.status = 200;
  auto& server = **connected;
  const client::ResponseState::WaitsFor waits(client.state, [&server] { server.close(); });
  TunnelEnds ends{*client.response.raw_connection(), server, established_head(client)};
  co_await carry_both(client, ends);
  under_way.received(client.record.bytes);
}

constexpr int kMostInterimHeads = 32;

upstream::FetchPlan connect_plan(const client::Client& client, const policy::Request& request,
                                 const upstream::Route& route) {
  upstream::FetchPlan plan;
  plan.to = sources::origin_of(request.target, request.policy().lists);
  plan.route = route;
  plan.asked = upstream::FetchPlan::Asked::parents;
  plan.method = "CONNECT";
  http::append_request_head(plan.head, {.method = plan.method,
                                        .target = request.target.url(),
                                        .host = request.target.authority(),
                                        .fields = request.head.fields,
                                        .received_minor = request.head.minor,
                                        .name = client.access.name()});
  plan.connect = request.policy().settings.timeouts.connect;
  plan.first_byte = request.policy().settings.timeouts.first_byte;
  return plan;
}

// The status of the parent's final answer.
Task<upstream::Outcome<unsigned>> answer_of_parent(upstream::Fetch& fetch) {
  const auto started = co_await fetch.start();
  if (!started) co_return started.error();
  for (int interims = 0; interims <= kMostInterimHeads; ++interims) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (!(*head)->interim()) co_return (*head)->status;
  }
  co_return upstream::Failure{
      upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};
}

// Asks the parents of the route, in turn, for a tunnel to the request's host, and carries it to its
// end. A parent that answers with an error of its own is asked no more; the client gets any other
// refusal as it is. Returns whether the request was answered: if not, no parent has a way to the
// host, and the host itself may be asked.
Task<bool> tunnel_through_parent(client::Client& client, const policy::Request& request,
                                 const upstream::Route& route) {
  upstream::Fetch fetch(client.access.fetching.sources.upstream,
                        connect_plan(client, request, route));
  const client::ResponseState::WaitsFor waits(client.state, [&fetch] { fetch.abandon(); });
  const auto answered = co_await answer_of_parent(fetch);
  const bool has_no_way = !answered || *answered >= 500;
  const bool is_denied = !answered && answered.error().what == upstream::Failure::What::denied;
  if (client.state.was_cut) co_return true;
  if (has_no_way && !is_denied && route.direct) co_return false;
  if (!answered) {
    co_await reply::refuse(client, request, answered.error(), http::Forward::method);
    co_return true;
  }
  const auto& parent = *fetch.server().parent();
  client.record.hierarchy = observe::Hierarchy::parent;
  client.record.upstream_host = parent.at.host;
  if (*answered >= 300) {
    auto refusal = reply::Refusal::refused_by_parent(*answered, parent.name);
    co_await reply::refuse(client, request, std::move(refusal));
    co_return true;
  }
  client.record.status = 200;
  TunnelEnds ends{*client.response.raw_connection(), fetch.stream(),
                  established_head(client, parent.name), fetch.beyond_head()};
  co_await carry_both(client, ends);
  co_return true;
}

}  // namespace

Task<void> tunnel(client::Client& client, const policy::Request& request) {
  crowd::RequestUnderWay under_way(client.share());
  if (auto refusal = why_no_tunnel(client, request, under_way)) {
    co_return co_await reply::refuse(client, request, std::move(*refusal));
  }
  auto& record = client.record;
  record.tag = observe::Tag::tunnel;
  record.hierarchy = observe::Hierarchy::direct;
  record.upstream_host = request.target.host();
  const auto route = sources::route_of(request);
  if (route.has_parents() || !route.direct) {
    const bool answered = co_await tunnel_through_parent(client, request, route);
    if (answered) co_return;
  }
  co_await tunnel_directly(client, request);
}

Task<void> carry_both(client::Client& client, TunnelEnds& ends) {
  client.response.close_after();
  const auto error = co_await send_first(client, ends);
  if (error) co_return;
  auto& access = client.access;
  const auto idle = access.policy->settings.timeouts.body;
  auto& stream = ends.client.stream;
  std::uint64_t up = 0;
  const Direction there{stream, ends.server, access.buffers, idle, up};
  const Direction back{ends.server,           stream, access.buffers, idle, client.record.bytes,
                       client.state.bandwidth};
  // Both directions use both streams, so neither may outlive the other.
  net::Wakeup back_ended(access.executor());
  bool ended = false;
  net::spawn(access.executor(), carry(back), [&](const std::exception_ptr&) {
    ended = true;
    back_ended.notify();
  });
  co_await carry(there);
  while (!ended) co_await back_ended.wait();
}

Task<void> become_websocket(client::Client& client, upstream::Fetch& fetch, http::Forward reason) {
  std::string head;
  http::append_response_head(head, fetch.head(), client.access.name());
  auto& status = client.record.told;
  status.clear();
  status.fwd = reason;
  status.fwd_status = fetch.head().status;
  append_cache_status(head, client);
  http::append_field(head, "Connection", "Upgrade");
  http::append_field(head, "Upgrade", http::kWebSocket);
  head += "\r\n";
  client.record.tag = observe::Tag::tunnel;
  client.record.status = 101;
  TunnelEnds ends{*client.response.raw_connection(), fetch.stream(), std::move(head),
                  fetch.beyond_head()};
  co_await carry_both(client, ends);
}

}  // namespace proxy::answer
