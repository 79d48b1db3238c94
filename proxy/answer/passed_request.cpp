#include "proxy/answer/passed_request.hpp"

#include <array>

#include "proxy/fetching/origin_answer.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/http/head.hpp"
#include "proxy/http/text.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"

namespace proxy::answer {

using net::Task;
namespace asio = net::asio;

namespace {

// How long an origin may think about `Expect: 100-continue` before the body is sent anyway (RFC
// 9110 10.1.1: neither side may wait for ever).
constexpr std::chrono::seconds kExpectWait{1};
constexpr int kMostInterims = 32;

// The expectation of a client of HTTP/1.0 is to be ignored (RFC 9110 10.1.1).
bool expects_continue(const http::RequestHead& request) {
  return request.minor >= 1 &&
         http::has_member(request.fields, http::field::expect, "100-continue");
}

enum class Asks : std::uint8_t { as_the_client, for_whole };

std::string head_for_origin(const policy::Request& request, std::string_view our_name,
                            bool websocket, Asks asks) {
  constexpr std::array kWritten{http::field::max_forwards};
  constexpr std::array kOfRange{http::field::range, http::field::if_range};
  http::UpstreamRequest asked{.method = request.head.method,
                              .target = request.target.asked_path(),
                              .host = request.origin_host(),
                              .fields = request.head.fields,
                              .received_minor = request.head.minor,
                              .name = our_name,
                              .framing = request.framing};
  const auto hops = http::hops_left(request.head);
  const auto left = std::to_string(hops.value_or(1) - 1);  // not 0 before: see answer_as_last()
  const std::array fewer{http::Field{http::field::max_forwards, "Max-Forwards", left}};
  const std::array upgrade{http::Field{http::field::connection, "Connection", "Upgrade"},
                           http::Field{http::field::upgrade, "Upgrade", http::kWebSocket}};
  if (websocket) asked.extra = upgrade;
  if (hops) {
    asked.without = kWritten;
    asked.extra = fewer;
  }
  // The two do not meet: a request with Max-Forwards is a TRACE or OPTIONS.
  if (asks == Asks::for_whole) asked.without = kOfRange;
  std::string head;
  http::append_request_head(head, asked);
  return head;
}

upstream::FetchPlan plan_for(client::Client& client, const policy::Request& request,
                             Asks asks = Asks::as_the_client) {
  const auto& access = client.access;
  upstream::FetchPlan plan;
  sources::aim(plan, request, sources::route_of(request));
  plan.method = request.head.method;
  plan.repeatable = http::is_idempotent(plan.method) && !request.framing.has_body();
  plan.websocket = request.asks_for_websocket() && client.response.raw_connection();
  // Few proxies pass on an upgrade.
  if (plan.websocket && plan.route.direct) plan.route = {};
  plan.connect = request.policy().settings.timeouts.connect;
  plan.first_byte = request.policy().settings.timeouts.first_byte;
  plan.head = head_for_origin(request, access.name(), plan.websocket, asks);
  return plan;
}

}  // namespace

PassedRequest::PassedRequest(client::Client& client, const policy::Request& request,
                             client::RequestBody& body)
    : PassedRequest(client, request, body, plan_for(client, request)) {}

PassedRequest::PassedRequest(client::Client& client, const policy::Request& request,
                             client::RequestBody& body, upstream::FetchPlan plan)
    : client_(client),
      request_(request),
      body_(body),
      buffer_(client.access.buffers),
      follow_(sources::Follow::of(client.access.fetching.sources, request, plan.head)),
      fetch_(std::make_unique<upstream::Fetch>(client.access.fetching.sources.upstream,
                                               std::move(plan))) {}

Task<upstream::Outcome<void>> PassedRequest::ask() {
  const auto begun = client_.access.clock().steady();
  const auto started = co_await fetch_->start(begun);
  if (!started) co_return started;
  if (!request_.framing.has_body()) {
    sent_whole_ = true;
    if (!follow_) co_return co_await answer_or_absence();
    const auto answered = co_await head_after_redirects(begun);
    if (!answered || !fetching::refuses_several(head(), request_.facts)) co_return answered;
    co_return co_await ask_for_whole(begun);
  }
  bool wanted = true;
  if (expects_continue(request_.head)) wanted = co_await await_continue();
  if (wanted) {
    const auto sent = co_await send_body();
    // An origin that refuses a body may answer and then close: only its answer counts.
    const bool clients_fault = !sent && sent.error().where == upstream::Failure::Where::client;
    if (clients_fault) co_return sent;
  }
  co_return co_await answer_or_absence();
}

Task<upstream::Outcome<void>> PassedRequest::answer_or_absence() {
  const auto answered = co_await final_head();
  if (answered && sources::is_absent_for(request_, fetch_->head().status))
    absent_ = sources::absent_head(fetch_->head());
  co_return answered;
}

Task<upstream::Outcome<void>> PassedRequest::ask_for_whole(sources::Follow::SteadyTime begun) {
  auto& sources = client_.access.fetching.sources;
  auto plan = plan_for(client_, request_, Asks::for_whole);
  follow_ = sources::Follow::of(sources, request_, plan.head);
  fetch_ = std::make_unique<upstream::Fetch>(sources.upstream, std::move(plan));
  have_head_ = false;
  const auto started = co_await fetch_->start(begun);
  if (!started) co_return started;
  co_return co_await head_after_redirects(begun);
}

// Returns whether the client is to send its body: the origin decides, and after kExpectWait it is.
Task<bool> PassedRequest::await_continue() {
  const bool answers = co_await fetch_->answers_within(kExpectWait);
  if (!answers) {
    co_await client_.response.interim(client::kContinue);
    co_return true;
  }
  for (;;) {
    const auto status = co_await next_head();
    if (!status || have_head_) co_return false;
    if (*status == 100) co_return true;
  }
}

// Reads one head from the origin: passes on an interim one, keeps the final one. Returns the
// status.
Task<upstream::Outcome<unsigned>> PassedRequest::next_head() {
  if (no_head_) co_return *no_head_;
  const auto head = co_await fetch_->response();
  if (!head) co_return no_head_.emplace(head.error());
  const auto status = (*head)->status;
  have_head_ = !(*head)->interim() || status == 101;  // fetch_ fails on a 101 not asked for
  if (have_head_) co_return status;
  if (++interims_ > kMostInterims) {
    co_return upstream::Failure{
        upstream::Failure::Where::upstream, upstream::Failure::What::malformed, {}};
  }
  const auto text = sources::interim_text(**head, client_.access.name());
  co_await client_.response.interim(text);
  co_return status;
}

Task<upstream::Outcome<void>> PassedRequest::send_body() {
  const auto idle = request_.policy().settings.timeouts.body;
  const bool chunked = request_.framing.kind == http::Framing::Kind::chunked;
  std::string size_line;
  while (!sent_whole_) {
    // Sending stops at a final answer or at the connection's end, but not at an interim answer.
    while (!have_head_ && fetch_->answered_early()) {
      const auto status = co_await next_head();
      if (!status) co_return status.error();
    }
    if (have_head_) break;
    const auto read = co_await body_.read(buffer_.all(), idle);
    if (!read) co_return upstream::failure_of(upstream::Failure::Where::client, read.error());
    boost::container::small_vector<asio::const_buffer, 4> out;
    if (*read > 0) out.push_back(asio::buffer(buffer_.data(), *read));
    if (chunked && *read > 0) {
      size_line.clear();
      http::append_chunk_size(size_line, *read);
      out.insert(out.begin(), asio::buffer(size_line));
      out.push_back(asio::buffer("\r\n", 2));
    }
    // The end of the body is sent with its last bytes, so that no answer to these counts as early.
    const bool last = body_.finished();
    if (chunked && last) out.push_back(asio::buffer(http::kLastChunk));
    const auto sent = co_await fetch_->send({out.data(), out.size()});
    if (!sent) co_return sent;
    sent_whole_ = last;
  }
  co_return boost::system::in_place_value;
}

Task<upstream::Outcome<void>> PassedRequest::final_head() {
  while (!have_head_) {
    const auto status = co_await next_head();
    if (!status) co_return status.error();
  }
  co_return boost::system::in_place_value;
}

Task<upstream::Outcome<void>> PassedRequest::head_after_redirects(
    sources::Follow::SteadyTime begun) {
  auto& sources = client_.access.fetching.sources;
  for (;;) {
    const auto answered = co_await final_head();
    if (!answered) co_return answered;
    const auto goes_on = co_await follow_->go_on(sources, fetch_, begun);
    if (!goes_on) co_return goes_on.error();
    have_head_ = !*goes_on;
    if (!have_head_) continue;
    if (const auto failure = reply::why_kept_back(client_, head().status)) co_return *failure;
    co_return answered;
  }
}

}  // namespace proxy::answer
