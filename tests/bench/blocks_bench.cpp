// How long clients wait for a large object of a far origin. The cache holds nothing of the object,
// its first half, or every second block.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <latch>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/far_origin.hpp"
#include "tests/support/client.hpp"
#include "tests/support/proxy_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace {

using std::chrono::steady_clock;
using support::json;

constexpr std::uint64_t kMiB = 1 << 20;

struct Options {
  std::uint64_t mebibytes = 64;
  std::uint32_t round_trip = 20;
  std::uint64_t rate = 8;
  int clients = 1;
  int rounds = 5;
};

enum class Held { nothing, first_half, every_second_block };

const char* name_of(Held held) {
  switch (held) {
    case Held::nothing:
      return "nothing";
    case Held::first_half:
      return "first half";
    case Held::every_second_block:
      return "every second block";
  }
  return "";
}

json settings(const support::TemporaryDirectory& home) {
  const auto path = (home / "cache").string();
  const json disk{{"path", path}, {"size", "8GiB"}};
  return {{"digest", nullptr},
          {"cache", {{"memory", "256MiB"}, {"disk", disk}}},
          {"log", {{"access", "none"}}}};
}

// Reads one response to its end. Throws if it has fewer bytes than expected.
void get(std::uint16_t port, const std::string& url, const support::Fields& fields,
         std::uint64_t size) {
  auto socket = support::Socket::connect(port);
  socket.write(support::request_text("GET", url, fields));
  std::string head;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto bytes = socket.read_some();
    if (bytes.empty()) throw std::runtime_error("no response");
    head += bytes;
  }
  for (auto had = head.size() - head.find("\r\n\r\n") - 4; had < size;) {
    const auto bytes = socket.read_some(kMiB);
    if (bytes.empty()) throw std::runtime_error("a response was cut");
    had += bytes.size();
  }
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        size_(options.mebibytes * kMiB),
        origin_({std::chrono::milliseconds(options.round_trip), options.rate * kMiB}, size_),
        proxy_(settings(home_)) {}

  void measure(Held held) {
    std::vector<double> seconds;
    std::uint64_t requests = 0;
    std::uint64_t sent = 0;
    for (int round = 0; round < options_.rounds; ++round) {
      const auto url = origin_.url(objects_++);
      prepare(url, held);
      const auto requests_before = origin_.requests();
      const auto sent_before = origin_.body_bytes_sent();
      seconds.push_back(timed(url));
      requests += origin_.requests() - requests_before;
      sent += origin_.body_bytes_sent() - sent_before;
    }
    std::sort(seconds.begin(), seconds.end());
    const auto rounds = static_cast<double>(options_.rounds);
    fmt::print(
        "{:>4} MiB/s {:>4} ms {:>2} clients, {:<18} {:7.2f} s {:6.1f} requests {:6.1f} MiB\n",
        options_.rate, options_.round_trip, options_.clients, name_of(held),
        seconds[seconds.size() / 2], static_cast<double>(requests) / rounds,
        static_cast<double>(sent) / rounds / kMiB);
    std::cout.flush();
  }

 private:
  void prepare(const std::string& url, Held held) {
    origin_.be_near(true);
    const auto fetch = [&](std::uint64_t first, std::uint64_t bytes) {
      const auto range = fmt::format("bytes={}-{}", first, first + bytes - 1);
      get(proxy_.port(), url, {{"Range", range}}, bytes);
    };
    if (held == Held::first_half) fetch(0, options_.mebibytes / 2 * kMiB);
    if (held == Held::every_second_block) {
      for (std::uint64_t at = 0; at < size_; at += 2 * kMiB) fetch(at, kMiB);
    }
    origin_.be_near(false);
  }

  double timed(const std::string& url) {
    std::latch all_there(options_.clients);
    const auto begun = steady_clock::now();
    {
      std::vector<std::jthread> clients;
      for (int i = 0; i < options_.clients; ++i) {
        clients.emplace_back([&] {
          all_there.arrive_and_wait();
          get(proxy_.port(), url, {}, size_);
        });
      }
    }
    return std::chrono::duration<double>(steady_clock::now() - begun).count();
  }

  const Options options_;
  const std::uint64_t size_;
  std::uint64_t objects_ = 0;
  bench::FarOrigin origin_;
  support::TemporaryDirectory home_;
  support::ProxyProcess proxy_;
};

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  const auto done =
      bench::parse(argc, argv, "What large objects of an origin far away cost.",
                   {{"--mebibytes", &options.mebibytes, "of each object"},
                    {"--round-trip", &options.round_trip, "to the origin, in milliseconds"},
                    {"--rate", &options.rate, "of each connection, in MiB/s; 0: unlimited"},
                    {"--clients", &options.clients, "that ask for the object at once"},
                    {"--rounds", &options.rounds, "of which the median counts"}});
  if (done) return *done;
  Bench bench(options);
  for (const auto held : {Held::nothing, Held::first_half, Held::every_second_block}) {
    bench.measure(held);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
