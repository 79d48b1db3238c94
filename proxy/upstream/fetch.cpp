#include "proxy/upstream/fetch.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;

Fetch::Fetch(const Upstream& on, FetchPlan&& plan)
    : on_(on), plan_(std::move(plan)), server_(on_, plan_) {}

Failure Fetch::failed(net::error_code cause) const {
  if (abandoned_) return {Failure::Where::us, Failure::What::abandoned, cause};
  return failure_of(Failure::Where::upstream, cause);
}

Task<Outcome<void>> Fetch::connect(bool may_reuse, Clock::time_point now) {
  input_.reset();
  answer_.text.clear();
  heard_ = false;
  server_.turn_to(now);
  if (plan_.parents_only && !server_.parent()) co_return failed(upstream::Errc::no_parent_left);
  stream_ = may_reuse ? on_.pool.take(server_.to()) : nullptr;
  reused_ = stream_ != nullptr;
  if (!reused_) {
    if (const auto known = server_.known_failure()) co_return failed(known);
    auto fresh = co_await on_.connector.connect(server_.to(), server_.connect_time());
    if (!fresh) {
      server_.note_unreachable(fresh.error());
      co_return failed(fresh.error());
    }
    stream_ = std::move(*fresh);
  }
  if (abandoned_) co_return failed({});
  input_.emplace(*stream_, on_.buffers);
  stream_->expires_after(server_.first_byte_time());
  const auto* const by = server_.parent();
  const auto to_parent =
      by ? http::to_proxy(plan_.head, plan_.route.site, by->authorization) : std::string();
  const std::string& head = by ? to_parent : plan_.head;
  const std::array<net::asio::const_buffer, 1> whole{net::asio::buffer(head)};
  const auto sent = stream_->try_write(whole);
  if (!sent) co_return failed(sent.error());
  if (*sent < head.size()) {
    const auto error = co_await stream_->write_rest(whole, *sent);
    if (error) co_return failed(error);
  }
  co_return boost::system::in_place_value;
}

// Not a coroutine, like most that a miss passes through: each frame costs every miss.
Task<Outcome<void>> Fetch::start(Clock::time_point now) {
  if (plan_.route.has_parents() || !plan_.route.direct) return start_by_route(now);
  server_.next();
  return ask_in_turn(now);
}

Task<Outcome<void>> Fetch::start_by_route(Clock::time_point now) {
  if (plan_.route.leads_nowhere()) co_return failed(upstream::Errc::no_route);
  const auto objection = co_await on_.connector.objection(plan_.to, plan_.connect);
  if (objection) co_return failed(objection);
  server_.next();
  co_return co_await ask_in_turn(now);
}

// Sends the head to the chosen server or, if that one cannot be reached, to the next one.
Task<Outcome<void>> Fetch::ask_in_turn(Clock::time_point now) {
  for (;; now = Clock::now()) {
    auto sent = co_await connect(plan_.repeatable, now);
    if (!sent && reused_ && !abandoned_) sent = co_await connect(false, Clock::now());
    if (sent || !moves_on(sent.error())) co_return sent;
  }
}

// Returns whether the fetch continues with another server.
bool Fetch::moves_on(const Failure& failure) {
  constexpr std::string_view kBegin = "HTTP/";
  const bool speaks_http =
      answer_.text.starts_with(kBegin) || (input_ && input_->buffered().starts_with(kBegin));
  return server_.moves_on(failure, {.any = heard_, .http = speaks_http});
}

Task<Outcome<void>> Fetch::send(std::span<const net::asio::const_buffer> bytes) {
  stream_->expires_after(on_.timeouts.body);
  const auto error = co_await stream_->write(bytes);
  if (error) co_return failed(error);
  co_return boost::system::in_place_value;
}

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
  auto head = co_await read_head();
  while (!head || server_.goes_around((*head)->status)) {
    if (!head && died_unheard(head.error())) {
      const auto on_new_one = co_await connect(false, Clock::now());
      if (!on_new_one) {
        head = on_new_one.error();
        continue;
      }
    } else {
      if (!head && !moves_on(head.error())) co_return head;
      const auto again = co_await ask_in_turn(Clock::now());
      if (!again) co_return again.error();
    }
    head = co_await read_head();
  }
  if (server_.refuses_login((*head)->status)) {
    co_return failed(upstream::Errc::login_refused);
  }
  server_.note_head();
  if (!(*head)->interim() && body_finished()) server_.note_answer(reused_);
  co_return head;
}

