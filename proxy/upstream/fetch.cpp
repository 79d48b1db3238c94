#include "proxy/upstream/fetch.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;
using std::chrono::steady_clock;

namespace {

constexpr unsigned kLoginRefused = 407;

// Whether a parent says by this status that it has no way to the origin, or that the request loops.
bool tells_of_no_way(unsigned status) {
  return status == 502 || status == 503 || status == 504 || status == 508;
}

}  // namespace

Fetch::Fetch(const Upstream& on, FetchPlan plan)
    : on_(on), plan_(std::move(plan)), turns_(plan_.to, plan_.origins, plan_.route) {}

Failure Fetch::failed(net::error_code cause) const {
  if (abandoned_) return {Failure::Where::us, Failure::What::abandoned, cause};
  return failure_of(Failure::Where::upstream, cause);
}

Task<Outcome<void>> Fetch::connect(bool may_reuse) {
  input_.reset();
  answer_.text.clear();
  asked_ = steady_clock::now();
  known_to_fail_ = false;
  if (plan_.parents_only && !parent()) co_return failed(upstream::Errc::no_parent_left);
  stream_ = may_reuse ? on_.pool.take(to()) : nullptr;
  reused_ = stream_ != nullptr;
  if (!reused_) {
    const auto known = on_.failed.find(to(), asked_);
    known_to_fail_ = !!known;
    if (known) co_return failed(known);
    const bool is_one_of_several = parent() && turns_.others_left();
    const auto limit = is_one_of_several ? plan_.parent_connect : plan_.connect;
    auto fresh = co_await on_.connector.connect(to(), limit);
    if (!fresh) {
      on_.failed.note(to(), fresh.error(), steady_clock::now());
      co_return failed(fresh.error());
    }
    stream_ = std::move(*fresh);
  }
  if (abandoned_) co_return failed({});
  input_.emplace(*stream_, on_.buffers);
  stream_->expires_after(first_byte());
  const auto* const by = parent();
  const auto to_parent =
      by ? http::to_proxy(plan_.head, plan_.route.site, by->authorization) : std::string();
  const std::string& head = by ? to_parent : plan_.head;
  const auto error = co_await stream_->write(net::asio::buffer(head));
  if (error) co_return failed(error);
  co_return boost::system::in_place_value;
}

// Not a coroutine, like most that a miss passes through: each frame costs every miss.
Task<Outcome<void>> Fetch::start() {
  if (plan_.route.has_parents() || !plan_.route.direct) return start_by_route();
  turns_.next(steady_clock::now());
  return ask_in_turn();
}

Task<Outcome<void>> Fetch::start_by_route() {
  if (plan_.route.leads_nowhere()) co_return failed(upstream::Errc::no_route);
  const auto objection = co_await on_.connector.objection(plan_.to, plan_.connect);
  if (objection) co_return failed(objection);
  turns_.next(steady_clock::now());
  co_return co_await ask_in_turn();
}

// Sends the head to the chosen server or, if that one cannot be reached, to the next one.
Task<Outcome<void>> Fetch::ask_in_turn() {
  for (;;) {
    auto sent = co_await connect(plan_.repeatable);
    if (!sent && reused_ && !abandoned_) sent = co_await connect(false);
    if (sent || !moves_on(sent.error())) co_return sent;
  }
}

// Whether another server may get the same request because a parent is silent.
bool Fetch::may_leave_parent() const {
  return parent() && plan_.repeatable && turns_.others_left();
}

std::chrono::milliseconds Fetch::first_byte() const {
  if (!may_leave_parent()) return plan_.first_byte;
  const auto most = turns_.on_trial() ? plan_.trial_first_byte : plan_.parent_first_byte;
  return std::min(most, plan_.first_byte);
}

// Whether what has arrived is a response, though perhaps one that this proxy refuses.
bool Fetch::speaks_http() const {
  return answer_.text.starts_with("HTTP/") || (input_ && input_->buffered().starts_with("HTTP/"));
}

// Records the failure of a server. Returns whether the fetch continues with another server.
bool Fetch::moves_on(const Failure& failure) {
  if (failure.what == Failure::What::abandoned) return false;
  if (failure.what == Failure::What::overload) return false;          // no fault of the server
  if (failure.cause == upstream::Errc::no_parent_left) return false;  // the caller goes on
  note_health(failure);
  // A parent that sends no head has shown nothing of the origin.
  if (heard_ && !parent()) return false;
  const auto now = steady_clock::now();
  const bool unsent = failure.cause.category() == upstream::upstream_category();
  if (!unsent && failure.what == Failure::What::timed_out) return leaves_silent_parent();
  // A response that this proxy refuses is the origin's fault.
  if (!parent() || unsent || !speaks_http()) turns_.failed(now);
  heard_ = false;
  return (plan_.repeatable || unsent) && turns_.next(now);
}

void Fetch::note_health(const Failure& failure) const {
  if (is_of_origin(failure.what) && !parent() && !plan_.of_neighbour) {
    on_.health.failed(to(), failure, steady_clock::now());
  }
}

