#include "proxy/reply/own_message.hpp"

#include <boost/beast/http/empty_body.hpp>

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/version.hpp"

namespace proxy::reply {

using beast::http::field;

OwnHead own_head(const client::Client& client, unsigned status, std::string_view content_type,
                 const http::CacheStatus& cache_status) {
  const auto& access = client.access;
  client.state.mirrored.reset();  // it is ours
  OwnHead head;
  head.result(status);
  head.set(field::server, kProduct);
  // Date in wall time, even if the clock that rules follow is apart from it: the client compares it
  // with its own (RFC 9110 6.6.1).
  head.set(field::date, http::format_date(machine::whole_seconds(access.clock().shown())));
  head.set(field::via, "1.1 " + access.name());
  if (!content_type.empty()) head.set(field::content_type, content_type);
  // The record first: the log and the field are written from the same words.
  client.record.told = cache_status;
  std::string said;
  http::PieceWriter value(said);
  client::write_cache_status_value(value, client);
  value.flush();
  head.set("Cache-Status", said);
  if (client.tells_epoch)
    head.set(peers::kEpochField, access.fetching.sources.shared.publisher.epochs());
  return head;
}

OwnMessage own_message(const client::Client& client, unsigned status, std::string_view content_type,
                       std::string body, const http::CacheStatus& cache_status) {
  OwnMessage message(own_head(client, status, content_type, cache_status), std::move(body));
  message.set(field::cache_control, "no-store");
  return message;
}

void record_content_type(client::Client& client, const OwnHead& head) {
  const std::string_view type = head[field::content_type];
  client.record.content_type = type.substr(0, type.find(';'));
}

net::Task<net::error_code> send_head(client::Client& client, const OwnHead& head) {
  record_content_type(client, head);
  // A serializer wants a whole message. The body that follows is none of its business.
  const beast::http::response<beast::http::empty_body> message(head);
  beast::http::serializer<false, beast::http::empty_body> serializer(message);
  const auto text = take_head(serializer);
  co_return co_await client.response.start(text, head.result_int(), std::nullopt);
}

}  // namespace proxy::reply
