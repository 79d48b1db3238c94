#include "proxy/succession/predecessor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "proxy/succession/launcher.hpp"

namespace proxy::succession {
namespace {

constexpr std::chrono::milliseconds kLongestRelease{15'000};

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
  pollfd answered{channel_.number(), POLLIN, 0};
  if (::poll(&answered, 1, static_cast<int>(kLongestRelease.count())) <= 0) return;
  // What it forgets from now on comes later, since messages stay in order.
  (void)receive(channel_.number(), Wait::no);
}

void Predecessor::say_serving() const {
  if (channel_) send(channel_.number(), Kind::serving, std::to_string(::getpid()));
}

void Predecessor::say_forgotten() const {
  if (channel_) send(channel_.number(), Kind::forgotten);
}

}  // namespace proxy::succession
