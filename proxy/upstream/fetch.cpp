#include "proxy/upstream/fetch.hpp"

#include <algorithm>

#include "proxy/http/upgrade.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;

Failure Fetch::failed(net::error_code cause) const {
  if (abandoned_) return {Failure::Where::us, Failure::What::abandoned, cause};
  return failure_of(Failure::Where::upstream, cause);
}

Task<Outcome<void>> Fetch::connect(bool may_reuse) {
  input_.reset();
  stream_ = may_reuse ? on_.pool.take(to()) : nullptr;
  reused_ = stream_ != nullptr;
  if (!reused_) {
    const auto known = on_.failed.find(to(), std::chrono::steady_clock::now());
    if (known) co_return failed(known);
    auto fresh = co_await on_.connector.connect(to(), plan_.connect);
    if (!fresh) {
      on_.failed.note(to(), fresh.error(), std::chrono::steady_clock::now());
      co_return failed(fresh.error());
    }
    stream_ = std::move(*fresh);
  }
  if (abandoned_) co_return failed({});
  input_.emplace(*stream_, on_.buffers);
  asked_ = std::chrono::steady_clock::now();
  stream_->expires_after(plan_.first_byte);
  const auto error = co_await stream_->write(net::asio::buffer(plan_.head));
  if (error) co_return failed(error);
  co_return boost::system::in_place_value;
}

Task<Outcome<void>> Fetch::start() {
  for (;;) {
    auto sent = co_await connect(plan_.repeatable);
    if (!sent && reused_ && !abandoned_) sent = co_await connect(false);
    if (sent || !moves_on(sent.error())) co_return sent;
  }
}

bool Fetch::choose_origin() {
  if (!plan_.origins) return false;
  const auto next = plan_.origins->next(tried_, std::chrono::steady_clock::now());
  if (next) origin_ = *next;
  return next.has_value();
}

// Records the failure of a server. Returns whether the fetch continues with another server.
bool Fetch::moves_on(const Failure& failure) {
  if (!plan_.origins || heard_ || failure.what == Failure::What::abandoned) return false;
  if (failure.what == Failure::What::overload) return false;  // no fault of the server
  const auto now = std::chrono::steady_clock::now();
  const bool unsent = failure.cause.category() == upstream::upstream_category();
  if (!unsent && failure.what == Failure::What::timed_out) {
    // The server is working on the request, or hangs. Other servers should not do the same work.
    plan_.origins->silent_since(asked_, origin_, now);
    return false;
  }
  plan_.origins->failed(origin_, now);
  return (plan_.repeatable || unsent) && choose_origin();
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
  const bool died_unheard =
      !head && reused_ && !heard_ && plan_.repeatable && head.error().what == Failure::What::cut;
  if (died_unheard && !abandoned_) {
    const auto again = co_await connect(false);
    if (again) {
      head = co_await read_head();
    } else {
      head = again.error();
    }
  }
  while (!head && moves_on(head.error())) {
    const auto again = co_await start();
    if (!again) co_return again.error();
    head = co_await read_head();
  }
  if (head && plan_.origins) plan_.origins->worked(origin_, std::chrono::steady_clock::now());
  co_return head;
}

Task<Outcome<const http::ResponseHead*>> Fetch::read_head() {
  stream_->expires_after(plan_.first_byte);
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
  const auto read = co_await answer_.body->read(into, idle);
  // If abandon() shut the socket down, its end is not the end of the body.
  if (abandoned_) co_return failed({});
  if (!read) co_return failed(read.error());
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

void Fetch::abandon() {
  abandoned_ = true;
  if (stream_) stream_->close();
}

}  // namespace proxy
