#include "proxy/pages/monitoring.hpp"

#include "proxy/pages/digest_json.hpp"
#include "proxy/pages/disk_text.hpp"
#include "proxy/pages/metrics_text.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy {

using net::Task;

Task<void> serve_digest_json(Client& client, const Request& request, RequestBody&) {
  const auto message = own_message(client, 200, "application/json",
                                   digest_json(client.worker.process, request.policy()));
  co_await send_message(client, message);
}

Task<void> serve_metrics(Client& client, const Request& request, RequestBody&) {
  const auto message = own_message(client, 200, "text/plain; version=0.0.4; charset=utf-8",
                                   metrics_text(client.worker.process, request.policy()));
  co_await send_message(client, message);
}

Task<void> serve_health(Client& client, const Request&, RequestBody&) {
  const auto& process = client.worker.process;
  const bool draining = process.draining;
  auto text = std::string(draining ? "{\"status\":\"draining\"" : "{\"status\":\"ok\"");
  text += disk_health(process.disk) + "}\n";
  const auto message =
      own_message(client, draining ? 503 : 200, "application/json", std::move(text));
  co_await send_message(client, message);
}

}  // namespace proxy
