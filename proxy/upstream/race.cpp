#include "proxy/upstream/race.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOpen = 4;  // attempts at a time

struct RaceState {
  RaceState(net::Executor executor, std::size_t scarce) : wake(executor), scarce_from(scarce) {}

  net::Timer wake;  // cancelled when an attempt ends
  const std::size_t scarce_from;
  std::vector<net::Socket> attempts;
  std::size_t running = 0;
  std::optional<std::size_t> winner;
  Errc failure = Errc::connect_failed;
};

// Stops all attempts at the end of the race, whether it succeeds, fails or is destroyed.
class Ending {
 public:
  explicit Ending(std::shared_ptr<RaceState> state) : state_(std::move(state)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() { state_->attempts.clear(); }

 private:
  std::shared_ptr<RaceState> state_;
};

void end_attempt(RaceState& state, std::size_t attempt, net::error_code error) {
  --state.running;
  const bool lacked_descriptors = state.failure == Errc::no_descriptors;
  if (error == net::asio::error::connection_refused && !lacked_descriptors)
    state.failure = Errc::connect_refused;
  if (error == net::asio::error::no_descriptors) state.failure = Errc::no_descriptors;
  const bool connected =
      !error && state.attempts[attempt].is_open();  // else end_silent() was sooner
  if (connected && !state.winner) state.winner = attempt;
  state.wake.cancel();
}

// The system gives the lowest number that is free.
net::error_code open(net::Socket& socket, const net::tcp::endpoint& endpoint,
                     std::size_t scarce_from) {
  net::error_code error;
  socket.open(endpoint.protocol(), error);
  if (error || static_cast<std::size_t>(socket.native_handle()) < scarce_from) return error;
  net::error_code ignored;
  socket.close(ignored);
  return net::asio::error::no_descriptors;
}

void start_attempt(const std::shared_ptr<RaceState>& state, const net::tcp::endpoint& endpoint) {
  const auto attempt = state->attempts.size();
  auto& socket = state->attempts.emplace_back(state->wake.get_executor());
  ++state->running;
  const auto unopened = open(socket, endpoint, state->scarce_from);
  if (unopened) {
    net::asio::post(state->wake.get_executor(),
                    [state, attempt, unopened] { end_attempt(*state, attempt, unopened); });
    return;
  }
  socket.async_connect(
      endpoint, [state, attempt](net::error_code error) { end_attempt(*state, attempt, error); });
}

// Ends an attempt that has had several head starts, so that one race holds few descriptors. Its
// handler counts it.
void end_silent(RaceState& state, std::size_t attempt) {
  net::error_code ignored;
  state.attempts[attempt].close(ignored);
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
                                         Clock::time_point deadline, std::size_t scarce_from) {
  const auto executor = co_await net::ThisExecutor();
  const auto state = std::make_shared<RaceState>(executor, scarce_from);
  const Ending ending(state);
  state->attempts.reserve(endpoints.size());  // a socket must not move while it connects
  std::size_t next = 0;
  auto next_start = Clock::now();
  while (!state->winner) {
    const auto now = Clock::now();
    if (now >= deadline) co_return Errc::connect_timed_out;
    if (next < endpoints.size() && (state->running == 0 || now >= next_start)) {
      if (next >= kMostOpen) end_silent(*state, next - kMostOpen);
      start_attempt(state, endpoints[next++]);
      next_start = now + head_start;
    }
    if (state->running == 0) co_return state->failure;
    state->wake.expires_at(next < endpoints.size() ? std::min(next_start, deadline) : deadline);
    co_await state->wake.async_wait(net::as_result);
  }
  co_return std::move(state->attempts[*state->winner]);
}

}  // namespace proxy::upstream
