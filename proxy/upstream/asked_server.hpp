// The plan of one fetch: its request, and the servers to ask. And the server that is asked now, and
// the next one if that server fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "config/settings.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/input.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/origin_traffic.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::upstream {

// Where a thread records what servers do. Everything outlives the thread's fetches.
struct ServerRecords {
  FailedEndpoints& failed;
  OriginHealth& health;
  TrafficOfThread& traffic;
  machine::Clock& clock;
};

// What a fetch needs from its thread. Everything must outlive the fetch. Time-outs and limits may
// change between two steps of a fetch.
struct Upstream : ServerRecords {
  Connector& connector;
  Pool& pool;
  net::BufferPool& buffers;
  config::Timeouts timeouts;
  config::Limits limits;
};

struct FetchPlan {
  Endpoint to;
  // If set, the fetch asks these servers in turn instead of one. It asks the next server if one
  // cannot be reached, or hangs up without an answer and the request may be sent again. After the
  // time-out first_byte it asks no other, since the server may be working on the request.
  std::shared_ptr<Origins> origins = nullptr;
  // The parents that the fetch asks before `to`, or instead of it. They are asked in turn, too. If
  // a parent says that it has no way to the origin (502, 503, 504), that the request loops (508),
  // or that it does not accept our login (407), the next server is asked. The same holds if the
  // request may be sent twice and the parent is silent for parent.first_byte.
  Route route = {};
  // Which server is asked after the parents of the route.
  enum class Asked : std::uint8_t {
    origin,
    redirected,  // an origin, for a target of another one's redirect, which may hold a signature
    neighbour,   // what it does says nothing of an origin
    parents,     // alone: the fetch fails with Errc::no_parent_left in place of asking `to`
  };
  Asked asked = Asked::origin;
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

// Chooses the servers of a plan in turn: the origins of a mapping; or the parents of the route,
// then the origin, then the parents that rest. Records what each server does, for the choices of
// later fetches and for /health. Belongs to one fetch. Call next() before anything else.
class AskedServer {
 public:
  using Time = machine::Clock::SteadyTime;

  // Both outlive this object.
  AskedServer(const ServerRecords& records, const FetchPlan& plan)
      : on_(records),
        plan_(plan),
        under_way_(records.traffic, plan.head,
                   plan.asked == FetchPlan::Asked::neighbour    ? UnderWay::To::neighbour
                   : plan.asked == FetchPlan::Asked::redirected ? UnderWay::To::redirected
                                                                : UnderWay::To::origin) {}

  // Chooses the next server. Returns false, and changes nothing, if none is left.
  bool next();

  // The server that is asked now; before next(), the origin.
  [[nodiscard]] const Endpoint& to() const { return among_ ? (*among_)[number_] : plan_.to; }
  // The server if it is a parent. Null: it is an origin or a neighbour.
  [[nodiscard]] const Parent* parent() const {
    return among_ && !plan_.origins ? &(*plan_.route.parents)[number_] : nullptr;
  }
  // The part of the plan's route that has not been asked.
  [[nodiscard]] Route rest_of_route() const;
  // When a connection to the server was last about to be used or made: see turn_to().
  [[nodiscard]] Time turned_to() const { return asked_; }
  // Whether its failure was known already, so that it was not asked.
  [[nodiscard]] bool was_known_to_fail() const { return known_to_fail_; }

  // How long a connection, and then the first byte of an answer, is awaited.
  [[nodiscard]] std::chrono::milliseconds connect_time() const;
  [[nodiscard]] std::chrono::milliseconds first_byte_time() const;

  // Call this when a connection to the server is about to be used or made.
  void turn_to(Time now);
  // Call this before a connection is made. Returns why it would fail, if that is known.
  net::error_code known_failure();
  // What arrived from the server before a failure.
  struct Heard {
    bool any = false;   // a byte
    bool http = false;  // a response, though perhaps one that this proxy refuses
  };
  // Records that the server failed before the head of its answer arrived. Returns whether the fetch
  // continues with the next server, which then is chosen.
  bool moves_on(const Failure& failure, Heard heard);
  // Records that the server answered by this status. Returns whether that tells of a parent alone,
  // and the next server is chosen.
  bool goes_around(unsigned status);
  // Records that the server sent this head, which goes_around() does not go around. An origin that
  // answers 429 or 503 may want to be left alone for a while (Retry-After).
  void record_head(const http::ResponseHead& answer);
  // A whole answer was the first over its connection, or a later one.
  enum class Answer : std::uint8_t { first, later };
  void record_answer(Answer which) const;
  // Records that the server failed, before the head of its answer or in the body.
  void record_failure(const Failure& failure);
  // Records that a parent was silent for longer than expected, while another source answered. Does
  // nothing if the server is no parent.
  void record_silence();
  // A parent has cut its answer. Does nothing if it is no parent.
  void note_cut();
  // The record of what the fetch waits for, which the pages show. Ends with the fetch.
  [[nodiscard]] UnderWay& under_way() { return under_way_; }

 private:
  bool next_parent(Time now);
  [[nodiscard]] bool is_neighbour() const { return plan_.asked == FetchPlan::Asked::neighbour; }
  [[nodiscard]] bool may_go_to_origin() const { return plan_.route.direct && !origin_tried_; }
  [[nodiscard]] bool others_left() const;
  [[nodiscard]] bool may_leave_parent() const;
  enum class Fault : std::uint8_t { failed, silent };
  void record(Fault fault);

  const ServerRecords& on_;
  const FetchPlan& plan_;
  UnderWay under_way_;
  Origins::Tried tried_;
  Origins* among_ = nullptr;  // the parents or the origins that it is one of
  std::size_t number_ = 0;    // among these
  bool origin_tried_ = false;
  bool failure_counted_ = false;  // of the parent that is asked now
  bool known_to_fail_ = false;
  Time asked_;
};

}  // namespace proxy::upstream
