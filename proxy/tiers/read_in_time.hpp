// Reads from a disk that may take long or hang.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "proxy/net/wakeup.hpp"
#include "proxy/tiers/cache.hpp"

namespace proxy::tiers {

template <class T>
struct WaitingRead {
  WaitingRead(net::Executor executor, std::function<cache::disk::Result<T>()> its_read)
      : read(std::move(its_read)), done(executor) {}

  const std::function<cache::disk::Result<T>()> read;
  cache::disk::Result<T> result = cache::disk::Error::busy;
  net::Wakeup done;
  std::atomic<bool> given_up = false;
};

// Calls `read` on a thread that may wait for the disk. Returns its result; `busy` if too many reads
// wait already; `hangs` if the disk does not answer within DiskTier::kReadLimit. After `hangs` the
// call may still be under way, so `read` owns all objects that it uses, except those that outlive
// the workers.
template <class T>
net::Task<cache::disk::Result<T>> read_in_time(Reader& reader,
                                               std::function<cache::disk::Result<T>()> read) {
  using cache::disk::Error;
  auto& tier = *reader.tiers.disk;
  if (tier.hangs()) co_return Error::hangs;
  const auto waiting = std::make_shared<WaitingRead<T>>(reader.executor, std::move(read));
  const auto posted = tier.post([waiting] {
    if (waiting->given_up) return;
    waiting->result = waiting->read();
    waiting->done.notify();
  });
  if (posted == cache::DiskTier::Posted::too_many) co_return Error::busy;
  const auto woken = co_await waiting->done.wait(cache::DiskTier::kReadLimit);
  if (woken == net::Wakeup::Woken::notified) co_return std::move(waiting->result);
  waiting->given_up = true;
  tier.disk().catalog().counters.slow_reads += 1;
  co_return Error::hangs;
}

// Whether a response may begin to send the body from its file. Verifies the body if need be, which
// may wait for the disk. Returns false also for a damaged body; an ordinary read then reports the
// damage.
net::Task<bool> may_be_sent(Reader& reader, std::shared_ptr<FileBody> body);

}  // namespace proxy::tiers
