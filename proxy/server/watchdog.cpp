#include "proxy/server/watchdog.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <utility>

namespace proxy::server {

namespace asio = net::asio;
using Clock = std::chrono::steady_clock;

namespace {

// The rescue waits for the disk, which may be slow.
constexpr std::chrono::seconds kLongestRescue{15};
constexpr int kLongWork = 6;  // times kLongest

Clock::duration pause_between_looks(const machine::Supervisor& supervisor) {
  // At least four looks within the time after which the service manager ends the process.
  const Clock::duration pause = std::chrono::seconds(1);
  return supervisor.watchdog() ? std::min<Clock::duration>(pause, *supervisor.watchdog() / 4)
                               : pause;
}

std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

std::function<bool()> Watchdog::asking(net::Executor loop) {
  auto has_answered = std::make_shared<std::atomic<bool>>(true);
  return [loop, has_answered = std::move(has_answered)] {
    // One question at a time: a loop that is stuck must not be found full of them.
    if (!has_answered->exchange(false)) return false;
    asio::post(loop, [has_answered] { *has_answered = true; });
    return true;
  };
}

Watchdog::Watchdog(const machine::Supervisor& supervisor, observe::StuckThreads& stuck,
                   std::vector<Watched> threads, std::function<void()> rescue)
    : supervisor_(supervisor), stuck_(stuck), rescue_(std::move(rescue)) {
  for (auto& thread : threads) threads_.push_back({.thread = std::move(thread)});
}

Watchdog::~Watchdog() {
  io_.stop();
}

void Watchdog::begin() {
  // Its own set: the main thread, which has another one, may be the thread that is stuck.
  ending_.add(SIGTERM);
  ending_.add(SIGINT);
  ending_.async_wait([this](net::error_code error, int) {
    // A main thread that gets on names a longer time, which holds whichever of the two is first.
    if (!error && !is_told_when_) end_within(kLongest);
  });
  thread_ = std::jthread([this] {
    const auto until_stopped = asio::make_work_guard(io_);
    io_.run();
  });
}

void Watchdog::begin_to_look() {
  asio::post(io_, [this] { look(); });
}

// Looks are counted, not time: while the whole process stands still, no thread is at fault.
void Watchdog::look() {
  if (!waits_for_.empty()) return;  // threads end
  const auto pause = pause_between_looks(supervisor_);
  std::vector<std::string> stuck;
  bool lives = true;
  for (auto& [thread, without] : threads_) {
    without = thread.got_on() ? Clock::duration{} : without + pause;
    if (!thread.works_long && without > Clock::duration{}) lives = false;
    if (without >= kLongest * (thread.works_long ? kLongWork : 1)) stuck.push_back(thread.name);
  }
  // One stuck thread is enough to say nothing: the supervisor is to restart the process.
  if (lives && !leaves_) supervisor_.alive();
  say(std::move(stuck));
  look_.expires_after(pause);
  look_.async_wait([this](net::error_code error) {
    if (!error) look();
  });
}

void Watchdog::say(std::vector<std::string> stuck) {
  const auto before = stuck_.names();
  if (stuck == before) return;
  stuck_.set(stuck);
  if (stuck.empty()) return spdlog::info("{}: gets on again", text_of(before));
  spdlog::error("{}: stuck; this is a fault of the program: restart it, and report this",
                text_of(stuck));
}

void Watchdog::end_within(std::chrono::milliseconds longest, std::string waits_for) {
  asio::post(io_, [this, longest, waits_for = std::move(waits_for)]() mutable {
    is_told_when_ = true;
    waits_for_ = std::move(waits_for);
    end_.expires_after(longest);
    end_.async_wait([this](net::error_code error) {
      if (!error) end_process();
    });
  });
}

void Watchdog::let_it_end() {
  asio::post(io_, [this] {
    is_told_when_ = true;
    end_.cancel();
  });
}

// What is stuck may hold a lock that the log or the disk needs.
void Watchdog::end_process() {
  if (waits_for_.empty()) waits_for_ = text_of(stuck_.names());
  if (waits_for_.empty()) waits_for_ = "a thread";
  std::promise<void> rescued;
  auto end = rescued.get_future();
  // Never joined: it may wait for the very lock that is stuck.
  std::thread([this, rescued = std::move(rescued)]() mutable {
    spdlog::error(
        "{}: stuck, and keeps the process from ending: ended without it; this is a fault of the "
        "program: report it",
        waits_for_);
    rescue_();
    rescued.set_value();
  }).detach();
  end.wait_for(kLongestRescue);
  std::_Exit(0);
}

}  // namespace proxy::server
