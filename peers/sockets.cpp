#include "peers/sockets.hpp"

#include <algorithm>
#include <iterator>

namespace peers {
namespace {

short events_of(int what) {
  const int in = (what & CURL_POLL_IN) != 0 ? POLLIN : 0;
  const int out = (what & CURL_POLL_OUT) != 0 ? POLLOUT : 0;
  return static_cast<short>(in | out);
}

int ready_of(short events) {
  const int in = (events & POLLIN) != 0 ? CURL_CSELECT_IN : 0;
  const int out = (events & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0;
  const int error = (events & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? CURL_CSELECT_ERR : 0;
  return in | out | error;
}

}  // namespace

Sockets::Sockets() : multi_(curl_multi_init()) {
  curl_multi_setopt(multi(), CURLMOPT_SOCKETFUNCTION, &Sockets::follow);
  curl_multi_setopt(multi(), CURLMOPT_SOCKETDATA, this);
}

int Sockets::follow(CURL*, curl_socket_t socket, int events, void* self, void*) noexcept {
  auto& waits = static_cast<Sockets*>(self)->waits_;
  const auto known = std::find_if(waits.begin(), waits.end(),
                                  [socket](const pollfd& one) { return one.fd == socket; });
  if (events == CURL_POLL_REMOVE) {
    if (known != waits.end()) waits.erase(known);
  } else if (known != waits.end()) {
    known->events = events_of(events);
  } else {
    waits.push_back({.fd = socket, .events = events_of(events), .revents = 0});
  }
  return 0;
}

std::chrono::milliseconds Sockets::until_timer(std::chrono::milliseconds at_most) const {
  long left = -1;  // none is set
  curl_multi_timeout(multi(), &left);
  return left < 0 ? at_most : std::min(at_most, std::chrono::milliseconds{left});
}

void Sockets::serve() {
  ready_.clear();
  if (::poll(waits_.data(), waits_.size(), 0) > 0) {
    std::copy_if(waits_.begin(), waits_.end(), std::back_inserter(ready_),
                 [](const pollfd& one) { return one.revents != 0; });
  }
  int running = 0;
  for (const pollfd& one : ready_) {
    curl_multi_socket_action(multi(), one.fd, ready_of(one.revents), &running);
  }
  if (until_timer(std::chrono::milliseconds{1}).count() > 0) return;
  curl_multi_socket_action(multi(), CURL_SOCKET_TIMEOUT, 0, &running);
}

bool Sockets::wait(int first, int second, std::chrono::milliseconds at_most) {
  ready_ = waits_;
  ready_.push_back({.fd = second, .events = POLLIN, .revents = 0});
  ready_.push_back({.fd = first, .events = POLLIN, .revents = 0});
  ::poll(ready_.data(), ready_.size(), static_cast<int>(until_timer(at_most).count()));
  return (ready_.back().revents & POLLIN) != 0;
}

}  // namespace peers
