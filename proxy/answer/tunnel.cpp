#include "proxy/answer/tunnel.hpp"

#include <array>

#include "proxy/answer/parent_tunnel.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

std::optional<Refusal> why_no_tunnel(Client& client, const Request& request,
                                     RequestUnderWay& under_way) {
  const auto& access = client.access;
  const auto most =
      request_limits(request.policy().settings.limits, access.crowd.all.descriptors.connections);
  if (http::via_names(request.head.fields, access.name())) return Refusal::loop();
  if (request.framing.has_body()) return Refusal::bad("CONNECT has no body");
  if (request.facts.offline) return Refusal::offline(http::Forward::method);
  if (!client.response.raw_connection()) return Refusal::no_tunnel();
  if (!under_way.begin(most)) return Refusal::too_many();
  return std::nullopt;
}

struct Direction {
  net::Stream& from;
  net::Stream& to;
  BufferPool& buffers;
  std::chrono::milliseconds idle;
  std::uint64_t& bytes;
  BandwidthUse* bandwidth = nullptr;  // null: there is no limit in this direction
};

// How many bytes may be carried now. Waits for them, and keeps both connections alive meanwhile.
Task<std::size_t> turn(Direction direction) {
  for (;;) {
    const auto allowed = direction.bandwidth->take(BufferPool::kSize);
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
    auto allowed = BufferPool::kSize;
    if (in_turns) allowed = co_await turn(direction);
    const PooledBuffer buffer(direction.buffers);
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
Task<net::error_code> send_first(Client& client, TunnelEnds& ends) {
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

// What those who look at origins see of a tunnel: the wait for its connection, then its bytes.
class ShownTunnel {
 public:
  ShownTunnel(const Client& client, const Request& request, const upstream::Endpoint& to)
      : client_(client),
        shown_(to),
        line_("CONNECT " + std::string(request.target.authority())),
        under_way_(client.access.fetching.sources.upstream.traffic, line_) {
    shown_.tls = true;
    under_way_.turn_to(shown_, shown_, nullptr, client_.access.clock().steady());
  }
  ShownTunnel(const ShownTunnel&) = delete;
  ShownTunnel& operator=(const ShownTunnel&) = delete;
  ~ShownTunnel() {
    if (connected_) under_way_.received(client_.record.bytes);
  }

  [[nodiscard]] upstream::UnderWay& under_way() { return under_way_; }
  void failed(const Failure& failure) {
    under_way_.failed(failure.what, client_.access.clock().steady());
    under_way_.end();
  }
  void connected() {
    connected_ = true;
    under_way_.answered(200, client_.access.clock().steady());
    under_way_.end();
  }

 private:
  const Client& client_;
  upstream::Endpoint shown_;
  const std::string line_;
  upstream::UnderWay under_way_;
  bool connected_ = false;
};

Task<void> tunnel_directly(Client& client, const Request& request) {
  const auto to = origin_of(request.target, request.policy().lists);
  ShownTunnel shown(client, request, to);
  auto connected = co_await client.access.fetching.sources.upstream.connector.connect(
      to, request.policy().settings.timeouts.connect, &shown.under_way());
  if (!connected) {
    const auto failure = failure_of(Failure::Where::upstream, connected.error());
    shown.failed(failure);
    co_return co_await refuse(client, request, failure, http::Forward::method);
  }
  shown.connected();
  client.record.status = 200;
  auto& server = **connected;
  const ResponseWriter::WaitsFor waits(client.response, [&server] { server.close(); });
  TunnelEnds ends{*client.response.raw_connection(), server, established_head(client)};
  co_await carry_both(client, ends);
}

}  // namespace

std::string established_head(const Client& client, std::string_view parent) {
  std::string head = "HTTP/1.1 200 Connection established\r\nVia: 1.1 ";
  head += client.access.name();
  head += "\r\n";
  auto& status = client.record.told;
  status.clear();
  status.fwd = http::Forward::method;
  if (!parent.empty()) status.detail.append("parent/").append(parent);
  http::PieceWriter text(head);
  write_cache_status(text, client);
  text.flush();
  head += "\r\n";
  return head;
}

Task<void> tunnel(Client& client, const Request& request) {
  RequestUnderWay under_way(client.share());
  if (auto refusal = why_no_tunnel(client, request, under_way)) {
    co_return co_await refuse(client, request, std::move(*refusal));
  }
  auto& record = client.record;
  record.tag = Tag::tunnel;
  record.hierarchy = Hierarchy::direct;
  record.upstream_host = request.target.host();
  const auto route = route_of(request);
  if (route.has_parents() || !route.direct) {
    const auto through = co_await tunnel_through_parent(client, request, route);
    if (through == ThroughParent::answered) co_return;
  }
  co_await tunnel_directly(client, request);
}

Task<void> carry_both(Client& client, TunnelEnds& ends) {
  client.response.close_after();
  const auto error = co_await send_first(client, ends);
  if (error) co_return;
  auto& access = client.access;
  const auto idle = access.policy->settings.timeouts.body;
  auto& stream = ends.client.stream;
  std::uint64_t up = 0;
  const Direction there{stream, ends.server, access.buffers, idle, up};
  const Direction back{
      ends.server, stream, access.buffers, idle, client.record.bytes, client.response.bandwidth()};
  // Both directions use both streams, so neither may outlive the other.
  Wakeup back_ended(access.executor());
  bool ended = false;
  net::spawn(access.executor(), carry(back), [&](const std::exception_ptr&) {
    ended = true;
    back_ended.notify();
  });
  co_await carry(there);
  while (!ended) co_await back_ended.wait();
}

}  // namespace proxy
