#include "proxy/server/server.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdlib>
#include <future>
#include <iostream>

#include "proxy/request/ban.hpp"
#include "proxy/server/session.hpp"
#include "proxy/version.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::chrono::milliseconds kOutOfDescriptors{100};

std::size_t thread_count(const config::Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  return std::max(1U, std::thread::hardware_concurrency());
}

// Of cache.memory, for bodies that are passed on without being kept.
std::uint64_t transit_share(const config::Settings& settings) {
  return settings.cache.memory.value / 8;
}

std::string name_for(const config::Settings& settings, const Listeners& listeners) {
  if (!settings.name.empty()) return settings.name;
  std::array<char, 256> hostname{};
  ::gethostname(hostname.data(), hostname.size() - 1);
  return config::default_name(hostname.data(), listeners.addresses().front().port());
}

std::unique_ptr<cache::DiskTier> begin_disk(const config::Settings& settings,
                                            cache::Budget& budget) {
  const auto& told = settings.cache.disk;
  if (!told) return nullptr;
  const cache::DiskLimits limits{.path = told->path,
                                 .bytes = told->size.value,
                                 .admit_on_second = told->admit == config::Admit::second};
  auto disk = std::make_unique<cache::DiskTier>(budget, limits, Ban::reading);
  open_disk(*disk, told->path);
  return disk;
}

// What a thread does that waits for the disk cannot be ended, nor what it uses be taken away.
[[noreturn]] void end_without_disk(AccessLog& log) {
  spdlog::error(
      "cache.disk.path: the disk does not answer; ended without it: what was stored last is lost, "
      "what was purged last may be back at the next start");
  log.end();
  std::cout.flush();
  std::_Exit(0);
}

Task<void> serve_client(Worker& worker, net::Socket socket) {
  co_await run_session(worker, std::move(socket));
  --worker.shared.connections;
}

void admit(Worker& worker, net::Socket socket) {
  auto& shared = worker.shared;
  worker.counters.accepted.add();
  if (++shared.connections > shared.settings.limits.connections) {
    --shared.connections;
    worker.counters.rejected.add();
    return;  // closed unanswered: a Squid would hand a 503 to its user, so it goes elsewhere
  }
  asio::co_spawn(worker.io.get_executor(), serve_client(worker, std::move(socket)), asio::detached);
}

Task<void> accept_clients(Worker& worker, net::Acceptor& acceptor) {
  while (!worker.shared.draining) {
    net::Socket socket(worker.io.get_executor());
    const auto [error] = co_await acceptor.async_accept(socket, net::as_result);
    if (!error) {
      admit(worker, std::move(socket));
    } else if (error == asio::error::operation_aborted || worker.shared.draining) {
      co_return;
    } else {
      // Out of descriptors, mostly: the ones in use come back.
      net::Timer timer(worker.io.get_executor(), kOutOfDescriptors);
      co_await timer.async_wait(net::as_result);
    }
  }
}

}  // namespace

Server::Server(const config::Settings& settings, lists::AccessLists lists, Gateway gateway)
    : settings_(settings),
      lists_(std::move(lists)),
      threads_(thread_count(settings)),
      listeners_(settings_.listen, threads_),
      budget_(settings_.cache.memory.value - transit_share(settings_)),
      transit_(transit_share(settings_)),
      disk_(begin_disk(settings_, budget_)),
      store_(budget_, {.max_object = settings_.cache.largest_object().value},
             disk_ ? &disk_->disk().index() : nullptr),
      runs_(TransferSlots::slots_in(budget_.limit())),
      gateway_(std::move(gateway)),
      rules_(settings_.rules),
      holdings_(store_),
      directory_(settings_.peers),
      publisher_(holdings_, settings_.digest, clock_.now()),
      metrics_(threads_),
      log_(settings_.log, threads_),
      watch_(disk_.get()),
      shared_{.settings = settings_,
              .name = name_for(settings_, listeners_),
              .listening = listeners_.addresses(),
              .lists = lists_,
              .clock = clock_,
              .budget = budget_,
              .transit = transit_,
              .store = store_,
              .disk = disk_.get(),
              .fills = fills_,
              .runs = runs_,
              .gateway = gateway_,
              .rules = rules_,
              .directory = directory_,
              .publisher = publisher_,
              .metrics = metrics_,
              .log = log_,
              .tls = tls_,
              .aside = aside_.get_executor()} {
  if (disk_) disk_->sit_under(store_);
  for (std::size_t i = 0; i < threads_; ++i) workers_.emplace_back(shared_, i);
}

Server::~Server() {
  stop();
}

const std::vector<net::tcp::endpoint>& Server::addresses() const {
  return listeners_.addresses();
}

void Server::start() {
  exchange_.emplace(directory_, settings_.digest, std::string(kProduct),
                    [this](peers::WallTime now) {
                      publisher_.tick(now);
                      watch_.look();
                    });
  running_.emplace_back([this] {
    const auto until_stopped = asio::make_work_guard(aside_);
    aside_.run();
  });
  for (std::size_t i = 0; i < threads_; ++i) {
    auto& worker = workers_[i];
    for (auto& acceptor : listeners_.acceptors(i, worker.io.get_executor())) {
      worker.acceptors.push_back(std::make_unique<net::Acceptor>(std::move(acceptor)));
      asio::co_spawn(worker.io.get_executor(), accept_clients(worker, *worker.acceptors.back()),
                     asio::detached);
    }
    worker.deadlines.start();
    running_.emplace_back([&worker] { worker.io.run(); });
  }
}

void Server::run() {
  std::function<void()> await_rotation = [&] {
    rotating_.async_wait([&](net::error_code error, int) {
      if (error) return;
      log_.reopen();
      await_rotation();
    });
  };
  await_rotation();
  ending_.async_wait([&](net::error_code, int) { signals_.stop(); });
  start();
  signals_.run();
  drain();
  stop();
}

void Server::drain() {
  shared_.draining = true;
  for (auto& worker : workers_) {
    asio::post(worker.io, [&worker] {
      net::error_code ignored;
      for (auto& acceptor : worker.acceptors) acceptor->close(ignored);
      worker.sessions.drain();
    });
  }
  // Looked at, not signalled: this thread has nothing else to do, and a connection's end stays one
  // atomic subtraction for the threads that serve.
  const auto until = std::chrono::steady_clock::now() + settings_.timeouts.drain;
  while (shared_.connections > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Server::stop() {
  exchange_.reset();
  aside_.stop();
  for (auto& worker : workers_) worker.io.stop();
  running_.clear();
  // Whom the disk tells that something is read or written has to be there yet.
  if (disk_ && !disk_->stop()) end_without_disk(log_);
  // All of them before any is destroyed: a fill's readers may be on other threads.
  aside_.end_coroutines();
  for (auto& worker : workers_) worker.io.end_coroutines();
  fills_.clear();  // they refer to the workers' timers, as runs do
  runs_.clear();
}

}  // namespace proxy
