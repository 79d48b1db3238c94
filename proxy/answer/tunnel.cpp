#include "proxy/answer/tunnel.hpp"

#include <array>

#include "proxy/http/cache_status.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

struct Way {
  net::Stream& from;
  net::Stream& to;
  BufferPool& buffers;
  std::chrono::milliseconds idle;
  std::uint64_t& bytes;
};

// One direction, to its end. No buffer is held while nothing comes. Either side's movement keeps
// both alive.
Task<void> carry(Way way) {
  for (;;) {
    way.from.expires_after(way.idle);
    way.to.expires_after(way.idle);
    const auto gone = co_await way.from.readable();
    if (gone) break;
    const PooledBuffer buffer(way.buffers);
    const auto read = co_await way.from.read_some(buffer.all());
    net::error_code error;
    if (read) error = co_await way.to.write(asio::const_buffer(buffer.data(), *read));
    if (read && !error) way.bytes += *read;
    if (!read || error) break;
  }
  way.to.shutdown_send();
}

}  // namespace

Task<void> tunnel(Client& client, const Request& request) {
  const auto& timeouts = request.policy().settings.timeouts;
  const auto& target = request.target;
  auto& record = client.reply.record();
  record.tag = Tag::tunnel;
  record.hierarchy = Hierarchy::direct;
  record.upstream_host = target.host();

  const auto to = origin_of(target, request.policy().lists);
  auto connected = co_await client.worker.outgoing.connector.connect(to, timeouts.connect);
  if (!connected) {
    const auto failure = failure_of(Failure::Where::upstream, connected.error());
    co_return co_await refuse(client, request, failure, http::Forward::method);
  }
  auto& server = **connected;
  // RFC 9110 9.3.6: a 2xx to CONNECT has neither length nor coding.
  std::string head = "HTTP/1.1 200 Connection established\r\nVia: 1.1 ";
  head += client.worker.process.name;
  http::CacheStatus status;
  status.fwd = http::Forward::method;
  head += "\r\n";
  append_cache_status(head, client, std::move(status));
  head += "\r\n";
  record.status = 200;
  co_await carry_both(client, server, head);
}

Task<void> carry_both(Client& client, net::Stream& server, const std::string& head,
                      std::string_view from_server) {
  const auto idle = client.worker.policy()->settings.timeouts.body;
  auto& record = client.reply.record();
  client.reply.close_after();
  const std::array first{asio::buffer(head), asio::buffer(from_server)};
  client.stream.expires_after(idle);
  auto error = co_await client.stream.write(first);
  if (error) co_return;
  record.bytes = asio::buffer_size(first);

  const auto early = client.input.buffered();
  server.expires_after(idle);
  if (!early.empty()) error = co_await server.write(asio::buffer(early));
  if (error) co_return;
  client.input.consume(early.size());
  client.input.release_if_empty();
  std::uint64_t up = 0;
  const Way there{client.stream, server, client.worker.buffers, idle, up};
  const Way back{server, client.stream, client.worker.buffers, idle, record.bytes};
  // Both directions at once; neither is left while the other may still use the streams.
  Wakeup back_ended(client.worker.io.get_executor());
  bool ended = false;
  asio::co_spawn(client.worker.io.get_executor(), carry(back), [&](const std::exception_ptr&) {
    ended = true;
    back_ended.notify();
  });
  co_await carry(there);
  while (!ended) co_await back_ended.wait();
}

}  // namespace proxy