// A body that is cut is a failure, too. The first answer over a connection has shown that the
// origin works, so a later one tells something new only while an origin fails.
void Fetch::note_answer() const {
  if (parent() || plan_.of_neighbour) return;
  if (!reused_ || on_.health.has_troubles()) on_.health.answered(to());
}

// A server that is silent is working on the request, or hangs. Only of a parent is it known that
// another server might be quicker.
bool Fetch::leaves_silent_parent() {
  const auto now = steady_clock::now();
  turns_.silent_since(asked_, now);
  return may_leave_parent() && turns_.next(now);
}

// For a parent's answer that only tells of the parent: returns whether another server is asked.
bool Fetch::goes_around(const http::ResponseHead& head) {
  const bool refuses_login = head.status == kLoginRefused;
  if (!parent() || !(refuses_login || tells_of_no_way(head.status))) return false;
  const auto now = steady_clock::now();
  if (refuses_login) turns_.failed(now);
  const bool goes_on = plan_.repeatable && turns_.next(now);
  if (goes_on) heard_ = false;
  return goes_on;
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
  while (!head || goes_around(**head)) {
    if (!head && died_unheard(head.error())) {
      const auto on_new_one = co_await connect(false);
      if (!on_new_one) {
        head = on_new_one.error();
        continue;
      }
    } else {
      if (!head && !moves_on(head.error())) co_return head;
      const auto again = co_await ask_in_turn();
      if (!again) co_return again.error();
    }
    head = co_await read_head();
  }
  if (parent() && (*head)->status == kLoginRefused) {
    co_return failed(upstream::Errc::login_refused);
  }
  turns_.worked(steady_clock::now());
  if (!(*head)->interim() && body_finished()) note_answer();
  co_return head;
}

// Whether a pooled connection has turned out to be dead, so that a new one is worth a try.
bool Fetch::died_unheard(const Failure& failure) const {
  return reused_ && !heard_ && plan_.repeatable && failure.what == Failure::What::cut &&
         !abandoned_;
}

Task<Outcome<const http::ResponseHead*>> Fetch::read_head() {
  stream_->expires_after(first_byte());
  const auto bytes = co_await input_->head(on_.limits.head.value);
  heard_ = heard_ || bytes || !input_->empty();
  if (!bytes) co_return failed(bytes.error());
  answer_.text.assign(*bytes);
  input_->consume(bytes->size());
  const http::HeadLimits limits{on_.limits.head.value, on_.limits.fields};
  auto head = http::parse_response_head(answer_.text, limits);
  const Failure malformed{Failure::Where::upstream, Failure::What::malformed, {}};
  if (!head) co_return malformed;
  const bool asked_for = plan_.websocket && http::becomes_websocket(*head);
  if (head->status == 101 && !asked_for) co_return malformed;
  answer_.head = std::move(*head);
  const auto framing = http::response_framing(answer_.head, plan_.method);
  if (!framing) co_return malformed;
  answer_.body.emplace(*input_, *framing);
  co_return &answer_.head;
}

Task<bool> Fetch::body_begins() {
  constexpr std::uint64_t kBeginning = 8 * 1024;
  using Kind = http::Framing::Kind;
  const auto& framed = framing();
  if (framed.kind == Kind::none) co_return true;
  const auto enough = framed.kind == Kind::sized ? std::min(framed.length, kBeginning) : 1;
  stream_->expires_after(plan_.first_byte);
  while (input_->buffered().size() < enough) {
    const auto read = co_await input_->fill(BufferPool::kSize);
    if (!read || abandoned_) co_return false;
  }
  co_return true;
}

Task<Outcome<std::size_t>> Fetch::body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle) {
  if (idle < kExactBelow) {
    const net::Executor executor = co_await net::asio::this_coro::executor;
    if (!silence_) silence_.emplace(executor, [this] { stream_->close(); });
    silence_->expires_after(idle);
  }
  const bool was_finished = body_finished();
  const auto read = co_await answer_.body->read(into, idle);
  if (silence_) silence_->expires_never();
  // If the socket was shut down here, its end is not the end of the body.
  if (abandoned_) co_return failed({});
  if (silence_ && silence_->expired()) co_return failed(net::asio::error::timed_out);
  if (!read) {
    const auto failure = failed(read.error());
    note_health(failure);
    co_return failure;
  }
  if (body_finished() && !was_finished) note_answer();
  co_return *read;
}

void Fetch::finish() {
  const bool fit = answer_.body && answer_.body->finished() && answer_.head.keep_alive() &&
                   input_->empty() && framing().kind != http::Framing::Kind::until_close &&
                   !abandoned_;
  input_.reset();
  if (fit) on_.pool.give_back(to(), std::move(stream_));
  stream_.reset();
}

void Fetch::note_silence() {
  if (parent()) turns_.silent_since(asked_, steady_clock::now());
}

void Fetch::note_cut() {
  if (parent()) turns_.failed(steady_clock::now());
}

void Fetch::abandon() {
  abandoned_ = true;
  if (stream_) stream_->close();
}

}  // namespace proxy
