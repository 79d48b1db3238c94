// The cost of polling a large digest: response times of its owner's clients, CPU time on both
// sides, bytes on the network. Entries are stored and dropped throughout.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/brief_origin.hpp"
#include "tests/bench/cpu_time.hpp"
#include "tests/support/await.hpp"
#include "tests/support/proxy_process.hpp"

namespace {

using std::chrono::steady_clock;
using support::Client;
using support::json;
using Seconds = std::chrono::duration<double>;

struct Options {
  std::uint64_t entries = 1'000'000;
  std::size_t pollers = 64;
  double turnover = 100;  // entries stored per second, and as many dropped
  double rate = 1000;     // hits asked for per second
  int rounds = 10;
  double seconds = 5;
  unsigned threads = 1;
};

steady_clock::duration as_duration(double seconds) {
  return std::chrono::duration_cast<steady_clock::duration>(Seconds(seconds));
}

// Paces a loop evenly: next() waits until the next step is due, and returns when it was due.
class Pace {
 public:
  explicit Pace(double rate) : gap_(as_duration(1 / rate)), due_(steady_clock::now()) {
    prctl(PR_SET_TIMERSLACK, 1);  // for this thread; by default each wait is 50 us too long
  }
  steady_clock::time_point next() {
    due_ += gap_;
    std::this_thread::sleep_until(due_);
    return due_;
  }

 private:
  const steady_clock::duration gap_;
  steady_clock::time_point due_;
};

// The proxy under test, which owns the digest, and the clients that fill its cache.
class Owner {
 public:
  explicit Owner(const Options& options)
      : options_(options),
        proxy_(json{{"threads", options.threads},
                    {"digest", nullptr},
                    {"cache", {{"memory", "8GiB"}}},
                    {"log", {{"access", "none"}}}}) {}

  const support::ProxyProcess& proxy() const { return proxy_; }
  pid_t pid() { return proxy_.process().pid(); }

  void fill() {
    constexpr std::uint64_t kFillers = 4;
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kFillers; ++i) {
      threads.emplace_back([this, i] {
        fill(options_.entries * i / kFillers, options_.entries * (i + 1) / kFillers);
      });
    }
  }

  // Requests one of the entries that are not dropped during the bench.
  std::string hit_request(std::uint64_t any) const {
    const std::uint64_t staying = options_.entries / 2;
    return support::request_text("GET", origin_.url(staying + any % staying));
  }

  // Stores and drops at the pace of the options.
  void flip_bits(const std::stop_token& stop) {
    Client client(proxy_.port());
    Pace pace(options_.turnover);
    while (!stop.stop_requested()) {
      pace.next();
      client.get(origin_.url(options_.entries + turned_));
      client.request("POST", origin_.url(turned_));
      ++turned_;
    }
  }

 private:
  void fill(std::uint64_t first, std::uint64_t last) {
    constexpr std::uint64_t kAtOnce = 32;
    Client client(proxy_.port());
    for (; first < last; first = std::min(first + kAtOnce, last)) {
      std::string requests;
      const auto end = std::min(first + kAtOnce, last);
      for (auto i = first; i < end; ++i) requests += support::request_text("GET", origin_.url(i));
      client.send(requests);
      for (auto i = first; i < end; ++i) client.read();
    }
  }

  const Options options_;
  bench::BriefOrigin origin_;
  support::ProxyProcess proxy_;
  std::uint64_t turned_ = 0;
};

