// Gives up memory of the cache when allocations fail.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>

#include "proxy/machine/memory.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/storage.hpp"
#include "proxy/tiers/cache.hpp"

namespace proxy::server {

// The settings may promise memory that the process does not get. Once an allocation has failed, the
// cache gives up an eighth of what it holds, and holds no more than that. If no limit of the
// process is the cause, the shortage may pass, so the cache grows again bit by bit. /health says so
// as long as the cache is smaller than the settings say. For the thread aside, except as said.
class GivingWay {
 public:
  // All references outlive this object. The main thread calls this.
  GivingWay(net::asio::io_context& aside, Storage& storage, tiers::Tiers& tiers);

  // Begins to look out for allocations that fail. The main thread calls this before `aside` runs.
  void start();
  // Call this when new sizes apply. The failures of the old ones no longer count.
  void begin_anew();

 private:
  void await_failure();
  void give_way();
  void grow_later();
  void grow();

  Storage& storage_;
  tiers::Tiers& tiers_;
  machine::memory::Reserve reserve_;
  net::asio::posix::stream_descriptor failed_;
  net::Timer calm_;
};

}  // namespace proxy::server
