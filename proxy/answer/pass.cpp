#include "proxy/answer/pass.hpp"

#include <array>

#include "proxy/answer/posted.hpp"
#include "proxy/answer/websocket.hpp"
#include "proxy/cache/invalidation.hpp"
#include "proxy/cache/other_methods.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/hops.hpp"
#include "proxy/http/method.hpp"
#include "proxy/http/text.hpp"
#include "proxy/reply/deliver.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/sources/upstream_request.hpp"
#include "proxy/tiers/tiers.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

// How long an origin may think about `Expect: 100-continue` before the body is asked for anyway
// (RFC 9110 10.1.1: neither side may wait for ever).
constexpr std::chrono::seconds kExpectWait{1};
constexpr int kMostInterims = 32;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// A client of HTTP/1.0 that says so is not meant (RFC 9110 10.1.1).
bool expects_continue(const http::RequestHead& request) {
  return request.minor >= 1 &&
         http::has_member(request.fields, http::field::expect, "100-continue");
}

class Passing {
 public:
  Passing(Client& client, const Request& request, BodyReader& body)
      : client_(client),
        request_(request),
        body_(body),
        buffer_(client.worker.buffers),
        fetch_(client.worker.outgoing.upstream, plan()) {}

  // Ends with the final head, or with why there is none.
  Task<Outcome<void>> ask();
  Task<void> become_websocket(http::Forward reason) {
    return proxy::become_websocket(client_, fetch_, reason);
  }
  // Ends with an error where the client did not get all of it. What comes whole is kept in
  // `posted`, where there is one.
  Task<void> relay(http::Forward reason, Posted* posted);
  [[nodiscard]] const http::ResponseHead& head() const { return fetch_.head(); }
  [[nodiscard]] const std::string& host() const { return fetch_.to().host; }

 private:
  [[nodiscard]] FetchPlan plan() const;
  Task<Outcome<void>> send_body();
  Task<bool> may_send_body();
  Task<Outcome<unsigned>> next_head();
  Task<Outcome<void>> final_head();
  [[nodiscard]] std::optional<std::uint64_t> length() const;

  Client& client_;
  const Request& request_;
  BodyReader& body_;
  const PooledBuffer buffer_;
  Fetch fetch_;
  bool have_head_ = false;  // the final one
  int interims_ = 0;
  bool sent_whole_ = false;
};

FetchPlan Passing::plan() const {
  const auto& timeouts = request_.policy().settings.timeouts;
  FetchPlan plan;
  aim(plan, request_, request_.policy().lists);
  plan.method = request_.head.method;
  plan.repeatable = http::is_idempotent(plan.method) && !request_.framing.has_body();
  plan.websocket = request_.asks_for_websocket();
  plan.connect = timeouts.connect;
  plan.first_byte = timeouts.first_byte;
  constexpr std::array kWritten{http::field::max_forwards};
  http::UpstreamRequest asked{.method = request_.head.method,
                              .target = request_.target.path(),
                              .host = request_.origin_host(),
                              .fields = request_.head.fields,
                              .received_minor = request_.head.minor,
                              .name = client_.worker.process.name,
                              .framing = request_.framing};
  const auto hops = http::hops_left(request_.head);
  const auto left = std::to_string(hops.value_or(1) - 1);  // the last hop does not pass it on
  const std::array fewer{http::Field{http::field::max_forwards, "Max-Forwards", left}};
  const std::array upgrade{http::Field{http::field::connection, "Connection", "Upgrade"},
                           http::Field{http::field::upgrade, "Upgrade", http::kWebSocket}};
  if (plan.websocket) asked.extra = upgrade;
  if (hops) {
    asked.without = kWritten;
    asked.extra = fewer;
  }
  http::append_request_head(plan.head, asked);
  return plan;
}

Task<Outcome<void>> Passing::ask() {
  const auto started = co_await fetch_.start();
  if (!started) co_return started;
  if (request_.framing.has_body()) {
    const bool wanted = co_await may_send_body();
    if (wanted) {
      const auto sent = co_await send_body();
      // A server that will not have the body may say so, and close: its answer counts.
      const bool clients_fault = !sent && sent.error().where == Failure::Where::client;
      if (clients_fault) co_return sent;
    }
  } else {
    sent_whole_ = true;
  }
  co_return co_await final_head();
}

// With Expect: what the origin says within a second, or nothing, decides.
Task<bool> Passing::may_send_body() {
  if (!expects_continue(request_.head)) co_return true;
  const bool answers = co_await fetch_.answers_within(kExpectWait);
  if (!answers) {
    co_await client_.reply.interim(kContinue);
    co_return true;
  }
  for (;;) {
    const auto status = co_await next_head();
    if (!status || have_head_) co_return false;
    if (*status == 100) co_return true;
  }
}

