#include "tests/bench/mesh/clients.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/client.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;
using support::Client;

constexpr std::size_t kThreads = 32;  // clients at once; each has a connection to each proxy

struct Answer {
  std::string error;  // what is wrong with it; empty if it is right
  bool cut = false;   // the proxy was killed meanwhile
  bool local = false;
  bool from_peer = false;
};

// What is wrong with the response, or nothing.
std::string fault_of(const support::Response& response, const std::string& body) {
  if (response.status != 200) return response.start_line;
  if (!response.whole) return "not whole";
  return response.body == body ? "" : "not its body";
}

// One client with a connection to each proxy, reopened after an error and after a restart.
class Asker {
 public:
  explicit Asker(const Mesh& mesh) : mesh_(mesh), connections_(mesh.size()) {}

  Answer ask(const Ask& ask) {
    auto& [client, life] = connections_[ask.proxy];
    Answer answer;
    try {
      if (life != mesh_.life(ask.proxy)) client.reset();
      if (!client) {
        life = mesh_.life(ask.proxy);
        client = std::make_unique<Client>(mesh_.port(ask.proxy));
      }
      const auto response = client->get(mesh_.url(ask.url));
      answer.error = fault_of(response, mesh_.body(ask.url));
      answer.from_peer = support::contains(response.field("Cache-Status"), "peer/");
      answer.local = !support::contains(response.field("Cache-Status"), "fwd=");
    } catch (const std::exception& error) {
      answer.error = error.what();
    }
    if (answer.error.empty()) return answer;
    client.reset();
    answer.cut = life != mesh_.life(ask.proxy);
    return answer;
  }

 private:
  struct Connection {
    std::unique_ptr<Client> client;
    unsigned life = 0;  // of the proxy, when it was opened
  };

  const Mesh& mesh_;
  std::vector<Connection> connections_;
};

void note_time(Outcome& outcome, std::int64_t took_ms) {
  outcome.over_100_ms += took_ms > 100 ? 1 : 0;
  auto slowest = outcome.slowest_ms.load();
  while (took_ms > slowest && !outcome.slowest_ms.compare_exchange_weak(slowest, took_ms)) {
  }
}

void record(Outcome& outcome, const Answer& answer) {
  outcome.local_hits += answer.local ? 1 : 0;
  outcome.peer_hits += answer.from_peer ? 1 : 0;
  if (!answer.error.empty() && ++outcome.errors <= 10) {
    fmt::print(stderr, "client error: {}\n", answer.error);
  }
}

void ask_until_answered(const Mesh& mesh, Asker& asker, const Ask& ask, Outcome& outcome) {
  const unsigned life = mesh.life(ask.proxy);
  const auto asked = steady_clock::now();
  Answer answer = asker.ask(ask);
  for (; answer.cut; answer = asker.ask(ask)) ++outcome.cut;
  record(outcome, answer);
  const auto took = steady_clock::now() - asked;
  const bool served_all_the_time = life % 2 == 0 && life == mesh.life(ask.proxy);
  if (!served_all_the_time) return;
  note_time(outcome, std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
}

}  // namespace

void play(const Mesh& mesh, std::span<const Ask> asks, double rate, Outcome& outcome) {
  const auto start = steady_clock::now();
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Asker asker(mesh);
      for (std::size_t n = next++; n < asks.size(); n = next++) {
        const std::chrono::duration<double> offset(static_cast<double>(n) / rate);
        std::this_thread::sleep_until(start +
                                      std::chrono::duration_cast<steady_clock::duration>(offset));
        ask_until_answered(mesh, asker, asks[n], outcome);
      }
    });
  }
}

}  // namespace bench
