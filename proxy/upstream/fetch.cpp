#include "proxy/upstream/fetch.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/framing.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {

using net::Soon;
using net::Task;

// Not a coroutine, like most that a miss passes through: each frame costs every miss.
Soon<Outcome<void>> Fetch::start(Time now) {
  if (plan_.route.has_parents() || !plan_.route.direct) return start_by_route(now);
  server_.next();
  return ask_in_turn(now);
}

Task<Outcome<void>> Fetch::start_by_route(Time now) {
  if (plan_.route.leads_nowhere()) co_return failed(Errc::no_route);
  // A parent connects wherever it is told to, so what the settings deny must be denied here.
  const auto objection = co_await on_.connector.objection(plan_.to, plan_.connect);
  if (objection) co_return failed(objection);
  server_.next();
  co_return co_await ask_in_turn(now);
}

Soon<Outcome<void>> Fetch::ask_in_turn(Time now) {
  auto sent = connect(Connection::idle_or_fresh, now);
  if (sent.is_here() && sent.value()) return sent;  // nearly always
  return ask_others(std::move(sent));
}

Task<Outcome<void>> Fetch::ask_others(Soon<Outcome<void>> first) {
  auto sent = co_await first;
  for (;;) {
    if (!sent && reused_ && !abandoned_) {
      sent = co_await connect(Connection::fresh, on_.clock.steady());
    }
    if (sent || !server_.moves_on(sent.error(), heard_)) co_return sent;
    sent = co_await connect(Connection::idle_or_fresh, on_.clock.steady());
  }
}

// The server has failed before its answer came, or, without a failure, goes_around() has chosen
// another one.
Task<Outcome<void>> Fetch::ask_again(std::optional<Failure> failure) {
  // A server may close an idle connection just when it is used again, which tells nothing of it.
  const bool died_unheard = failure && reused_ && !heard_.any && plan_.repeatable &&
                            failure->what == Failure::What::cut && !abandoned_;
  if (died_unheard) {
    const auto sent = co_await connect(Connection::fresh, on_.clock.steady());
    if (sent) co_return sent;
    failure = sent.error();
  }
  if (failure && !server_.moves_on(*failure, heard_)) co_return *failure;
  co_return co_await ask_in_turn(on_.clock.steady());
}

Soon<Outcome<void>> Fetch::connect(Connection wanted, Time now) {
  input_.reset();
  heard_ = {};
  server_.turn_to(now);
  if (plan_.asked == FetchPlan::Asked::parents && !server_.parent()) {
    return Outcome<void>(failed(Errc::no_parent_left));
  }
  // A request that may not be sent twice gets a fresh connection: an idle one may turn out dead
  // only after the request was sent, and nobody knows then whether the origin has seen it.
  const bool may_reuse = wanted == Connection::idle_or_fresh && plan_.repeatable;
  stream_ = may_reuse ? on_.pool.take(server_.to()) : nullptr;
  reused_ = stream_ != nullptr;
  return reused_ ? send_head() : connect_anew();
}

Task<Outcome<void>> Fetch::connect_anew() {
  if (const auto known = server_.known_failure()) co_return failed(known);
  auto fresh =
      co_await on_.connector.connect(server_.to(), server_.connect_time(), &server_.under_way());
  if (!fresh) {
    on_.failed.record(server_.to(), fresh.error(), on_.clock.steady());
    co_return failed(fresh.error());
  }
  stream_ = std::move(*fresh);
  co_return co_await send_head();
}

Soon<Outcome<void>> Fetch::send_head() {
  if (abandoned_) return Outcome<void>(failed({}));
  server_.under_way().await(Awaited::nothing);
  input_.emplace(*stream_, on_.buffers);
  stream_->expires_after(server_.first_byte_time());
  if (server_.parent()) return send_head_to_parent();
  auto written = stream_->write(net::asio::buffer(plan_.head));
  if (!written.is_here()) return when_written(std::move(written));
  return written.value() ? Outcome<void>(failed(written.value())) : Outcome<void>();
}

