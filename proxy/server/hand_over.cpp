#include "proxy/server/hand_over.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "proxy/cache/purge_pattern.hpp"

namespace proxy::server {

using machine::succession::MessageKind;
namespace asio = net::asio;

namespace {

constexpr const char* kNoLauncher =
    "the process hearsay-launch, which starts a new program to take over, has ended";

net::Task<void> carry_out(Worker& worker, machine::succession::Predecessor& predecessor,
                          machine::succession::Message message) {
  const auto order = machine::succession::order_of(message.text);
  if (!order) co_return;
  if (message.kind == MessageKind::forget_url) {
    const std::string name(order->what);
    const auto key = digest::key_of(digest::Method::get, name);
    co_await worker.given.cache.forget(key, name);
  } else {
    const auto pattern = cache::PurgePattern::of_text(order->what);
    co_await worker.given.cache.forget(pattern);
  }
  predecessor.say_forgotten(order->number);
}

}  // namespace

HandOver::HandOver(asio::io_context& io, Sockets sockets,
                   const machine::succession::Launcher& launcher,
                   machine::succession::Successor& successor, Steps steps)
    : sockets_(sockets),
      launcher_(launcher),
      successor_(successor),
      steps_(std::move(steps)),
      deadline_(io),
      launcher_end_(io),
      channel_(io) {}

void HandOver::watch_launcher() {
  if (launcher_.has_ended()) {
    spdlog::warn("{}; restart the service to have one", kNoLauncher);
    return;
  }
  // A copy: the launcher closes its own.
  launcher_end_.assign(::dup(launcher_.channel()));
  launcher_end_.async_wait(asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (error || !launcher_.has_ended()) return;
    spdlog::warn("{}; restart the service to have one again", kNoLauncher);
    launcher_end_.close();
  });
}

void HandOver::begin() {
  // When process 1 of a container ends, the kernel ends all others (pid_namespaces(7)).
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
  auto channel = launcher_.launch(inheritance());
  if (!channel) {
    const auto* const why = launcher_.has_ended()
                                ? kNoLauncher
                                : "no new program could be started to take over: the order could "
                                  "not be sent, perhaps for want of file descriptors";
    spdlog::error("{}; this one goes on: restart the service", why);
    return;
  }
  spdlog::info("starting a new program to take over");
  // The successor inherits the socket, so the file must outlive this process.
  sockets_.control.leave_file_to(ControlSocket::Heir::successor);
  state_ = State::under_way;
  net::error_code ignored;
  channel_.close(ignored);
  channel_.assign(channel.release());
  await_messages();
  // A program that hangs while it starts would otherwise block every later try.
  deadline_.expires_after(steps_.longest);
  deadline_.async_wait([this](net::error_code error) {
    if (!error) give_up();
  });
}

std::vector<machine::succession::Launcher::Socket> HandOver::inheritance() const {
  const auto& [listeners, control] = sockets_;
  // By this name the successor learns whether its own settings may add and close sockets.
  const auto* const name = listeners.are_of_settings() ? machine::succession::kOwnSockets : "given";
  std::vector<machine::succession::Launcher::Socket> all;
  for (const int socket : listeners.descriptors()) all.push_back({socket, name});
  if (control.descriptor() >= 0)
    all.push_back({control.descriptor(), machine::succession::kControlSocket});
  return all;
}

void HandOver::await_messages() {
  channel_.async_wait(asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (error) return;
    for (;;) {
      const auto received =
          machine::succession::receive(channel_.native_handle(), machine::succession::Wait::no);
      if (received.closed) return fail();
      if (!received.message) return await_messages();
      apply(*received.message);
    }
  });
}

void HandOver::apply(const machine::succession::Message& message) {
  // The channel may still hold a message of the successor that it serves. The order to end
  // outweighs it.
  if (state_ == State::cancelled) return;
  switch (message.kind) {
    case MessageKind::release_disk:
      // First, so that what is purged meanwhile is not lost.
      successor_.adopt(channel_.native_handle());
      released_ = true;  // also if the disk does not answer: its queue has ended
      // Otherwise the successor takes the disk once it answers.
      if (steps_.release_disk())
        machine::succession::send(channel_.native_handle(), MessageKind::disk_released);
      break;
    case MessageKind::control_declined:
      // Its settings name another path, so the file is ours to remove.
      sockets_.control.leave_file_to(ControlSocket::Heir::nobody);
      break;
    case MessageKind::forgotten:
      successor_.record_forgotten(message.text);
      break;
    case MessageKind::serving:
      spdlog::info("process {} has taken over; this one ends when its connections have",
                   message.text);
      state_ = State::done;
      deadline_.cancel();
      // From now on a signal for this process is not meant for the new one.
      launcher_.release_launched();
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
                steps_.longest.count());
  machine::succession::send(channel_.native_handle(), MessageKind::too_late);
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
  machine::succession::send(channel_.native_handle(), MessageKind::too_late);
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

void TakeOver::begin() {
  if (!predecessor_) return;
  if (!predecessor_.say_serving()) {
    throw std::runtime_error("the process that served before has waited too long, and serves on");
  }
  // A copy: asio closes the descriptor that it is given.
  readable_.assign(::dup(predecessor_.channel()));
  obey_all();  // also those that came while the disk was released, which wake nobody
}

void TakeOver::await_orders() {
  readable_.async_wait(asio::posix::descriptor_base::wait_read, [this](net::error_code error) {
    if (!error) obey_all();
  });
}

void TakeOver::obey_all() {
  for (;;) {
    auto received = predecessor_.next();
    if (received.closed) {
      spdlog::info("the process that served before has ended");
      return readable_.close();
    }
    if (!received.message) return await_orders();
    const auto kind = received.message->kind;
    if (kind != MessageKind::forget_url && kind != MessageKind::forget_many) continue;
    net::spawn(worker_.io.get_executor(),
               carry_out(worker_, predecessor_, std::move(*received.message)));
  }
}

}  // namespace proxy::server
