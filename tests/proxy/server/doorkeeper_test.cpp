#include "proxy/crowd/doorkeeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <thread>

#include "tests/proxy/server/threads.hpp"
#include "tests/support/await.hpp"

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

}  // namespace
}  // namespace proxy::server
