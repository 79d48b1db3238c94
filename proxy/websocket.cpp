#include "proxy/websocket.hpp"

#include "proxy/http/forwarding.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/tunnel.hpp"

namespace proxy {

using net::Task;

Task<void> become_websocket(Client& client, Fetch& fetch, http::Forward reason) {
  const auto& name = client.worker.shared.name;
  std::string head;
  http::append_response_head(head, fetch.head(), name);
  http::CacheStatus status;
  status.fwd = reason;
  status.fwd_status = fetch.head().status;
  head += "Cache-Status: ";
  http::append_cache_status(head, name, status);
  head += "\r\n";
  http::append_field(head, "Connection", "Upgrade");
  http::append_field(head, "Upgrade", http::kWebSocket);
  head += "\r\n";
  co_await carry_both(client, fetch.stream(), head, fetch.beyond_head());
}

}  // namespace proxy
