#include "proxy/answer/last_hop.hpp"

#include "proxy/http/framing.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr std::string_view kForwarded = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";

}  // namespace

bool is_last_hop(const Request& request) {
  return http::hops_left(request.head) == std::uint64_t{0};
}

Task<void> answer_as_last(Client& client, const Request& request) {
  client.record.tag = Tag::own_page;
  if (request.framing.has_body()) client.response.close_after();
  const bool trace = request.head.method == "TRACE";
  auto message = own_message(client, 200, trace ? "message/http" : "",
                             trace ? http::traced(request.head, request.target) : "");
  if (!trace) message.set(beast::http::field::allow, kForwarded);
  co_await send_message(client, message);
}

}  // namespace proxy