// Whether a pooled connection has turned out to be dead, so that a new one is worth a try.
bool Fetch::died_unheard(const Failure& failure) const {
  return reused_ && !heard_ && plan_.repeatable && failure.what == Failure::What::cut &&
         !abandoned_;
}

Task<Outcome<const http::ResponseHead*>> Fetch::read_head() {
  stream_->expires_after(server_.first_byte_time());
  const auto bytes = co_await input_->head(on_.limits.head.value);
  heard_ = heard_ || bytes || !input_->empty();
  if (!bytes) co_return failed(bytes.error());
  answer_.text.assign(*bytes);
  input_->consume(bytes->size());
  const http::HeadLimits limits{on_.limits.head.value, on_.limits.fields};
  auto& head = answer_.head;
  const auto parsed = http::parse_response_head(answer_.text, limits, head);
  const Failure malformed{Failure::Where::upstream, Failure::What::malformed, {}};
  if (!parsed) co_return malformed;
  const bool asked_for = plan_.websocket && http::becomes_websocket(head);
  if (head.status == 101 && !asked_for) co_return malformed;
  const auto framing = http::response_framing(head, plan_.method);
  if (!framing) co_return malformed;
  answer_.body.emplace(*input_, *framing);
  co_return &head;
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
  while (!body_has_begun()) {
    const auto read = co_await input_->fill(BufferPool::kSize);
    if (!read || abandoned_) co_return false;
  }
  co_return true;
}

Task<Outcome<std::size_t>> Fetch::body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  const bool was_finished = body_finished();
  const auto read = co_await answer_.body->read(into, idle);
  co_return judged(read, was_finished);
}

std::size_t Fetch::body_at_hand(net::asio::mutable_buffer into) {
  if (abandoned_) return 0;
  const bool was_finished = body_finished();
  const auto taken = answer_.body->at_hand(into);
  if (taken > 0 && body_finished() && !was_finished) server_.note_answer(reused_);
  return taken;
}

std::optional<TakenBytes> Fetch::whole_body() {
  if (abandoned_) return std::nullopt;
  const bool was_finished = body_finished();
  auto whole = answer_.body->whole();
  if (whole && !was_finished) server_.note_answer(reused_);
  return whole;
}

Task<Outcome<std::size_t>> Fetch::body_into(net::Pipe& pipe, std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  const bool was_finished = body_finished();
  const auto moved = co_await answer_.body->read_into(pipe, idle);
  co_return judged(moved, was_finished);
}

void Fetch::bound_silence(const net::Executor& executor, std::chrono::milliseconds idle) {
  if (!silence_) silence_.emplace(executor, [this] { stream_->close(); });
  silence_->expires_after(idle);
}

// What a read of the body has come to.
Outcome<std::size_t> Fetch::judged(net::Result<std::size_t> read, bool was_finished) {
  if (silence_) silence_->expires_never();
  // If the socket was shut down here, its end is not the end of the body.
  if (abandoned_) return failed({});
  if (silence_ && silence_->expired()) return failed(net::asio::error::timed_out);
  if (!read) {
    const auto failure = failed(read.error());
    server_.note_failure(failure);
    return failure;
  }
  if (body_finished() && !was_finished) server_.note_answer(reused_);
  return *read;
}

void Fetch::finish() {
  const bool fit = answer_.body && answer_.body->finished() && answer_.head.keep_alive() &&
                   input_->empty() && framing().kind != http::Framing::Kind::until_close &&
                   !abandoned_;
  input_.reset();
  if (fit) on_.pool.give_back(server_.to(), std::move(stream_));
  stream_.reset();
}

void Fetch::abandon() {
  abandoned_ = true;
  if (stream_) stream_->close();
}

}  // namespace proxy
