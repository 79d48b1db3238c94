#include "proxy/net/wakeup.hpp"

#include <atomic>
#include <boost/asio/execution_context.hpp>
#include <boost/intrusive/list.hpp>
#include <cassert>
#include <utility>

#include "proxy/net/frame_allocator.hpp"

namespace proxy {

namespace asio = net::asio;

namespace {

using Resume = net::Resume<Wakeup::Woken>;

struct Waiting : boost::intrusive::list_base_hook<> {
  std::optional<Resume> resume;
};

}  // namespace

// The coroutines of one io_context that wait without a timer. A coroutine that waits is destroyed
// with its io_context: nothing of Asio's holds it, and it holds the Wakeup itself.
class Wakeup::Parked final : public asio::execution_context::service {
 public:
  using key_type = Parked;
  static inline asio::execution_context::id id;

  explicit Parked(asio::execution_context& of) : service(of) {}

  void add(Waiting& waiting, Resume resume) {
    assert(!waiting.resume);
    waiting.resume.emplace(std::move(resume));
    list_.push_back(waiting);
  }
  Resume take(Waiting& waiting) {
    list_.erase(list_.iterator_to(waiting));
    auto resume = std::move(*waiting.resume);
    waiting.resume.reset();
    return resume;
  }

 private:
  void shutdown() override {
    while (!list_.empty()) take(list_.front());
  }

  boost::intrusive::list<Waiting> list_;
};

// Used on the executor's thread, except for `executor` and `posted`.
struct Wakeup::State : Waiting {
  explicit State(net::Executor on) : executor(on) {}

  void park(Resume coroutine) {
    if (std::exchange(notified, false)) {
      auto go_on = [waited = std::move(coroutine)]() mutable { waited(Woken::notified); };
      return asio::post(executor, std::move(go_on));
    }
    if (!parked) parked = &asio::use_service<Parked>(executor.context());
    parked->add(*this, std::move(coroutine));
  }

  const net::Executor executor;
  Parked* parked = nullptr;  // of the executor's io_context, from the first wait on
  std::atomic<bool> posted{false};
  bool notified = false;
  std::optional<net::Timer> timer;  // of a wait that ends by itself
};

void Wakeup::prepare(net::asio::io_context& io) {
  asio::use_service<Parked>(io);
}

Wakeup::Wakeup(net::Executor executor) : state_(make_shared_in_frames<State>(executor)) {}
Wakeup::~Wakeup() = default;

net::Executor Wakeup::executor() const {
  return state_->executor;
}

net::Soon<Wakeup::Woken> Wakeup::wait(std::optional<std::chrono::milliseconds> at_most) {
  if (std::exchange(state_->notified, false)) return Woken::notified;
  if (at_most) return wait_for(state_, *at_most);
  auto park = [state = state_](Resume coroutine) { state->park(std::move(coroutine)); };
  return asio::async_initiate<const net::UseTask, void(Woken)>(std::move(park), net::use_task);
}

net::Task<Wakeup::Woken> Wakeup::wait_for(std::shared_ptr<State> state,
                                          std::chrono::milliseconds at_most) {
  if (!state->notified) {
    if (!state->timer) state->timer.emplace(state->executor);
    state->timer->expires_after(at_most);
    co_await state->timer->async_wait(net::as_result);
  }
  co_return std::exchange(state->notified, false) ? Woken::notified : Woken::timed_out;
}

void Wakeup::notify() {
  if (state_->posted.exchange(true, std::memory_order_acq_rel)) return;
  asio::post(state_->executor, [state = state_] {
    state->posted.store(false, std::memory_order_release);
    if (state->resume) return state->parked->take(*state)(Woken::notified);
    state->notified = true;
    if (state->timer) state->timer->cancel();
  });
}

}  // namespace proxy
