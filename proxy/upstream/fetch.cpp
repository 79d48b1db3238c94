#include "proxy/upstream/fetch.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/framing.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;

Fetch::Fetch(const Upstream& on, FetchPlan&& plan) : on_(on), question_(on, std::move(plan)) {}

Task<Outcome<void>> Fetch::send(std::span<const net::asio::const_buffer> bytes) {
  stream().expires_after(on_.timeouts.body);
  const auto error = co_await stream().write(bytes);
  if (error) co_return question_.failed(error);
  server().under_way().sent(Clock::now());
  co_return boost::system::in_place_value;
}

bool Fetch::answered_early() {
  return !stream().is_tls() && (!input().empty() || !stream().quiet());
}

Task<bool> Fetch::answers_within(std::chrono::milliseconds time) {
  if (!input().empty()) co_return true;
  stream().expires_after(time);
  const auto read = co_await input().fill(on_.limits.head.value);
  const bool silent = !read && read.error() == net::asio::error::timed_out;
  if (silent) stream().expires_after(on_.timeouts.body);  // the connection is still usable
  co_return !silent;
}

Task<Outcome<const http::ResponseHead*>> Fetch::response() {
  auto& server = question_.server();
  for (;;) {
    question_.expect_head();
    server.under_way().await(upstream::Awaited::first_byte);
    const auto bytes = co_await input().head(on_.limits.head.value);
    server.under_way().await(upstream::Awaited::nothing);
    question_.note_heard(bytes);
    const auto head = take_head(bytes);
    if (!head || server.goes_around((*head)->status)) {
      std::optional<Failure> failure;
      if (!head) failure = head.error();
      const auto again = co_await question_.ask_again(failure);
      if (!again) co_return again.error();
      continue;
    }
    if (server.refuses_login((*head)->status)) {
      co_return question_.failed(upstream::Errc::login_refused);
    }
    server.note_head(**head);
    server.note_wish(**head);
    if (!(*head)->interim() && body_finished()) server.note_answer(question_.reused());
    co_return head;
  }
}

Outcome<const http::ResponseHead*> Fetch::take_head(const net::Result<std::string_view>& bytes) {
  if (!bytes) return question_.failed(bytes.error());
  answer_.text.assign(*bytes);
  input().consume(bytes->size());
  const http::HeadLimits limits{on_.limits.head.value, on_.limits.fields};
  auto& head = answer_.head;
  const auto parsed = http::parse_response_head(answer_.text, limits, head);
  if (!parsed) return question_.failed(make_error_code(parsed.error()));
  const bool asked_for = question_.plan().websocket && http::becomes_websocket(head);
  if (head.status == 101 && !asked_for) {
    return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
  }
  const auto framing = http::response_framing(head, question_.plan().method);
  if (!framing) return question_.failed(make_error_code(framing.error()));
  if (head.interim()) doubtful_ = doubtful_ || !head.keep_alive();
  answer_.body.emplace(input(), *framing);
  return &head;
}

bool Fetch::body_has_begun() const {
  constexpr std::uint64_t kBeginning = 8 * 1024;
  using Kind = http::Framing::Kind;
  const auto& framed = framing();
  if (framed.kind == Kind::none) return true;
  const auto enough = framed.kind == Kind::sized ? std::min(framed.length, kBeginning) : 1;
  return input().buffered().size() >= enough;
}

Task<bool> Fetch::body_begins() {
  stream().expires_after(question_.plan().first_byte);
  await_body();
  while (!body_has_begun()) {
    const auto read = co_await input().fill(BufferPool::kSize);
    if (!read || question_.abandoned()) co_return false;
  }
  server().under_way().await(upstream::Awaited::nothing);
  co_return true;
}

Task<Outcome<std::size_t>> Fetch::body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  const bool was_finished = body_finished();
  await_body();
  const auto read = co_await answer_.body->read(into, idle);
  co_return judged(read, was_finished);
}

Task<void> Fetch::body_goes_on(std::chrono::milliseconds idle) {
  stream().expires_after(idle);
  await_body();
  co_await input().fill(BufferPool::kSize);
  server().under_way().await(upstream::Awaited::nothing);
}

std::size_t Fetch::body_at_hand(net::asio::mutable_buffer into) {
  if (question_.abandoned()) return 0;
  const bool was_finished = body_finished();
  const auto taken = answer_.body->at_hand(into);
  server().under_way().received(taken);
  if (taken > 0 && body_finished() && !was_finished) server().note_answer(question_.reused());
  return taken;
}

std::optional<TakenBytes> Fetch::whole_body() {
  if (question_.abandoned()) return std::nullopt;
  const bool was_finished = body_finished();
  auto whole = answer_.body->whole();
  if (whole) server().under_way().received(whole->view().size());
  if (whole && !was_finished) server().note_answer(question_.reused());
  return whole;
}

Task<Outcome<std::size_t>> Fetch::body_into(net::Pipe& pipe, std::chrono::milliseconds idle) {
  if (idle < kExactBelow) bound_silence(co_await net::ThisExecutor(), idle);
  const bool was_finished = body_finished();
  await_body();
  const auto moved = co_await answer_.body->read_into(pipe, idle);
  co_return judged(moved, was_finished);
}

void Fetch::await_body() {
  server().under_way().await(upstream::Awaited::body, Clock::now());
}

void Fetch::bound_silence(const net::Executor& executor, std::chrono::milliseconds idle) {
  if (!silence_) silence_.emplace(executor, [this] { stream().close(); });
  silence_->expires_after(idle);
}

// What a read of the body has come to.
Outcome<std::size_t> Fetch::judged(net::Result<std::size_t> read, bool was_finished) {
  if (silence_) silence_->expires_never();
  server().under_way().await(upstream::Awaited::nothing);
  if (read) server().under_way().received(*read);
  // If the socket was shut down here, its end is not the end of the body.
  if (question_.abandoned()) return question_.failed({});
  if (silence_ && silence_->expired()) return question_.failed(net::asio::error::timed_out);
  if (!read) {
    const auto failure = question_.failed(read.error());
    server().note_failure(failure);
    return failure;
  }
  if (body_finished() && !was_finished) server().note_answer(question_.reused());
  return *read;
}

void Fetch::finish() {
  question_.finish(answer_.body && answer_.body->finished() && answer_.head.keep_alive() &&
                   input().empty() && framing().kind != http::Framing::Kind::until_close &&
                   !doubtful_ && !question_.abandoned());
}

}  // namespace proxy
