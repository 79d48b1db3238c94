#include "proxy/net/wakeup.hpp"

#include <atomic>
#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cassert>
#include <utility>

#include "proxy/net/frames.hpp"

namespace proxy::net {

namespace asio = net::asio;

namespace {

using Woken = Wakeup::Woken;
using ResumeWoken = Resume<Woken>;
using Clock = Wakeup::Clock;

struct Waiting : boost::intrusive::list_base_hook<>, boost::intrusive::set_base_hook<> {
  std::optional<ResumeWoken> resume;
  Clock::time_point until;  // while it is in a set

  [[nodiscard]] bool is_in_set() const { return set_base_hook::is_linked(); }
  friend bool operator<(const Waiting& a, const Waiting& b) { return a.until < b.until; }
};

}  // namespace

// The coroutines of one io_context that wait. A coroutine that waits is destroyed with its
// io_context: nothing of Asio's holds it, and it holds the Wakeup itself.
//
// Nearly every wait that has an end is over before. A timer of its own would cost it a system call
// to set, and a turn of the io_context to cancel. So one timer serves all, and mostly rings for
// nobody.
class Wakeup::Parked final : public asio::execution_context::service {
 public:
  // Without key_type, which would have each search for this service compare names.
  static inline asio::execution_context::id id;

  explicit Parked(asio::execution_context& of)
      : service(of), timer_(static_cast<asio::io_context&>(of).get_executor()) {}

  void follow(const machine::Clock& clock) { clock_ = &clock; }
  [[nodiscard]] Clock::time_point now() const { return clock_ ? clock_->steady() : Clock::now(); }

  void add(Waiting& waiting, ResumeWoken resume, Clock::time_point until) {
    assert(!waiting.resume);
    waiting.resume.emplace(std::move(resume));
    list_.push_back(waiting);
    if (until == Clock::time_point::max()) return;
    waiting.until = until;
    by_end_.insert(waiting);
    look_at(until);
  }
  ResumeWoken take(Waiting& waiting) {
    list_.erase(list_.iterator_to(waiting));
    if (waiting.is_in_set()) by_end_.erase(by_end_.iterator_to(waiting));
    if (looks_late_ && by_end_.empty()) {
      look_never();
      timer_.cancel();
    }
    auto resume = std::move(*waiting.resume);
    waiting.resume.reset();
    return resume;
  }
  // A resumed coroutine may end other waits, or begin some.
  void look() {
    look_never();
    const auto time = now();
    while (!by_end_.empty() && by_end_.begin()->until <= time) {
      auto coroutine = take(*by_end_.begin());
      coroutine(Woken::timed_out);
    }
    if (!by_end_.empty()) look_at(by_end_.begin()->until);
  }

 private:
  // A timer that is set for longer is cancelled if nobody needs it: io_context::run() does not
  // return before it.
  static constexpr std::chrono::milliseconds kSoon{64};

  void look_at(Clock::time_point time) {
    // The timer counts real time, in which a clock that stands never gets on.
    if (time >= looks_at_ || clock_) return;
    looks_at_ = time;
    looks_late_ = time > Clock::now() + kSoon;
    timer_.expires_at(time);  // ends the wait before
    timer_.async_wait([this](net::error_code error) {
      if (!error) look();
    });
  }

  void look_never() {
    looks_at_ = Clock::time_point::max();
    looks_late_ = false;
  }

  void shutdown() override {
    look_never();
    while (!list_.empty()) take(list_.front());
  }

  boost::intrusive::list<Waiting> list_;
  boost::intrusive::multiset<Waiting> by_end_;
  net::Timer timer_;
  Clock::time_point looks_at_ = Clock::time_point::max();  // max(): not at all
  bool looks_late_ = false;
  const machine::Clock* clock_ = nullptr;  // null: time is real
};

// Used on the executor's thread, except for `executor` and `posted`.
struct Wakeup::State : Waiting {
  explicit State(net::Executor on) : executor(on) {}

  Parked& place() {
    if (!parked) parked = &asio::use_service<Parked>(executor.context());
    return *parked;
  }
  void wake() {
    if (!resume) {
      notified = true;
      return;
    }
    auto coroutine = parked->take(*this);
    coroutine(Woken::notified);
  }

  const net::Executor executor;
  Parked* parked = nullptr;  // of the executor's io_context, from the first wait on
  std::atomic<bool> posted{false};
  bool notified = false;
};

void Wakeup::prepare(net::asio::io_context& io) {
  asio::use_service<Parked>(io);
}

void Wakeup::follow(net::asio::io_context& io, const machine::Clock& clock) {
  asio::use_service<Parked>(io).follow(clock);
}

void Wakeup::look(net::asio::io_context& io) {
  asio::use_service<Parked>(io).look();
}

Wakeup::Wakeup(net::Executor executor) : state_(make_shared_in_frames<State>(executor)) {}
Wakeup::~Wakeup() = default;

net::Executor Wakeup::executor() const {
  return state_->executor;
}

bool Wakeup::Wait::await_ready() {
  return std::exchange(state_->notified, false);
}

void Wakeup::Wait::park(net::Resume<Woken> coroutine) {
  state_->place().add(*state_, std::move(coroutine), until_);
}

Wakeup::Wait Wakeup::wait(std::optional<std::chrono::milliseconds> at_most) const {
  constexpr auto kEndless = Clock::time_point::max();
  if (!at_most) return wait_until(kEndless);
  const auto now = state_->place().now();
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(kEndless - now);
  return wait_until(*at_most < longest ? now + *at_most : kEndless);
}

Wakeup::Wait Wakeup::wait_until(Clock::time_point until) const {
  return {state_, until};
}

void Wakeup::notify() {
  if (state_->posted.exchange(true, std::memory_order_acq_rel)) return;
  asio::post(state_->executor, [state = state_] {
    state->posted.store(false, std::memory_order_release);
    state->wake();
  });
}

void Wakeup::notify_within() {
  state_->wake();
}

}  // namespace proxy::net
