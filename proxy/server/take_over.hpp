// Takes over from the process that served before.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>

#include "proxy/machine/channel.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/worker.hpp"

namespace proxy {

// Forgets what the predecessor purges and invalidates until it ends, since we may have read it from
// the disk before. For the main thread.
class TakeOver {
 public:
  // `worker` carries the orders out. All outlive this object.
  TakeOver(net::asio::io_context& io, succession::Predecessor& predecessor, Worker& worker)
      : predecessor_(predecessor), worker_(worker), readable_(io) {}

  // The workers accept connections. Does nothing if there is no predecessor. Throws
  // std::runtime_error if the predecessor goes on serving without us.
  void begin();
  // Whether there is one, which has not ended yet.
  [[nodiscard]] bool has_predecessor() const { return readable_.is_open(); }

 private:
  void await_orders();
  void obey_all();
  void obey(succession::Message message);

  succession::Predecessor& predecessor_;
  Worker& worker_;
  net::asio::posix::stream_descriptor readable_;
};

}  // namespace proxy