// One head from the origin: an interim one is passed on, the final one kept. Its status.
Task<Outcome<unsigned>> Passing::next_head() {
  const auto head = co_await fetch_.response();
  if (!head) co_return head.error();
  const auto status = (*head)->status;
  have_head_ = !(*head)->interim() || status == 101;  // of one that was not asked for: an error
  if (have_head_) co_return status;
  if (++interims_ > kMostInterims) {
    co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
  }
  const auto text = interim_text(**head, client_.worker.process.name);
  co_await client_.reply.interim(text);
  co_return status;
}

Task<Outcome<void>> Passing::send_body() {
  const auto idle = request_.policy().settings.timeouts.body;
  const bool chunked = request_.framing.kind == http::Framing::Kind::chunked;
  std::string size_line;
  for (;;) {
    // Interim answers are no reason to stop; a final one, or an end, is.
    while (!have_head_ && fetch_.answered_early()) {
      const auto status = co_await next_head();
      if (!status) co_return status.error();
    }
    if (have_head_) break;
    const auto read = co_await body_.read(buffer_.all(), idle);
    if (!read) co_return failure_of(Failure::Where::client, read.error());
    boost::container::small_vector<asio::const_buffer, 4> out;
    if (*read > 0) out.push_back(asio::buffer(buffer_.data(), *read));
    if (chunked && *read > 0) {
      size_line.clear();
      http::append_chunk_size(size_line, *read);
      out.insert(out.begin(), asio::buffer(size_line));
      out.push_back(asio::buffer("\r\n", 2));
    }
    // Its end goes out with its last bytes: an answer to them is no early one.
    const bool last = body_.finished();
    if (chunked && last) out.push_back(asio::buffer(http::kLastChunk));
    const auto sent = co_await fetch_.send({out.data(), out.size()});
    if (!sent) co_return sent;
    sent_whole_ = last;
    if (last) break;
  }
  co_return boost::system::in_place_value;
}

Task<Outcome<void>> Passing::final_head() {
  while (!have_head_) {
    const auto status = co_await next_head();
    if (!status) co_return status.error();
  }
  co_return boost::system::in_place_value;
}

std::optional<std::uint64_t> Passing::length() const {
  const auto& framing = fetch_.framing();
  if (framing.kind == http::Framing::Kind::sized) return framing.length;
  if (framing.kind != http::Framing::Kind::none) return std::nullopt;
  // To HEAD, the length that the GET would have.
  if (!request_.is_head()) return 0;
  return http::parse_decimal(head().fields.value(http::field::content_length));
}

Task<void> Passing::relay(http::Forward reason, Posted* posted) {
  auto& worker = client_.worker;
  auto& reply = client_.reply;
  auto& fields = reply.fields();
  std::string text;
  http::append_response_head(text, head(), worker.process.name);
  if (!head().fields.has(http::field::date)) {  // RFC 9110 6.6.1
    http::append_field(fields, "Date",
                       http::format_date(whole_seconds(worker.process.clock.now())));
  }
  if (const auto* age = head().fields.find(http::field::age)) {
    http::append_field(fields, "Age", age->value);
  }
  http::CacheStatus status;
  status.fwd = reason;
  status.fwd_status = head().status;
  status.stored = posted != nullptr;
  if (posted) status.ttl = posted->ttl();
  add_cache_status(client_, request_, std::move(status));
  reply.record().content_type = head().fields.value(http::field::content_type);
  if (!sent_whole_) reply.close_after();

  auto error = co_await reply.start(text, head().status, length());
  auto& bytes = worker.counters.upstream_bytes[static_cast<std::size_t>(Hierarchy::direct)];
  const auto idle = request_.policy().settings.timeouts.body;
  std::uint64_t turn = 0;
  while (!error && !fetch_.body_finished()) {
    const auto read = co_await fetch_.body(buffer_.all(), idle);
    if (!read) {
      reply.close_after();
      co_return;
    }
    bytes.add(*read);
    if (posted) posted->append({buffer_.data(), *read});
    // Before the client has it whole, and may ask for it.
    if (posted && fetch_.body_finished()) posted->store();
    error = co_await reply.body(asio::const_buffer(buffer_.data(), *read));
    if (++turn % 64 == 0) co_await asio::post(worker.io.get_executor(), net::use_task);
  }
  if (error) {
    reply.close_after();
    co_return;
  }
  if (posted) posted->store();
  if (sent_whole_) fetch_.finish();
  co_await reply.finish();
}

