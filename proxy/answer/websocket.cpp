#include "proxy/answer/websocket.hpp"

#include "proxy/answer/tunnel.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/upgrade.hpp"

namespace proxy {

using net::Task;

Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason) {
  std::string head;
  http::append_response_head(head, fetch.head(), client.worker.process.name);
  http::CacheStatus status;
  status.fwd = reason;
  status.fwd_status = fetch.head().status;
  append_cache_status(head, client, std::move(status));
  http::append_field(head, "Connection", "Upgrade");
  http::append_field(head, "Upgrade", http::kWebSocket);
  head += "\r\n";
  co_await carry_both(client, fetch.stream(), head, fetch.beyond_head());
}

}  // namespace proxy
