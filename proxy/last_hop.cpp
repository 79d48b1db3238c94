#include "proxy/last_hop.hpp"

#include "proxy/http/forwarding.hpp"
#include "proxy/http/hops.hpp"
#include "proxy/refuse.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr std::string_view kForwarded = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";

}  // namespace

bool is_last_hop(const Request& request) {
  return http::hops_left(request.head) == std::uint64_t{0};
}

Task<void> answer_as_last(Client& client, const Request& request) {
  auto& reply = client.reply;
  reply.record().tag = Tag::own_page;
  if (request.framing.has_body()) reply.close_after();
  const bool trace = request.head.method == "TRACE";
  const std::string_view type = trace ? "message/http" : "";
  reply.record().content_type = type;
  auto head = own_head(client, 200, type);
  http::append_field(head, "Cache-Control", "no-store");
  if (!trace) http::append_field(head, "Allow", kForwarded);
  const auto body = trace ? http::traced(request.head, request.target) : std::string();
  const auto bytes = net::asio::const_buffer(body.data(), body.size());
  const auto error = co_await reply.start(head, 200, body.size(), {&bytes, 1});
  if (!error) co_await reply.finish();
}

}  // namespace proxy
