#include "proxy/answer/websocket.hpp"

#include "proxy/answer/tunnel.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"

namespace proxy {

using net::Task;

Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason) {
  std::string head;
  http::append_response_head(head, fetch.head(), client.access.name());
  auto& status = client.record.told;
  status.clear();
  status.fwd = reason;
  status.fwd_status = fetch.head().status;
  http::PieceWriter text(head);
  write_cache_status(text, client);
  text.flush();
  http::append_field(head, "Connection", "Upgrade");
  http::append_field(head, "Upgrade", http::kWebSocket);
  head += "\r\n";
  client.record.tag = Tag::tunnel;
  client.record.status = 101;
  TunnelEnds ends{*client.response.raw_connection(), fetch.stream(), std::move(head),
                  fetch.beyond_head()};
  co_await carry_both(client, ends);
}

}  // namespace proxy
