#include "proxy/server/hand_over.hpp"

#include <spdlog/spdlog.h>

namespace proxy {

using succession::Kind;

HandOver::HandOver(net::asio::io_context& io, const Listeners& listeners,
                   const succession::Launcher& launcher, succession::Successor& successor,
                   Steps steps)
    : listeners_(listeners),
      launcher_(launcher),
      successor_(successor),
      steps_(std::move(steps)),
      channel_(io) {}

void HandOver::begin() {
  if (state_ != State::idle) {
    spdlog::warn("another program is taking over already");
    return;
  }
  const auto* const name = listeners_.are_of_settings() ? succession::kOwnSockets : "given";
  auto channel = launcher_.launch(listeners_.descriptors(), name);
  if (!channel) {
    spdlog::error("no new program could be started to take over; this one goes on");
    return;
  }
  spdlog::info("starting a new program to take over");
  state_ = State::under_way;
  net::error_code ignored;
  channel_.close(ignored);
  channel_.assign(channel.release());
  await_messages();
}

void HandOver::await_messages() {
  channel_.async_wait(net::asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (error) return;
    for (;;) {
      const auto received = succession::receive(channel_.native_handle(), succession::Wait::no);
      if (received.closed) return fail();
      if (!received.message) return await_messages();
      heed(*received.message);
    }
  });
}

void HandOver::heed(const succession::Message& message) {
  switch (message.kind) {
    case Kind::release_disk:
      // First, so that what is purged meanwhile is not lost.
      successor_.adopt(channel_.native_handle());
      released_ = steps_.release_disk();
      // Otherwise the successor takes the disk once it answers.
      if (released_) succession::send(channel_.native_handle(), Kind::disk_released);
      break;
    case Kind::forgotten:
      successor_.note_forgotten();
      break;
    case Kind::serving:
      spdlog::info("process {} has taken over; this one ends when its connections have",
                   message.text);
      state_ = State::done;
      steps_.end();
      break;
    default:
      break;
  }
}

// A successor that has served before it ends leaves nothing to go on with.
void HandOver::fail() {
  if (state_ != State::under_way) return;
  state_ = State::idle;
  spdlog::error("the new program ended before it served; this one goes on");
  successor_.disown();
  if (std::exchange(released_, false)) steps_.take_disk_back();
}

}  // namespace proxy
