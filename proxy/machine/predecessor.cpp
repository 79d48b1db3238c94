#include "proxy/machine/predecessor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "proxy/machine/launcher.hpp"

namespace proxy::succession {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestRelease{15'000};

// Waits for a message, or for the end of the channel. Returns whether there was one in time.
bool is_readable(int channel, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  pollfd answered{channel, POLLIN, 0};
  return left.count() > 0 && ::poll(&answered, 1, static_cast<int>(left.count())) > 0;
}

}  // namespace

Predecessor Predecessor::of_environment() {
  const char* const number = std::getenv(kChannelVariable);
  if (number == nullptr) return Predecessor(-1);
  const int channel = std::atoi(number);
  ::unsetenv(kChannelVariable);
  ::fcntl(channel, F_SETFD, FD_CLOEXEC);
  return Predecessor(channel);
}

void Predecessor::take_disk() {
  if (!channel_ || !send(channel_.number(), Kind::release_disk)) return;
  const auto until = Clock::now() + kLongestRelease;
  while (is_readable(channel_.number(), until)) {
    auto [message, closed] = receive(channel_.number(), Wait::no);
    if (closed || (message && message->kind == Kind::disk_released)) return;
    if (message) early_.push_back(std::move(*message));
  }
}

Received Predecessor::next() {
  if (early_.empty()) return receive(channel_.number(), Wait::no);
  Received received{.message = std::move(early_.front())};
  early_.pop_front();
  return received;
}

void Predecessor::decline_control() const {
  if (channel_) send(channel_.number(), Kind::control_declined);
}

bool Predecessor::say_serving() {
  const auto us = std::to_string(::getpid());
  if (!channel_ || send(channel_.number(), Kind::serving, us)) return true;
  // It has ended, so that nobody else serves, or it has given us up.
  for (;;) {
    auto [message, closed] = receive(channel_.number(), Wait::no);
    if (!message) return true;
    if (message->kind == Kind::too_late) return false;
    early_.push_back(std::move(*message));
  }
}

void Predecessor::say_forgotten(std::uint64_t order) const {
  if (channel_) send(channel_.number(), Kind::forgotten, std::to_string(order));
}

}  // namespace proxy::succession
