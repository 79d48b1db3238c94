#include "proxy/server/hand_over.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/machine/launcher.hpp"

namespace proxy {

using succession::Kind;

namespace {

constexpr const char* kNoLauncher =
    "the process hearsay-launch, which starts a new program to take over, has ended";

}  // namespace

HandOver::HandOver(net::asio::io_context& io, Inheritance inheritance,
                   const succession::Launcher& launcher, succession::Successor& successor,
                   Steps steps, std::chrono::seconds longest)
    : inheritance_(inheritance),
      launcher_(launcher),
      successor_(successor),
      steps_(std::move(steps)),
      longest_(longest),
      deadline_(io),
      launcher_end_(io),
      channel_(io) {}

void HandOver::watch_launcher() {
  if (launcher_.has_ended()) {
    spdlog::warn("{}; restart the service to have one", kNoLauncher);
    return;
  }
  launcher_end_.assign(::dup(launcher_.channel()));
  launcher_end_.async_wait(net::asio::posix::descriptor_base::wait_read,
                           [this](net::error_code error) {
                             if (error || !launcher_.has_ended()) return;
                             spdlog::warn("{}; restart the service to have one again", kNoLauncher);
                             launcher_end_.close();
                           });
}

void HandOver::begin() {
  if (::getpid() == 1) {
    spdlog::warn(
        "no new program can take over: this is process 1, with which its container ends; restart "
        "the container");
    return;
  }
  if (state_ != State::idle) {
    spdlog::warn("another program is taking over already; order it again once that one has failed");
    return;
  }
  auto channel = launcher_.launch(sockets());
  if (!channel) {
    const auto* const why = launcher_.has_ended()
                                ? kNoLauncher
                                : "no new program could be started to take over: the order could "
                                  "not be sent, perhaps for want of file descriptors";
    spdlog::error("{}; this one goes on: restart the service", why);
    return;
  }
  spdlog::info("starting a new program to take over");
  inheritance_.control.leave_file(true);
  state_ = State::under_way;
  net::error_code ignored;
  channel_.close(ignored);
  channel_.assign(channel.release());
  await_messages();
  deadline_.expires_after(longest_);
  deadline_.async_wait([this](net::error_code error) {
    if (!error) give_up();
  });
}

std::vector<succession::Launcher::Socket> HandOver::sockets() const {
  const auto& [listeners, control] = inheritance_;
  const auto* const name = listeners.are_of_settings() ? succession::kOwnSockets : "given";
  std::vector<succession::Launcher::Socket> all;
  for (const int socket : listeners.descriptors()) all.push_back({socket, name});
  if (control.descriptor() >= 0) all.push_back({control.descriptor(), succession::kControlSocket});
  return all;
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
  if (state_ == State::cancelled) return;
  switch (message.kind) {
    case Kind::release_disk:
      // First, so that what is purged meanwhile is not lost.
      successor_.adopt(channel_.native_handle());
      released_ = true;  // also if the disk does not answer: its queue has ended
      // Otherwise the successor takes the disk once it answers.
      if (steps_.release_disk()) succession::send(channel_.native_handle(), Kind::disk_released);
      break;
    case Kind::control_declined:
      inheritance_.control.leave_file(false);
      break;
    case Kind::forgotten:
      successor_.note_forgotten(message.text);
      break;
    case Kind::serving:
      spdlog::info("process {} has taken over; this one ends when its connections have",
                   message.text);
      state_ = State::done;
      deadline_.cancel();
      launcher_.let_go_launched();
      steps_.end();
      break;
    default:
      break;
  }
}

// What has arrived is read before the end of the channel: if the new program has said that it
// serves, it does. If not, it cannot say so any more.
void HandOver::give_up() {
  if (state_ != State::under_way) return;
  spdlog::error("the new program has not served in {} s, and is given up: its own lines say why",
                longest_.count());
  succession::send(channel_.native_handle(), Kind::too_late);
  ::shutdown(channel_.native_handle(), SHUT_RD);
}

// The launcher may have ended. So the new program is told, too: its next message fails, and it
// ends.
void HandOver::cancel() {
  if (state_ != State::under_way) return;
  spdlog::info("the new program, which was about to take over, is ended, too");
  state_ = State::cancelled;
  deadline_.cancel();
  launcher_.end_launched();
  succession::send(channel_.native_handle(), Kind::too_late);
  ::shutdown(channel_.native_handle(), SHUT_RD);
}

// A successor that has served before it ends leaves nothing to go on with.
void HandOver::fail() {
  deadline_.cancel();
  successor_.disown();
  if (state_ == State::done) return;
  if (std::exchange(state_, State::idle) == State::under_way) {
    spdlog::error(
        "the new program ended before it served; this one goes on: mend what the other one's lines "
        "name, and order it again");
  }
  if (std::exchange(released_, false)) steps_.take_disk_back();
}

}  // namespace proxy
