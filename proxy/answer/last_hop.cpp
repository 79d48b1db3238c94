#include "proxy/answer/last_hop.hpp"

#include "proxy/http/hops.hpp"
#include "proxy/reply/own_answer.hpp"

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
  const auto body = trace ? http::traced(request.head, request.target) : std::string();
  OwnAnswer answer{.body = body};
  if (trace) {
    answer.content_type = "message/http";
  } else {
    answer.allow = kForwarded;
  }
  co_await send_own(client, answer);
}

}  // namespace proxy