Task<void> invalidate(Client& client, const Request& request, const http::ResponseHead& answer) {
  for (const auto& target : cache::invalidated_by(request.head.method, request.target, answer)) {
    const auto name = request.stored_as(target);
    const auto key = digest::key_of(digest::Method::get, name);
    co_await forget(client.worker, key, name);
  }
}

// What is held, where it may answer for an origin that failed: by this status, or without one.
std::optional<FillHead> stand_in(const Client& client, const Request& request,
                                 std::string_view host, std::shared_ptr<const cache::Entry> stale,
                                 const Outcome<unsigned>& answered) {
  const auto& process = client.worker.process;
  if (!stale || (answered && !cache::is_error_to_stand_in_for(*answered))) return std::nullopt;
  const auto leave =
      answered ? std::chrono::seconds(0) : request.policy().leave_after(answered.error());
  if (!cache::may_stand_in(request.facts, *stale, process.clock.now(), leave)) return std::nullopt;
  Provenance from;
  from.host = host;
  from.stood_in = true;
  from.detail = "stale-if-error/";
  if (answered) {
    from.fwd_status = *answered;
    from.detail += std::to_string(*answered);
  } else {
    from.detail += word(answered.error().what);
  }
  const auto length = stale->body.size;
  return FillHead{std::move(stale), length, false, {}, std::move(from)};
}

// An answer to HEAD tells of what is stored for GET. `since`: when it was asked for.
void heed_head(Client& client, const Request& request, const http::ResponseHead& answer,
               const cache::Times& times, std::chrono::steady_clock::time_point since) {
  auto& process = client.worker.process;
  const auto& url = request.stored_as();
  const auto key = digest::key_of(digest::Method::get, url);
  const auto held = process.store.find(key, url, request.head.fields).entry;
  const auto says =
      held ? cache::head_says(request.facts, answer, *held) : cache::HeadSays::nothing;
  if (says == cache::HeadSays::changed) drop(process, key, url);
  if (says != cache::HeadSays::unchanged || process.fills.outdated(key, url, since)) return;
  const cache::Received received{.url = url,
                                 .request = request.head.fields,
                                 .response = answer,
                                 .times = times,
                                 .our_name = process.name,
                                 .targets = targets_for(request, request.policy().settings.cache),
                                 .bounds = request.facts.freshness};
  const auto updated =
      cache::freshen(process.budget, *held, cache::as_get(request.facts), received);
  if (updated.storability == cache::Storability::yes) {
    keep(process, key, updated.entry, since, held.get());
  } else {
    drop(process, key, url);
  }
}

// Whether the answer may be kept as that to a GET: nothing has changed since it was asked for.
bool may_keep(Process& process, const Request& request,
              std::chrono::steady_clock::time_point since) {
  if (request.head.method != "POST") return false;
  const auto& name = request.stored_as();
  return !process.fills.outdated(digest::key_of(digest::Method::get, name), name, since);
}

}  // namespace

Task<void> pass(Client& client, const Request& request, BodyReader& body, http::Forward reason,
                std::shared_ptr<const cache::Entry> stale) {
  auto& record = client.reply.record();
  record.tag = reason == http::Forward::request ? Tag::client_refresh : Tag::miss;
  record.hierarchy = Hierarchy::direct;
  auto& worker = client.worker;
  const auto begun = std::chrono::steady_clock::now();
  cache::Times times{worker.process.clock.now(), {}};
  Passing passing(client, request, body);
  const auto asked = co_await passing.ask();
  record.upstream_host = passing.host();
  times.response = worker.process.clock.now();
  const auto answered = asked ? Outcome<unsigned>(passing.head().status) : asked.error();
  const auto held = stand_in(client, request, passing.host(), std::move(stale), answered);
  if (held) co_return co_await deliver_stored(client, request, *held, reason);
  if (!asked) co_return co_await refuse(client, request, asked.error(), reason);
  if (passing.head().status == 101) {
    record.tag = Tag::tunnel;
    record.status = 101;
    co_return co_await passing.become_websocket(reason);
  }
  const bool kept = may_keep(worker.process, request, begun);  // our own invalidation counts, too
  co_await invalidate(client, request, passing.head());
  if (request.is_head()) heed_head(client, request, passing.head(), times, begun);
  std::unique_ptr<Posted> posted;
  if (kept) posted = Posted::begin(worker, request, passing.head(), times);
  co_await passing.relay(reason, posted.get());
}

}  // namespace proxy
