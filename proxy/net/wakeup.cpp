#include "proxy/net/wakeup.hpp"

namespace proxy {

net::Task<Wakeup::Woken> Wakeup::wait(std::optional<std::chrono::milliseconds> at_most) {
  const auto state = state_;
  if (!state->notified) {
    if (at_most) {
      state->timer.expires_after(*at_most);
    } else {
      state->timer.expires_at(net::Timer::time_point::max());
    }
    co_await state->timer.async_wait(net::as_result);
  }
  co_return std::exchange(state->notified, false) ? Woken::notified : Woken::timed_out;
}

void Wakeup::notify() {
  if (state_->posted.exchange(true, std::memory_order_acq_rel)) return;
  net::asio::post(state_->timer.get_executor(), [state = state_] {
    state->posted.store(false, std::memory_order_release);
    state->notified = true;
    state->timer.cancel();
  });
}

}  // namespace proxy
