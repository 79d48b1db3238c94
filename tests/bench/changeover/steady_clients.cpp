#include "tests/bench/changeover/steady_clients.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <stdexcept>

namespace bench {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::use_awaitable;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};

struct Plan {
  const asio::ip::tcp::endpoint proxy;
  const std::function<std::string(std::size_t)>& url_of;
  const SteadyPace& pace;
  const std::size_t count;
  const Clock::time_point begun = Clock::now();
  std::size_t next = 0;
  Times times = {};

  [[nodiscard]] Clock::time_point due(std::size_t number) const {
    const std::chrono::duration<double> offset(static_cast<double>(number) / pace.rate);
    return begun + std::chrono::duration_cast<Clock::duration>(offset);
  }
};

// One connection, which is replaced when it has had its share, when the proxy closes it, and after
// a failure.
class SteadyClient {
 public:
  SteadyClient(asio::io_context& io, Plan& plan) : plan_(plan), stream_(io), timer_(io) {}

  asio::awaitable<void> ask_all() {
    while (plan_.next < plan_.count) {
      const std::size_t number = plan_.next++;
      const auto due = plan_.due(number);
      timer_.expires_at(due);
      co_await timer_.async_wait(use_awaitable);
      std::string failure;
      try {
        const std::string url = plan_.url_of(number);
        co_await ask(url);
      } catch (const std::exception& error) {
        failure = error.what();
      }
      if (failure.empty()) {
        const std::chrono::duration<double, std::milli> taken = Clock::now() - due;
        plan_.times.ms.push_back(taken.count());
      } else {
        close();
        if (plan_.times.failed++ == 0) plan_.times.first_failure = failure;
      }
    }
  }

 private:
  asio::awaitable<void> ask(const std::string& url) {
    stream_.expires_after(kPatience);
    if (asked_ == 0) co_await stream_.async_connect(plan_.proxy, use_awaitable);
    ++asked_;
    const std::string request = "GET " + url + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const auto bytes = asio::buffer(request);
    co_await asio::async_write(stream_, bytes, use_awaitable);
    beast::http::response<beast::http::string_body> response;
    co_await beast::http::async_read(stream_, input_, response, use_awaitable);
    if (response.result_int() != 200) {
      throw std::runtime_error(std::to_string(response.result_int()) + " for " + url);
    }
    if (!response.keep_alive() || asked_ == plan_.pace.per_connection) close();
  }

  void close() {
    beast::error_code ignored;
    stream_.socket().close(ignored);
    input_.clear();
    asked_ = 0;
  }

  Plan& plan_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  beast::flat_buffer input_;
  std::size_t asked_ = 0;  // over this connection; 0: it is closed
};

}  // namespace

double Times::percentile(double percent) const {
  if (ms.empty()) return 0;
  return ms[static_cast<std::size_t>(static_cast<double>(ms.size() - 1) * percent / 100)];
}

Times ask_steadily(std::uint16_t proxy, const std::function<std::string(std::size_t)>& url_of,
                   const SteadyPace& pace, double seconds) {
  asio::io_context io(1);
  Plan plan{.proxy = {asio::ip::address_v4::loopback(), proxy},
            .url_of = url_of,
            .pace = pace,
            .count = static_cast<std::size_t>(pace.rate * seconds)};
  std::vector<SteadyClient> askers;
  askers.reserve(pace.connections);
  for (std::size_t i = 0; i < pace.connections; ++i) {
    auto& asker = askers.emplace_back(io, plan);
    asio::co_spawn(io, asker.ask_all(), asio::detached);
  }
  io.run();
  std::sort(plan.times.ms.begin(), plan.times.ms.end());
  return std::move(plan.times);
}

}  // namespace bench
