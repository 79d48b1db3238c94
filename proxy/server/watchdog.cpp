#include "proxy/server/watchdog.hpp"

namespace proxy {

void Watchdog::begin() {
  if (supervisor_.watchdog()) ask_workers();
}

void Watchdog::end() {
  ended_ = true;
  timer_.cancel();
}

void Watchdog::ask_workers() {
  unanswered_ = workers_.count();
  workers_.on_each([this](Worker&) { --unanswered_; });
  await_answers();
}

void Watchdog::await_answers() {
  timer_.expires_after(*supervisor_.watchdog() / 4);
  timer_.async_wait([this](net::error_code error) {
    if (error || ended_) return;
    if (unanswered_ > 0) return await_answers();
    supervisor_.alive();
    ask_workers();
  });
}

}  // namespace proxy
