// The times of another client's answers while a crowd of one address reads slowly, sends heads
// slowly or uploads slowly: alone first, then beside each crowd.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/descriptor_limit.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/scripted_origin.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using support::Client;
using support::Reply;
using support::Request;

// What each connection of a crowd does: it sends the opening, and then sends or reads very little
// in each round.
struct Behaviour {
  std::string name;
  std::string opening;
  bool reads;
};

// Connections of 127.0.0.1. Where the proxy has closed one, a new one takes its place.
class Crowd {
 public:
  Crowd(std::uint16_t port, std::size_t size, const Behaviour& behaviour)
      : port_(port), behaviour_(behaviour), clients_(size) {}

  void begin() {
    sender_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (std::size_t i = 0; i < clients_.size() && !stop.stop_requested(); ++i) keep_up(i);
        std::this_thread::sleep_for(100ms);  // the crowd's slowness is what is measured
      }
    });
  }

 private:
  void keep_up(std::size_t i) {
    auto& client = clients_[i];
    if (client && (behaviour_.reads ? !client->read_bytes(100).empty() : client->send("x"))) return;
    client = std::make_unique<Client>(port_);
    client->send(fmt::format(fmt::runtime(behaviour_.opening), i));
  }

  const std::uint16_t port_;
  const Behaviour behaviour_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::jthread sender_;
};

struct Times {
  std::vector<std::chrono::microseconds> taken;
  std::size_t failed = 0;

  double milliseconds(std::size_t percent) const {
    return static_cast<double>(taken[(taken.size() - 1) * percent / 100].count()) / 1000;
  }
};

// Each request has its own time to begin, so that a late answer does not delay the count of what
// comes after it. Every second URL is stored, the others are not.
Times ask(std::uint16_t port, const support::ScriptedOrigin& origin, double seconds) {
  Times times;
  Client client(port, 2);
  const auto begin = Clock::now();
  const auto count = static_cast<int>(seconds * 100);
  for (int i = 0; i < count; ++i) {
    const auto due = begin + i * 10ms;
    std::this_thread::sleep_until(due);
    const auto answer = client.get(origin.url(i % 2 == 0 ? "/stored" : "/not-stored"));
    if (answer.status != 200) ++times.failed;
    times.taken.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - due));
  }
  std::sort(times.taken.begin(), times.taken.end());
  return times;
}

void print(const std::string& crowd, const Times& times, double cuts) {
  fmt::print("{:16} p50 {:7.1f} ms  p99 {:7.1f} ms  max {:7.1f} ms  {} failed  {} cut\n", crowd,
             times.milliseconds(50), times.milliseconds(99), times.milliseconds(100), times.failed,
             cuts);
}

double cuts(const support::ProxyProcess& proxy) {
  double sum = 0;
  for (const auto* why : {"stalled", "heads", "slow"})
    sum += proxy.metric(fmt::format("hearsay_cuts_total{{why=\"{}\"}}", why));
  return sum;
}

std::vector<Behaviour> behaviours(const support::ScriptedOrigin& origin) {
  const auto head = [&](const char* method, const char* path) {
    return fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, origin.url(path));
  };
  return {
      {"slow readers", head("GET", "/large/{}") + "\r\n", true},
      {"slow heads", head("GET", "/head/{}") + "X: " + std::string(8000, 'x'), false},
      {"slow uploads", head("PUT", "/upload/{}") + "Content-Length: 1000000\r\n\r\n", false},
  };
}

// `settle`: seconds for which a crowd goes on before the first request. Its first buffers are
// filled as fast as this machine can: what an answer takes then says more of the origin's threads,
// which share its processors, than of the proxy.
bool measure(double settle, double seconds, std::size_t connections) {
  support::ScriptedOrigin origin;
  origin.record_nothing();
  const Reply large = Reply::endless(
      "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 20971520\r\n\r\n",
      std::string(65536, 'x'));
  const Reply small = Reply(200, {{"Cache-Control", "no-store"}}).body(std::string(1024, 'x'));
  const Reply stored = support::cacheable(std::string(1024, 'x'));
  origin.otherwise([=](const Request& request) {
    if (request.path.starts_with("/large/")) return large;
    return request.path == "/stored" ? stored : small;
  });

  bool whole = true;
  const auto row = [&](const std::string& name, const support::ProxyProcess& proxy) {
    const auto times = ask(proxy.port(), origin, seconds);
    print(name, times, cuts(proxy));
    whole = whole && times.failed == 0;
  };
  const support::json settings{{"log", {{"access", "none"}}}};
  row("quiet", support::ProxyProcess(settings));
  for (const auto& behaviour : behaviours(origin)) {
    const support::ProxyProcess proxy(settings);
    Crowd crowd(proxy.port(), connections, behaviour);
    crowd.begin();
    // The proxy judges a crowd by what it does over time, which no condition shows.
    std::this_thread::sleep_for(std::chrono::duration<double>(settle));
    row(behaviour.name, proxy);
  }
  return whole;
}

}  // namespace

int main(int argc, char** argv) {
  double settle = 5;
  double seconds = 30;
  std::uint64_t connections = 300;
  const auto exit_code =
      bench::parse(argc, argv, "Another client's times beside a slow crowd",
                   {
                       {"--seconds", &seconds, "of each row, with 100 requests in each"},
                       {"--settle", &settle, "seconds that each crowd has before"},
                       {"--connections", &connections, "of the crowd"},
                   });
  if (exit_code) return *exit_code;
  bench::raise_descriptor_limit();
  try {
    return measure(settle, seconds, connections) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "crowds_bench: " << error.what() << '\n';
    return 1;
  }
}
