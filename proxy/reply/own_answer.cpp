#include "proxy/reply/own_answer.hpp"

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/version.hpp"

namespace proxy {

using net::Task;

std::string own_head(const Client& client, unsigned status, std::string_view content_type,
                     const http::CacheStatus& status_said) {
  const auto now = client.worker.shared.clock.now();
  std::string head;
  http::append_status_line(head, status, http::reason_phrase(status));
  http::append_field(head, "Server", kProduct);
  http::append_field(head, "Date", http::format_date(whole_seconds(now)));
  http::append_field(head, "Via", "1.1 " + client.worker.shared.name);
  if (!content_type.empty()) http::append_field(head, "Content-Type", content_type);
  append_cache_status(head, client, status_said);
  return head;
}

Task<void> send_own(Client& client, const OwnAnswer& answer) {
  auto& response = client.response;
  const auto& type = answer.content_type;
  client.record.content_type = type.substr(0, type.find(';'));
  auto head = own_head(client, answer.status, type, answer.cache_status);
  http::append_field(head, "Cache-Control", "no-store");
  if (!answer.allow.empty()) http::append_field(head, "Allow", answer.allow);
  const net::asio::const_buffer bytes(answer.body.data(), answer.body.size());
  const auto error = co_await response.start(head, answer.status, answer.body.size(), {&bytes, 1});
  if (!error) co_await response.finish();
}

}  // namespace proxy
