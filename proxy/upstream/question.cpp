#include "proxy/upstream/question.hpp"

#include <utility>

#include "proxy/http/forwarding.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Soon;
using net::Task;

Question::Question(const Upstream& on, FetchPlan&& plan)
    : on_(on), plan_(std::move(plan)), server_(on_, plan_) {}

Failure Question::failed(net::error_code cause) const {
  if (abandoned_) return {Failure::Where::us, Failure::What::abandoned, cause};
  return failure_of(Failure::Where::upstream, cause);
}

// Not a coroutine, like most that a miss passes through: each frame costs every miss.
Soon<Outcome<void>> Question::connect(bool may_reuse, Clock::time_point now) {
  input_.reset();
  heard_ = {};
  server_.turn_to(now);
  if (plan_.parents_only && !server_.parent()) {
    return Outcome<void>(failed(upstream::Errc::no_parent_left));
  }
  stream_ = may_reuse ? on_.pool.take(server_.to()) : nullptr;
  reused_ = stream_ != nullptr;
  return reused_ ? send_head() : connect_anew();
}

Task<Outcome<void>> Question::connect_anew() {
  if (const auto known = server_.known_failure()) co_return failed(known);
  auto fresh =
      co_await on_.connector.connect(server_.to(), server_.connect_time(), &server_.under_way());
  if (!fresh) {
    server_.note_unreachable(fresh.error());
    co_return failed(fresh.error());
  }
  stream_ = std::move(*fresh);
  co_return co_await send_head();
}

Soon<Outcome<void>> Question::send_head() {
  if (abandoned_) return Outcome<void>(failed({}));
  server_.under_way().await(upstream::Awaited::nothing);
  input_.emplace(*stream_, on_.buffers);
  expect_head();
  if (server_.parent()) return send_head_to_parent();
  auto written = stream_->write(net::asio::buffer(plan_.head));
  if (!written.is_here()) return when_written(std::move(written));
  return written.value() ? Outcome<void>(failed(written.value())) : Outcome<void>();
}

Task<Outcome<void>> Question::send_head_to_parent() {
  const auto& authorization = server_.parent()->authorization;
  const auto head = http::to_proxy(plan_.head, plan_.route.site, authorization);
  auto written = stream_->write(net::asio::buffer(head));
  co_return co_await when_written(std::move(written));
}

Task<Outcome<void>> Question::when_written(Soon<net::error_code> written) {
  const auto error = co_await written;
  if (error) co_return failed(error);
  co_return boost::system::in_place_value;
}

Soon<Outcome<void>> Question::ask(Clock::time_point now) {
  if (plan_.route.has_parents() || !plan_.route.direct) return ask_by_route(now);
  server_.next();
  return ask_in_turn(now);
}

Task<Outcome<void>> Question::ask_by_route(Clock::time_point now) {
  if (plan_.route.leads_nowhere()) co_return failed(upstream::Errc::no_route);
  const auto objection = co_await on_.connector.objection(plan_.to, plan_.connect);
  if (objection) co_return failed(objection);
  server_.next();
  co_return co_await ask_in_turn(now);
}

Soon<Outcome<void>> Question::ask_in_turn(Clock::time_point now) {
  auto sent = connect(plan_.repeatable, now);
  if (sent.is_here() && sent.value()) return sent;  // nearly always
  return ask_others(std::move(sent));
}

Task<Outcome<void>> Question::ask_others(Soon<Outcome<void>> first) {
  auto sent = co_await first;
  for (;;) {
    if (!sent && reused_ && !abandoned_) sent = co_await connect(false, Clock::now());
    if (sent || !server_.moves_on(sent.error(), heard_)) co_return sent;
    sent = co_await connect(plan_.repeatable, Clock::now());
  }
}

Task<Outcome<void>> Question::ask_again(std::optional<Failure> failure) {
  if (failure && died_unheard(*failure)) {
    const auto sent = co_await connect(false, Clock::now());
    if (sent) co_return sent;
    failure = sent.error();
  }
  if (failure && !server_.moves_on(*failure, heard_)) co_return *failure;
  co_return co_await ask_in_turn(Clock::now());
}

// Whether a pooled connection has turned out to be dead, so that a new one is worth a try.
bool Question::died_unheard(const Failure& failure) const {
  return reused_ && !heard_.any && plan_.repeatable && failure.what == Failure::What::cut &&
         !abandoned_;
}

void Question::note_heard(const net::Result<std::string_view>& head) {
  const auto bytes = head ? *head : input_->buffered();
  const bool is_http = bytes.starts_with("HTTP/") || bytes.starts_with(http::kIcy);
  heard_.any = heard_.any || !bytes.empty();
  heard_.http = is_http || (heard_.http && !head);  // a whole head outweighs an earlier one
}

void Question::finish(bool fit) {
  server_.under_way().end();
  input_.reset();
  if (fit) on_.pool.give_back(server_.to(), std::move(stream_));
  stream_.reset();
}

void Question::abandon() {
  abandoned_ = true;
  if (stream_) stream_->close();
}

}  // namespace proxy