// Made anew for each parent, and not once in the plan, since plans mostly have none.
Task<Outcome<void>> Fetch::send_head_to_parent() {
  // The head in the plan is for the origin; each parent needs its own target and login.
  const auto& authorization = server_.parent()->authorization;
  const auto head = http::to_proxy(plan_.head, plan_.route.site, authorization);
  auto written = stream_->write(net::asio::buffer(head));
  co_return co_await when_written(std::move(written));
}

Task<Outcome<void>> Fetch::when_written(Soon<net::error_code> written) {
  const auto error = co_await written;
  if (error) co_return failed(error);
  co_return boost::system::in_place_value;
}

Task<Outcome<void>> Fetch::send(std::span<const net::asio::const_buffer> bytes) {
  stream_->expires_after(on_.timeouts.body);
  const auto error = co_await stream_->write(bytes);
  if (error) co_return failed(error);
  server_.under_way().sent(on_.clock.steady());
  co_return boost::system::in_place_value;
}

// With TLS, bytes on the socket may be no answer: a session ticket, for example.
bool Fetch::answered_early() {
  return !stream_->is_tls() && (!input_->empty() || !stream_->quiet());
}

Task<bool> Fetch::answers_within(std::chrono::milliseconds time) {
  if (!input_->empty()) co_return true;
  stream_->expires_after(time);
  const auto read = co_await input_->fill(on_.limits.head.value);
  const bool silent = !read && read.error() == net::asio::error::timed_out;
  if (silent) stream_->expires_after(on_.timeouts.body);  // the connection is still usable
  co_return !silent;
}

Task<Outcome<const http::ResponseHead*>> Fetch::response() {
  for (;;) {
    stream_->expires_after(server_.first_byte_time());
    server_.under_way().await(Awaited::first_byte);
    const auto bytes = co_await input_->head(on_.limits.head.value);
    server_.under_way().await(Awaited::nothing);
    record_heard(bytes);
    const auto head = parse_head(bytes);
    if (!head || server_.goes_around((*head)->status)) {
      std::optional<Failure> failure;
      if (!head) failure = head.error();
      const auto again = co_await ask_again(failure);
      if (!again) co_return again.error();
      continue;
    }
    const bool refuses_login = server_.parent() && (*head)->status == 407;
    if (refuses_login) co_return failed(Errc::login_refused);
    server_.record_head(**head);
    if (!(*head)->interim()) record_if_whole();
    co_return head;
  }
}

// What came decides whose fault a failure is: see AskedServer::moves_on().
void Fetch::record_heard(const net::Result<std::string_view>& head) {
  const auto bytes = head ? *head : input_->buffered();
  const bool is_http = bytes.starts_with("HTTP/") || bytes.starts_with(http::kIcy);
  heard_.any = heard_.any || !bytes.empty();
  heard_.http = is_http || (heard_.http && !head);  // a whole head outweighs an earlier one
}

Outcome<const http::ResponseHead*> Fetch::parse_head(const net::Result<std::string_view>& bytes) {
  if (!bytes) return failed(bytes.error());
  answer_.text.assign(*bytes);
  input_->consume(bytes->size());
  const http::HeadLimits limits{on_.limits.head.value, on_.limits.fields};
  auto& head = answer_.head;
  const auto parsed = http::parse_response_head(answer_.text, limits, head);
  if (!parsed) return failed(make_error_code(parsed.error()));
  const bool asked_for = plan_.websocket && http::becomes_websocket(head);
  // After a 101 the connection speaks another protocol (RFC 9110 section 15.2.2), so one that was
  // not asked for leaves nothing that could be read.
  if (head.status == 101 && !asked_for) {
    return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
  }
  const auto framing = http::response_framing(head, plan_.method);
  if (!framing) return failed(make_error_code(framing.error()));
  // An interim response has no body (RFC 9112 section 6.3), whatever its fields say.
  if (head.interim()) doubtful_ = doubtful_ || !head.keep_alive();
  answer_.body.emplace(*input_, *framing);
  answer_.recorded = false;
  return &head;
}

