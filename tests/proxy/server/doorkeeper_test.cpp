#include "proxy/crowd/doorkeeper.hpp"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <thread>

#include "proxy/server/accept.hpp"
#include "tests/proxy/server/threads.hpp"
#include "tests/support/await.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::server {
namespace {

using namespace std::chrono_literals;

constexpr crowd::ConnectionLimits kWide{1000, 1000};

config::Address client(std::uint8_t number) {
  return config::address_from_v4({10, 0, 0, number});
}

class Connection final : public crowd::SessionList::Item {
 public:
  enum class State : std::uint8_t { idle, busy };

  Connection(Worker& worker, std::uint8_t from, State state)
      : Item(worker.crowd.sessions),
        guest_(worker.shared.crowd.clients.enter(client(from), kWide).value()),
        state_(state) {}

  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  void drain() override {}
  crowd::Unread count_unread() override { return {}; }
  [[nodiscard]] crowd::Unread held_head() const override { return {}; }
  [[nodiscard]] std::optional<crowd::WaitingConnection> waits() const override {
    if (state_ == State::busy || is_cut_) return std::nullopt;
    return crowd::WaitingConnection{guest_.address(), guest_.share().connections, true, {}};
  }
  [[nodiscard]] const crowd::ClientTable::Guest& guest() const override { return guest_; }
  void cut(observe::Cut) override { is_cut_ = true; }

  const crowd::ClientTable::Guest guest_;
  const State state_;
  bool is_cut_ = false;
};

using State = Connection::State;

// A client with few idle connections on the first thread, and one with many on the second.
struct TwoClients {
  explicit TwoClients(State crowds) {
    for (int i = 0; i < 4; ++i) few.emplace_back(here, std::uint8_t{1}, State::idle);
    for (int i = 0; i < 20; ++i) crowd.emplace_back(there, std::uint8_t{2}, crowds);
  }

  static std::size_t cut(const std::deque<Connection>& connections) {
    return static_cast<std::size_t>(std::count_if(connections.begin(), connections.end(),
                                                  [](const auto& one) { return one.is_cut(); }));
  }
  // The threads do not run: this one does their work.
  void make_room(const crowd::Newcomer& newcomer = {.client = client(3)}) {
    here.crowd.doorkeeper.make_room(newcomer, std::chrono::steady_clock::now());
    here.io.poll();
    there.io.poll();
  }

  Threads threads;
  Worker& here = threads.workers.workers()[0];
  Worker& there = threads.workers.workers()[1];
  std::deque<Connection> few;
  std::deque<Connection> crowd;
};

TEST(Doorkeeper, ClosesConnectionsOfTheClientThatHasMostThoughTheyAreOnAnotherThread) {
  TwoClients scene(State::idle);
  scene.make_room();
  EXPECT_EQ(scene.cut(scene.few), 0U);
  EXPECT_EQ(scene.cut(scene.crowd), 1U);
}

TEST(Doorkeeper, SparesNobodyIfTheClientThatHasMostHasNoneToClose) {
  TwoClients scene(State::busy);
  scene.make_room();
  EXPECT_EQ(scene.cut(scene.few), 0U) << "the other may have some soon";
  EXPECT_TRUE(support::await([&] {
    scene.make_room();
    return scene.cut(scene.few) > 0;
  }));
  EXPECT_EQ(scene.cut(scene.crowd), 0U);
}

TEST(Doorkeeper, SparesClientsThoughACrowdHasSearchedAmongItsOwnInVain) {
  TwoClients scene(State::busy);
  for (int i = 0; i < 6; ++i) {
    scene.make_room(
        {.client = client(2), .connections = 20, .shortage = crowd::Newcomer::Shortage::own});
    std::this_thread::sleep_for(5ms);
  }
  scene.make_room();
  EXPECT_EQ(scene.cut(scene.few), 0U);
}

// A newcomer from this machine, which may look at our own pages, where one connection is allowed
// and one more for which another is to be closed, and other clients have both. Time stands until
// the test lets it pass.
struct OneTooMany {
  OneTooMany() {
    net::Wakeup::follow(worker.io, threads.clock);
    settle();
    net::spawn(worker.io.get_executor(), serve_client(worker, std::move(pair.first)));
    settle();
  }
  void settle() {
    worker.io.restart();
    worker.io.poll();
  }
  void pass(std::chrono::milliseconds time) {
    for (; time > 0ms; time -= 1ms) {
      threads.clock.pass(1ms);
      net::Wakeup::look(worker.io);
      settle();
    }
  }
  [[nodiscard]] std::size_t of_newcomer() {
    return clients.connections_of(*config::parse_address("127.0.0.1"));
  }
  [[nodiscard]] bool is_refused() const { return worker.observed.counters.rejected.get() > 0; }

  Threads threads{std::chrono::system_clock::time_point(1'000'000s)};
  Worker& worker = threads.workers.workers()[0];
  crowd::ClientTable& clients = threads.shared.crowd.clients;
  std::optional<crowd::ClientTable::Guest> other = clients.enter(client(1), kWide);
  const std::optional<crowd::ClientTable::Guest> third = clients.enter(client(2), kWide);
  std::pair<net::Socket, net::Socket> pair = support::connected_pair(worker.io);
};

TEST(Newcomer, IsLetInAtOnceWhenAConnectionEnds) {
  OneTooMany scene;
  scene.pass(50ms);
  EXPECT_EQ(scene.of_newcomer(), 0U);
  scene.other.reset();
  scene.threads.shared.newcomers.watching.wake_one();
  scene.settle();
  EXPECT_EQ(scene.of_newcomer(), 1U);
}

TEST(Newcomer, HasAConnectionClosedThatBeginsToWait) {
  OneTooMany scene;
  scene.pass(50ms);
  const Connection idle(scene.worker, 3, State::idle);
  scene.pass(40ms);
  EXPECT_TRUE(idle.is_cut());
}

TEST(Newcomer, EntersTheReserveOnceItsHeadHasArrived) {
  OneTooMany scene;
  net::asio::write(scene.pair.second, net::asio::buffer(std::string("GET / HTTP/1.1\r\n")));
  scene.pass(50ms);
  EXPECT_EQ(scene.of_newcomer(), 0U);
  net::asio::write(scene.pair.second, net::asio::buffer(std::string("\r\n")));
  scene.pass(40ms);
  EXPECT_FALSE(scene.is_refused());
  EXPECT_GT(scene.pair.second.available(), 0U) << "though others have all places, it is answered";
}

TEST(Newcomer, IsRefusedIfThereIsNoRoomFor100ms) {
  OneTooMany scene;
  scene.pass(99ms);
  EXPECT_FALSE(scene.is_refused());
  scene.pass(1ms);
  EXPECT_TRUE(scene.is_refused());
}

}  // namespace
}  // namespace proxy::server
