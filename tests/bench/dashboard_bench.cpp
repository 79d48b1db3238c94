// The cost of open dashboards: CPU time of a hit while none and while some are open, in turn. Each
// reads what the page of an administrator reads, with the tables of origins, hosts, URLs and
// clients.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/arguments.hpp"
#include "tests/bench/brief_origin.hpp"
#include "tests/bench/cpu_time.hpp"
#include "tests/support/proxy_process.hpp"

namespace {

using std::chrono::steady_clock;
using support::Client;
using Seconds = std::chrono::duration<double>;

struct Options {
  std::uint32_t dashboards = 3;
  std::uint32_t connections = 64;
  std::uint32_t origins = 40;
  int slices = 9;
  double seconds = 3;
};

// A proxy whose tables have a row for each of many origins and clients.
class Site {
 public:
  explicit Site(const Options& options)
      : origins_(options.origins),
        proxy_({{"threads", 1},
                {"log", {{"access", "none"}}},
                {"access", {{"admin", {"loopback"}}}}}) {
    std::uint8_t from = 2;
    for (const auto& origin : origins_) Client(proxy_.port(), from++).get(origin.url(1));
  }

  const support::ProxyProcess& proxy() const { return proxy_; }
  std::string hit() const { return support::request_text("GET", origins_.front().url(1)); }
  double cpu() { return bench::cpu_seconds(proxy_.process().pid()); }

 private:
  std::list<bench::BriefOrigin> origins_;
  support::ProxyProcess proxy_;
};

class Dashboard {
 public:
  explicit Dashboard(const support::ProxyProcess& proxy)
      : url_(proxy.url() + "/hearsay/"), stream_(proxy.port()), pages_(proxy.port()) {
    stream_.send(support::request_text("GET", url_ + "events"));
    if (stream_.read_head().status != 200) throw std::runtime_error("no place for a dashboard");
    for (const auto* page : {"history", "requests", "origins", "busiest"}) look(page);
    reader_ = std::jthread([this] { read(); });
  }
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;
  ~Dashboard() { stream_.leave(); }

 private:
  void look(const std::string& page) {
    if (pages_.get(url_ + page).status != 200) throw std::runtime_error("no page " + page);
  }

  void read() try {
    constexpr int kPause = 5;  // in seconds, as busiest.js has it
    std::string line;
    for (int news = 0;;) {
      const auto next = stream_.read_body(1);
      if (next.empty()) return;
      if (next != "\n") {
        line += next;
        continue;
      }
      if (line.starts_with("data: ")) {
        look("origins");
        if (++news % kPause == 0) look("busiest");
      }
      line.clear();
    }
  } catch (const std::exception&) {  // it was closed
  }

  const std::string url_;
  Client stream_;
  Client pages_;
  std::jthread reader_;
};

using Dashboards = std::list<Dashboard>;

void open(Dashboards& dashboards, const Site& site, std::uint32_t number) {
  while (dashboards.size() < number) dashboards.emplace_back(site.proxy());
}

// Microseconds of the proxy's CPU time for each hit.
double cost_of_hit(Site& site, const Options& options) {
  std::list<Client> clients;
  for (std::uint32_t i = 0; i < options.connections; ++i) clients.emplace_back(site.proxy().port());
  const auto request = site.hit();
  std::uint64_t hits = 0;
  const double before = site.cpu();
  const auto end = steady_clock::now() + Seconds(options.seconds);
  while (steady_clock::now() < end) {
    for (auto& client : clients) client.send(request);
    for (auto& client : clients) {
      const auto answer = client.read();
      if (!support::contains(answer.field("Cache-Status"), "hit")) {
        throw std::runtime_error("not a hit: " + answer.start_line);
      }
      ++hits;
    }
  }
  return 1e6 * (site.cpu() - before) / static_cast<double>(hits);
}

double cpu_per_second(Site& site, double seconds) {
  const double before = site.cpu();
  std::this_thread::sleep_for(Seconds(seconds));  // its CPU time meanwhile is measured
  return (site.cpu() - before) / seconds;
}

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

int run(const Options& options) {
  Site site(options);
  cost_of_hit(site, options);  // the first is not counted
  std::vector<double> closed;
  std::vector<double> opened;
  double idle = 0;
  double watched = 0;
  for (int i = 0; i < options.slices; ++i) {
    idle += cpu_per_second(site, options.seconds) / options.slices;
    closed.push_back(cost_of_hit(site, options));
    Dashboards dashboards;
    open(dashboards, site, options.dashboards);
    opened.push_back(cost_of_hit(site, options));
    watched += cpu_per_second(site, options.seconds) / options.slices;
    fmt::print("a hit: {:.2f} us of CPU time, {:.2f} us with dashboards\n", closed.back(),
               opened.back());
    std::cout.flush();
  }
  fmt::print("median of a hit: {:.2f} us, {:.2f} us with {} dashboards: {:+.1f} %\n",
             median(closed), median(opened), options.dashboards,
             100 * (median(opened) / median(closed) - 1));
  fmt::print("without hits: {:.2f} % of a core, {:.2f} % with dashboards\n", 100 * idle,
             100 * watched);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto exit_code = bench::parse(
      argc, argv, "the cost of open dashboards, for a hit and for an idle proxy",
      {
          {"--dashboards", &options.dashboards, "that are open in every other slice; at most 16"},
          {"--connections", &options.connections, "of clients that ask for hits"},
          {"--origins", &options.origins, "and as many clients: rows of the tables; at most 200"},
          {"--slices", &options.slices, "of each kind, in turn"},
          {"--seconds", &options.seconds, "of each slice"},
      });
  if (exit_code) return *exit_code;
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::cerr << "dashboard_bench: " << error.what() << '\n';
    return 1;
  }
}
