#include "proxy/server/worker_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>

namespace proxy {

namespace asio = net::asio;

namespace {

net::Task<void> ask_name(Worker& worker, std::string host) {
  co_await worker.outgoing.resolver.resolve(std::move(host));
}

}  // namespace

std::size_t thread_count(const config::Settings& settings) {
  if (settings.threads > 0) return settings.threads;
  return std::max(1U, std::thread::hardware_concurrency());
}

WorkerThreads::WorkerThreads(Shared& shared, Loop& aside, std::size_t count) : aside_(aside) {
  for (std::size_t i = 0; i < count; ++i) workers_.emplace_back(shared, i);
  shared.crowd.on_each_thread = [this](const auto& work) {
    on_each([work](Worker& worker) { work(worker.crowd); });
  };
}

void WorkerThreads::follow(const PinnedPolicy& policy) {
  on_each([policy](Worker& worker) { worker.follow(policy); });
}

void WorkerThreads::on_each(const std::function<void(Worker&)>& work) {
  for (auto& worker : workers_) {
    asio::post(worker.io, [&worker, work] { work(worker); });
  }
}

void WorkerThreads::start() {
  running_.emplace_back([this] {
    const auto until_stopped = asio::make_work_guard(aside_);
    aside_.run();
  });
  for (auto& worker : workers_) {
    worker.deadlines.start();
    worker.crowd.relief.start();
    running_.emplace_back([&worker] { worker.io.run(); });
  }
}

void WorkerThreads::stop(const WaitsFor& waits_for) {
  aside_.stop();
  for (auto& worker : workers_) worker.io.stop();
  for (std::size_t i = 0; i < running_.size(); ++i) {
    waits_for(i == 0 ? kAside : name_of(i - 1));
    running_[i].join();
  }
  running_.clear();
}

void WorkerThreads::ask_for_name(const std::string& host) {
  on_each([host, asked = std::make_shared<std::atomic<bool>>()](Worker& worker) {
    if (!asked->exchange(true)) net::spawn(worker.io.get_executor(), ask_name(worker, host));
  });
}

std::string WorkerThreads::name_of(std::size_t worker) {
  return fmt::format("I/O thread {}", worker + 1);
}

void WorkerThreads::end_coroutines() {
  aside_.end_coroutines();
  for (auto& worker : workers_) worker.io.end_coroutines();
}

}  // namespace proxy
