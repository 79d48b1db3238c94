// The connections of clients, and what they hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "proxy/crowd/bandwidth.hpp"
#include "proxy/crowd/client_table.hpp"
#include "proxy/crowd/descriptors.hpp"
#include "proxy/crowd/doorkeeper.hpp"
#include "proxy/crowd/relief.hpp"
#include "proxy/crowd/session_list.hpp"
#include "proxy/crowd/warnings.hpp"

namespace proxy {

struct CrowdOfThread;

// Of all threads. Any thread; outlives all connections.
struct Crowd {
  Crowd(machine::Clock& clock, const DescriptorLimits& limits)
      : descriptors(limits), bandwidth(clock) {}

  DescriptorLimits descriptors;
  ClientTable clients{};
  ClientTable operators{};  // the connections to the control socket
  Bandwidth bandwidth;
  Warnings warnings{};
  std::atomic<std::uint64_t> unread_in_transit{0};  // of all clients: see ClientShare
  std::atomic<std::uint64_t> head_bytes{0};         // likewise
  std::atomic<std::uint64_t> leaving_heads{0};      // of requests that were cut and have yet to end
  std::atomic<std::uint64_t> leaving_bytes{0};  // of responses that were cut and have yet to end
  // Runs the work for each thread, on that thread, soon. Returns at once. Empty: there is one.
  std::function<void(const std::function<void(CrowdOfThread&)>&)> on_each_thread = {};
};

// The connections of one I/O thread, and what looks after them. Belongs to that thread.
struct CrowdOfThread {
  // `all` and what the needs refer to outlive this object.
  CrowdOfThread(Crowd& of_all, const Relief::Needs& needs, upstream::Pool& pool)
      : all(of_all), relief(*this, needs), doorkeeper(*this, pool, needs.clock) {}

  Crowd& all;
  SessionList sessions;
  Relief relief;
  Doorkeeper doorkeeper;
};

}  // namespace proxy
