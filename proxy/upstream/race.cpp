#include "proxy/upstream/race.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

using Clock = std::chrono::steady_clock;

struct Field {
  explicit Field(net::Executor executor) : wake(executor) {}

  net::Timer wake;  // cancelled when an attempt ends
  std::vector<net::Socket> attempts;
  std::size_t running = 0;
  std::optional<std::size_t> winner;
  Errc failure = Errc::connect_failed;
};

// However the race ends, this stops all attempts.
class Ending {
 public:
  explicit Ending(std::shared_ptr<Field> field) : field_(std::move(field)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() { field_->attempts.clear(); }

 private:
  std::shared_ptr<Field> field_;
};

void end_attempt(Field& field, std::size_t attempt, net::error_code error) {
  --field.running;
  if (error == net::asio::error::connection_refused) field.failure = Errc::connect_refused;
  if (!error && !field.winner) field.winner = attempt;
  field.wake.cancel();
}

void start_attempt(const std::shared_ptr<Field>& field, const net::tcp::endpoint& endpoint) {
  const auto attempt = field->attempts.size();
  auto& socket = field->attempts.emplace_back(field->wake.get_executor());
  ++field->running;
  socket.async_connect(
      endpoint, [field, attempt](net::error_code error) { end_attempt(*field, attempt, error); });
}

}  // namespace

Addresses attempt_order(const Addresses& addresses) {
  Addresses v6;
  Addresses v4;
  for (const auto& address : addresses) (address.is_v6() ? v6 : v4).push_back(address);
  Addresses order;
  for (std::size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
    if (i < v6.size()) order.push_back(v6[i]);
    if (i < v4.size()) order.push_back(v4[i]);
  }
  if (order.size() > kMaxAttempts) order.resize(kMaxAttempts);
  return order;
}

net::Task<net::Result<net::Socket>> race(std::vector<net::tcp::endpoint> endpoints,
                                         std::chrono::milliseconds head_start,
                                         Clock::time_point deadline) {
  const auto executor = co_await net::asio::this_coro::executor;
  const auto field = std::make_shared<Field>(executor);
  const Ending ending(field);
  field->attempts.reserve(endpoints.size());  // a socket must not move while it connects
  std::size_t next = 0;
  auto next_start = Clock::now();
  while (!field->winner) {
    const auto now = Clock::now();
    if (now >= deadline) co_return Errc::connect_timed_out;
    if (next < endpoints.size() && (field->running == 0 || now >= next_start)) {
      start_attempt(field, endpoints[next++]);
      next_start = now + head_start;
    }
    if (field->running == 0) co_return field->failure;
    field->wake.expires_at(next < endpoints.size() ? std::min(next_start, deadline) : deadline);
    co_await field->wake.async_wait(net::as_result);
  }
  co_return std::move(field->attempts[*field->winner]);
}

}  // namespace proxy::upstream
