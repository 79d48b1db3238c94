#include "proxy/server/take_over.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <stdexcept>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/machine/channel.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {
namespace {

using succession::Kind;
namespace asio = net::asio;

net::Task<void> carry_out(Worker& worker, succession::Predecessor& predecessor,
                          succession::Message message) {
  const auto order = succession::order_of(message.text);
  if (!order) co_return;
  if (message.kind == Kind::forget_url) {
    const std::string name(order->what);
    const auto key = digest::key_of(digest::Method::get, name);
    co_await forget(worker.cache, key, name);
  } else {
    const auto pattern = PurgePattern::of_text(order->what);
    co_await forget(worker.cache, pattern);
  }
  predecessor.say_forgotten(order->number);
}

}  // namespace

void TakeOver::begin() {
  if (!predecessor_) return;
  if (!predecessor_.say_serving()) {
    throw std::runtime_error("the process that served before has waited too long, and serves on");
  }
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
    obey(std::move(*received.message));
  }
}

void TakeOver::obey(succession::Message message) {
  if (message.kind != Kind::forget_url && message.kind != Kind::forget_many) return;
  net::spawn(worker_.io.get_executor(), carry_out(worker_, predecessor_, std::move(message)));
}

}  // namespace proxy
