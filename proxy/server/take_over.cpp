#include "proxy/server/take_over.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/asio/detached.hpp>

#include "proxy/purging/purge_pattern.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy {
namespace {

using succession::Kind;
namespace asio = net::asio;

net::Task<void> carry_out(Worker& worker, succession::Predecessor& predecessor,
                          succession::Message order) {
  if (order.kind == Kind::forget_url) {
    const auto key = digest::key_of(digest::Method::get, order.text);
    co_await forget(worker, key, order.text);
  } else {
    const auto pattern = PurgePattern::of_text(order.text);
    co_await forget(worker, pattern);
  }
  predecessor.say_forgotten();
}

}  // namespace

void TakeOver::begin() {
  if (!predecessor_) return;
  predecessor_.say_serving();
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

void TakeOver::obey(succession::Message order) {
  if (order.kind != Kind::forget_url && order.kind != Kind::forget_many) return;
  asio::co_spawn(worker_.io.get_executor(), carry_out(worker_, predecessor_, std::move(order)),
                 asio::detached);
}

}  // namespace proxy