bool Fetch::body_has_begun() const {
  constexpr std::uint64_t kBeginning = 8 * 1024;
  using Kind = http::Framing::Kind;
  const auto& framed = framing();
  if (framed.kind == Kind::none) return true;
  const auto enough = framed.kind == Kind::sized ? std::min(framed.length, kBeginning) : 1;
  return input_->buffered().size() >= enough;
}

Task<bool> Fetch::body_begins() {
  stream_->expires_after(plan_.first_byte);
  await_body();
  while (!body_has_begun()) {
    const auto read = co_await input_->fill(net::BufferPool::kSize);
    if (!read || abandoned_) co_return false;
  }
  server_.under_way().await(Awaited::nothing);
  co_return true;
}

Task<Outcome<std::size_t>> Fetch::body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  await_body();
  const auto read = co_await answer_.body->read(into, idle);
  co_return judged(read);
}

Task<Outcome<std::size_t>> Fetch::body_into(net::Pipe& pipe, std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  await_body();
  const auto moved = co_await answer_.body->read_into(pipe, idle);
  co_return judged(moved);
}

Task<void> Fetch::body_goes_on(std::chrono::milliseconds idle) {
  stream_->expires_after(idle);
  await_body();
  co_await input_->fill(net::BufferPool::kSize);
  server_.under_way().await(Awaited::nothing);
}

std::size_t Fetch::body_at_hand(net::asio::mutable_buffer into) {
  if (abandoned_) return 0;
  const auto taken = answer_.body->at_hand(into);
  server_.under_way().received(taken);
  if (taken > 0) record_if_whole();
  return taken;
}

std::optional<net::TakenBytes> Fetch::whole_body() {
  if (abandoned_) return std::nullopt;
  auto whole = answer_.body->whole();
  if (!whole) return whole;
  server_.under_way().received(whole->view().size());
  record_if_whole();
  return whole;
}

void Fetch::await_body() {
  server_.under_way().await(Awaited::body, on_.clock.steady());
}

// The deadlines of streams count in ticks, which is too coarse for a wait below a second.
void Fetch::bound_silence(const net::Executor& executor, std::chrono::milliseconds idle) {
  if (!silence_) silence_.emplace(executor, [this] { stream_->close(); });
  silence_->expires_after(idle);
}

// What a read of the body has come to.
Outcome<std::size_t> Fetch::judged(net::Result<std::size_t> read) {
  if (silence_) silence_->expires_never();
  server_.under_way().await(Awaited::nothing);
  if (read) server_.under_way().received(*read);
  // If the socket was shut down here, its end is not the end of the body.
  if (abandoned_) return failed({});
  if (silence_ && silence_->expired()) return failed(net::asio::error::timed_out);
  if (!read) {
    const auto failure = failed(read.error());
    server_.record_failure(failure);
    return failure;
  }
  record_if_whole();
  return *read;
}

void Fetch::record_if_whole() {
  if (!body_finished() || std::exchange(answer_.recorded, true)) return;
  server_.record_answer(reused_ ? AskedServer::Answer::later : AskedServer::Answer::first);
}

Failure Fetch::failed(net::error_code cause) const {
  if (abandoned_) return {Failure::Where::us, Failure::What::abandoned, cause};
  return failure_of(Failure::Where::upstream, cause);
}

void Fetch::finish() {
  // Whatever came beyond the body would pass for the answer to the next request.
  const bool fit = answer_.body && answer_.body->finished() && answer_.head.keep_alive() &&
                   input_->empty() && framing().kind != http::Framing::Kind::until_close &&
                   !doubtful_ && !abandoned_;
  server_.under_way().end();
  input_.reset();
  if (fit) on_.pool.give_back(server_.to(), std::move(stream_));
  stream_.reset();
}

void Fetch::abandon() {
  abandoned_ = true;
  if (stream_) stream_->close();
}

}  // namespace proxy::upstream