// Stands for many neighbours: each polls once a second for the changes since its last poll.
class Pollers {
 public:
  Pollers(std::uint16_t port, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) pollers_.push_back(std::make_unique<Poller>(port));
    for (auto& poller : pollers_) poll(*poller);  // fetches the whole digest
    bytes_ = 0;
  }

  void run(const std::stop_token& stop) {
    if (pollers_.empty()) return;
    Pace pace(static_cast<double>(pollers_.size()));
    for (std::size_t i = 0; !stop.stop_requested(); i = (i + 1) % pollers_.size()) {
      pace.next();
      poll(*pollers_[i]);
    }
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t polls() const { return polls_; }
  std::uint64_t largest() const { return largest_; }

 private:
  struct Poller {
    explicit Poller(std::uint16_t port)
        : client(port), address("127.0.0.1:" + std::to_string(port)) {}
    Client client;
    const std::string address;
    std::string target = "/digest/native";
    std::string etag;
  };

  // Sends the same head as peers/exchange.cpp does through libcurl.
  void poll(Poller& poller) {
    support::Fields fields{{"Host", poller.address},
                           {"User-Agent", "Hearsay/0.1.0"},
                           {"Accept", "application/vnd.hearsay.digest"}};
    if (!poller.etag.empty()) fields.emplace_back("If-None-Match", poller.etag);
    const auto request = support::head_text("GET " + poller.target + " HTTP/1.1", fields);
    poller.client.send(request);
    const auto response = poller.client.read();
    if (response.status != 200 && response.status != 304) {
      throw std::runtime_error("a poll was answered " + response.start_line);
    }
    const auto head = support::head_text(response.start_line, response.fields).size();
    bytes_ += request.size() + head + response.body.size();
    if (!poller.etag.empty()) {
      largest_ = std::max<std::uint64_t>(largest_, response.body.size());
      ++polls_;
    }
    poller.etag = response.field("ETag");  // "EPOCH-GENERATION"
    const auto dash = poller.etag.find('-');
    poller.target = "/digest/native?epoch=" + poller.etag.substr(1, dash - 1) +
                    "&since=" + poller.etag.substr(dash + 1, poller.etag.size() - dash - 2);
  }

  std::vector<std::unique_ptr<Poller>> pollers_;
  std::uint64_t bytes_ = 0;
  std::uint64_t polls_ = 0;
  std::uint64_t largest_ = 0;
};

// Microseconds from the time each hit was due to the end of its response, sorted.
std::vector<double> ask_for_hits(const Owner& owner, const Options& options, unsigned seed) {
  constexpr std::size_t kConnections = 8;
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < kConnections; ++i) {
    clients.push_back(std::make_unique<Client>(owner.proxy().port()));
  }
  std::mt19937_64 random(seed);
  const auto count = static_cast<std::size_t>(options.rate * options.seconds);
  std::vector<double> took;
  Pace pace(options.rate);
  for (std::size_t i = 0; i < count; ++i) {
    Client& client = *clients[i % kConnections];
    const std::string request = owner.hit_request(random());
    const auto due = pace.next();
    client.send(request);
    const auto response = client.read();
    if (response.status != 200 || !support::contains(response.field("Cache-Status"), "hit")) {
      throw std::runtime_error("not a hit: " + response.start_line);
    }
    const std::chrono::duration<double, std::micro> passed = steady_clock::now() - due;
    took.push_back(passed.count());
  }
  std::sort(took.begin(), took.end());
  return took;
}

struct Round {
  double median = 0;
  double p99 = 0;
  double cpu_percent = 0;  // of the owner, in % of a core
};

Round measure(Owner& owner, const Options& options, unsigned seed) {
  const double cpu = bench::cpu_seconds(owner.pid());
  const auto start = steady_clock::now();
  const auto took = ask_for_hits(owner, options, seed);
  const Seconds passed = steady_clock::now() - start;
  return {.median = took[took.size() / 2],
          .p99 = took[took.size() * 99 / 100],
          .cpu_percent = 100 * (bench::cpu_seconds(owner.pid()) - cpu) / passed.count()};
}

