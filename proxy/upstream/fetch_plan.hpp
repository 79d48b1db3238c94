// What one fetch is to ask, of whom, and what it needs for that.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/input.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/origin_traffic.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy {

// Where a thread records what servers do. Everything outlives the thread's fetches.
struct ServerRecords {
  upstream::FailedEndpoints& failed;
  upstream::OriginHealth& health;
  upstream::TrafficOfThread& traffic;
  machine::Clock& clock;
};

// What a fetch needs from its thread. Everything must outlive the fetch. Time-outs and limits may
// change between two steps of a fetch.
struct Upstream : ServerRecords {
  upstream::Connector& connector;
  upstream::Pool& pool;
  BufferPool& buffers;
  config::Timeouts timeouts;
  config::Limits limits;
};

struct FetchPlan {
  upstream::Endpoint to;
  // If set, the fetch asks these servers in turn instead of one. It asks the next server if one
  // cannot be reached, or hangs up without an answer and the request may be sent again. After the
  // time-out first_byte it asks no other, since the server may be working on the request.
  std::shared_ptr<upstream::Origins> origins = nullptr;
  // The parents that the fetch asks before `to`, or instead of it. They are asked in turn, too. If
  // a parent says that it has no way to the origin (502, 503, 504), that the request loops (508),
  // or that it does not accept our login (407), the next server is asked. So it is if the request
  // may be sent twice and the parent is silent for parent.first_byte.
  upstream::Route route = {};
  // A neighbour is asked: what it does says nothing of an origin.
  bool of_neighbour = false;
  // The fetch fails with Errc::no_parent_left in place of asking `to`.
  bool parents_only = false;
  std::string head;    // the whole head of the request, to an origin: see http::to_proxy()
  std::string method;  // decides which framing the response may have
  // Whether the request may be sent twice and has no body. Only such a request uses a pooled
  // connection, which may turn out to be dead: the fetch then tries a new connection.
  bool repeatable = true;
  // Asks for a WebSocket: a matching 101 is a final response, any other 101 is damage.
  bool websocket = false;
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds first_byte{60'000};
  // How long a parent is waited for, if another server is left.
  struct OfParent {
    std::chrono::milliseconds connect{1'000};
    std::chrono::milliseconds first_byte{5'000};
    std::chrono::milliseconds trial_first_byte{1'000};  // of one that has failed before
  };
  OfParent parent = {};
};

}  // namespace proxy
