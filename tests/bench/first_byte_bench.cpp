// How long the first bytes of a large response take through the proxy, while the rest is not there
// yet. The origin and the client are one process with one clock: the time is counted from before
// the origin sends the head and kFirst bytes of the body until the client has read them. A second
// figure is the same without a proxy. Fails if the proxy's median is above --most.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/support/client.hpp"
#include "tests/support/proxy_process.hpp"

namespace {

using support::Client;
using support::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFirst = 16 * 1024;
constexpr std::size_t kRest = 4 * 1024 * 1024;

// Answers each request with the first bytes of its body, and with the rest after go_on().
class HaltingOrigin {
 public:
  explicit HaltingOrigin(const char* control)
      : control_(control), thread_([this] { serve_all(); }) {}
  HaltingOrigin(const HaltingOrigin&) = delete;
  HaltingOrigin& operator=(const HaltingOrigin&) = delete;
  ~HaltingOrigin() {
    halts_.release();
    listener_.shut_down();
    thread_.join();
  }

  std::uint16_t port() const { return listener_.port(); }
  std::string url(int number) const {
    return fmt::format("http://127.0.0.1:{}/{}", port(), number);
  }
  Clock::time_point sent() const { return sent_; }
  void go_on() { halts_.release(); }

 private:
  void serve_all() {
    while (auto socket = listener_.accept()) serve(*socket);
  }
  // One request of a connection, which ends with the body.
  void serve(support::Socket& socket) {
    support::Incoming<support::Request> incoming(socket);
    if (!incoming.head()) return;
    const std::string rest(kRest, 'x');
    const auto first = support::head_text("HTTP/1.1 200 OK",
                                          {{"Cache-Control", control_},
                                           {"Connection", "close"},
                                           {"Content-Length", std::to_string(kFirst + kRest)}}) +
                       rest.substr(0, kFirst);
    sent_ = Clock::now();
    if (!socket.write(first)) return;
    halts_.acquire();
    socket.write(rest);
  }

  const std::string control_;
  std::atomic<Clock::time_point> sent_;
  std::counting_semaphore<> halts_{0};
  support::Listener listener_;
  std::thread thread_;
};

std::vector<double> milliseconds_through(std::uint16_t port, HaltingOrigin& origin, int rounds) {
  std::vector<double> took;
  for (int i = 0; i < rounds; ++i) {
    Client client(port);
    client.send(support::request_text("GET", origin.url(i)));
    client.read_head();
    client.read_body(kFirst);
    const std::chrono::duration<double, std::milli> time = Clock::now() - origin.sent();
    took.push_back(time.count());
    origin.go_on();
    if (client.read_body(kRest).size() != kRest) throw std::runtime_error("the body is cut");
  }
  std::sort(took.begin(), took.end());
  return took;
}

double print(const char* way, const std::vector<double>& took) {
  const double median = took[took.size() / 2];
  fmt::print("{}: median {:.3f} ms, 99th percentile {:.3f} ms\n", way, median,
             took[took.size() * 99 / 100]);
  return median;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 300;
  double most = 1;
  const auto exit_code =
      bench::parse(argc, argv, "The time until the first bytes of a large miss reach the client",
                   {
                       {"--rounds", &rounds, "requests each way"},
                       {"--most", &most, "milliseconds that the median through the proxy may take"},
                   });
  if (exit_code) return *exit_code;
  try {
    const support::ProxyProcess proxy(json{{"threads", 1}, {"cache", {{"memory", "64MiB"}}}});
    double slowest = 0;
    for (const char* control : {"no-store", "max-age=3600"}) {
      HaltingOrigin origin(control);
      print("without a proxy", milliseconds_through(origin.port(), origin, rounds));
      slowest =
          std::max(slowest, print(control, milliseconds_through(proxy.port(), origin, rounds)));
    }
    return slowest <= most ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "first_byte_bench: " << error.what() << '\n';
    return 1;
  }
}