double median_of(const std::vector<Round>& rounds, double Round::*figure) {
  std::vector<double> all;
  for (const Round& round : rounds) all.push_back(round.*figure);
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

void print(const char* name, const Round& round) {
  fmt::print("{:8} median {:6.1f} us, p99 {:7.1f} us, CPU {:5.2f} %\n", name, round.median,
             round.p99, round.cpu_percent);
  std::cout.flush();
}

void compare(Owner& owner, const Options& options) {
  Pollers pollers(owner.proxy().port(), options.pollers);
  std::vector<Round> quiet;
  std::vector<Round> polled;
  Seconds polling{};
  for (int i = 0; i < options.rounds; ++i) {
    const auto seed = static_cast<unsigned>(i);
    quiet.push_back(measure(owner, options, seed));
    print("quiet", quiet.back());
    const auto start = steady_clock::now();
    const std::jthread asking([&](const std::stop_token& stop) { pollers.run(stop); });
    polled.push_back(measure(owner, options, seed));
    polling += steady_clock::now() - start;
    print("polled", polled.back());
  }
  const double p99 = median_of(polled, &Round::p99) / median_of(quiet, &Round::p99);
  const double each =
      median_of(polled, &Round::cpu_percent) - median_of(quiet, &Round::cpu_percent);
  fmt::print("p99 while {} poll: {:.3f} of that in quiet; CPU for each {:.4f} % of a core\n",
             options.pollers, p99, each / static_cast<double>(options.pollers));
  const double per_poll =
      static_cast<double>(pollers.bytes()) / static_cast<double>(pollers.polls());
  fmt::print("a poll: {:.0f} bytes with its heads on average, so {:.1f} kbit/s; largest body {}\n",
             per_poll, per_poll * 8 / 1000, pollers.largest());
}

// Measures one real neighbour, with no clients.
void measure_neighbour(Owner& owner, const Options& options) {
  support::ProxyProcess reader(support::with_peer(
      "owner", owner.proxy().port(), {{"digest", nullptr}, {"log", {{"access", "none"}}}}));
  const bool known =
      support::await([&] { return reader.digest_peer("owner").at("state") == "usable"; });
  if (!known) throw std::runtime_error("the neighbour gets no digest");
  const auto cpu = [&] { return bench::cpu_seconds(reader.process().pid()); };
  const double before = cpu();
  const Seconds span(options.seconds);
  std::this_thread::sleep_for(span);  // its CPU time meanwhile is measured
  const double percent = 100 * (cpu() - before) / span.count();
  const json books = reader.digest_peer("owner");
  fmt::print("a neighbour: CPU {:.3f} % of a core; claims {} entries, {} resyncs\n", percent,
             books.at("entries").dump(), books.at("resyncs").dump());
}

int run(const Options& options) {
  Owner owner(options);
  owner.fill();
  json digest;
  const bool published = support::await([&] {
    digest = owner.proxy().digest();
    return digest.at("entries") == options.entries;
  });
  if (!published) throw std::runtime_error("not all is in the digest: " + digest.dump());
  fmt::print("{} entries, {} bits, {} MiB resident\n", digest.at("entries").dump(),
             digest.at("bits").dump(), owner.proxy().resident_bytes() >> 20);
  {
    const double cpu = bench::cpu_seconds(owner.pid());
    std::this_thread::sleep_for(Seconds(options.seconds));  // as above
    fmt::print("idle: CPU {:.3f} % of a core\n",
               100 * (bench::cpu_seconds(owner.pid()) - cpu) / options.seconds);
  }
  const std::jthread turnover([&](const std::stop_token& stop) { owner.flip_bits(stop); });
  compare(owner, options);
  measure_neighbour(owner, options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code = bench::parse(
      argc, argv, "the cost of polling a digest, for its owner and the owner's clients",
      {
          {"--entries", &options.entries, "how many are cached"},
          {"--pollers", &options.pollers, "neighbours; each polls once a second"},
          {"--turnover", &options.turnover, "entries stored, and dropped, per second"},
          {"--rate", &options.rate, "hits per second"},
          {"--rounds", &options.rounds, "of each kind, in turn"},
          {"--seconds", &options.seconds, "of each round"},
          {"--threads", &options.threads, "of the proxy"},
      });
  if (exit_code) return *exit_code;
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "poll_bench: " << error.what() << '\n';
    return 1;
  }
}
