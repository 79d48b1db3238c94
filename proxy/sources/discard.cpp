#include "proxy/sources/discard.hpp"

#include "proxy/worker/worker.hpp"

namespace proxy {

using std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kDrainWait{20};

}  // namespace

net::Task<void> discard(Worker& worker, Fetch& fetch) {
  const PooledBuffer scratch(worker.buffers);
  const auto until = steady_clock::now() + kDrainWait;
  while (!fetch.body_finished() && steady_clock::now() < until) {
    const auto read = co_await fetch.body(scratch.all(), kDrainWait);
    if (!read) break;
  }
  fetch.finish();
}

}  // namespace proxy
