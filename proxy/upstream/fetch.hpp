// One request to an upstream server, and its response.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/net/exact_deadline.hpp"
#include "proxy/upstream/connect.hpp"
#include "proxy/upstream/failed_endpoints.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/upstream/turns.hpp"
#include "proxy/wire/input.hpp"

namespace proxy {

// What a fetch needs from its thread. Everything must outlive the fetch. Time-outs and limits may
// change between two steps of a fetch.
struct Upstream {
  upstream::Connector& connector;
  upstream::Pool& pool;
  upstream::FailedEndpoints& failed;
  upstream::OriginHealth& health;
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
  // may be sent twice and the parent is silent for parent_first_byte.
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
  // The same for a parent, if another server is left.
  std::chrono::milliseconds parent_connect{1'000};
  std::chrono::milliseconds parent_first_byte{5'000};
  std::chrono::milliseconds trial_first_byte{1'000};  // of one that has failed before
};

// Belongs to one coroutine. Order of calls: start(), then send()*, then response() until it is not
// interim, then body(), then finish().
class Fetch {
 public:
  Fetch(const Upstream& on, FetchPlan plan);
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  // Connects and sends the head.
  net::Task<Outcome<void>> start();
  // Sends a part of the request's body.
  net::Task<Outcome<void>> send(std::span<const net::asio::const_buffer> bytes);
  // Whether a response, or the end of the connection, arrived before the whole request was sent.
  bool answered_early();
  // Waits at most `time`. Returns whether the first bytes of a response, or a failure, arrived.
  net::Task<bool> answers_within(std::chrono::milliseconds time);
  // Returns the next head, interim or final, as views into this object that are valid until the
  // next call. The caller takes the time of its arrival.
  net::Task<Outcome<const http::ResponseHead*>> response();

  // The last server that was asked.
  [[nodiscard]] const upstream::Endpoint& to() const { return turns_.to(); }
  // The same, if it is a parent; null: it is an origin.
  [[nodiscard]] const upstream::Parent* parent() const { return turns_.parent(); }
  // Whether its failure was known already, so that it was not asked.
  [[nodiscard]] bool was_known_to_fail() const { return known_to_fail_; }
  // When it was first turned to.
  [[nodiscard]] std::chrono::steady_clock::time_point turned_to() const { return asked_; }
  // What is left of the plan's route.
  [[nodiscard]] upstream::Route rest_of_route() const { return turns_.rest(); }
  // The server that the plan names first, whichever of several is asked.
  [[nodiscard]] const upstream::Endpoint& aimed_at() const { return plan_.to; }
  [[nodiscard]] const http::ResponseHead& head() const { return answer_.head; }
  [[nodiscard]] const http::Framing& framing() const { return answer_.body->framing(); }
  [[nodiscard]] bool body_finished() const { return answer_.body->finished(); }
  // Waits, at most FetchPlan::first_byte, until the first 8 KiB of the body are here, or all of a
  // shorter one; or the first byte of a body of unknown length. So much arrives with the head, in
  // the first flight of a connection. Returns whether they are here. A failure shows in body().
  net::Task<bool> body_begins();
  // Returns at least one byte of the body, or 0 at its end. `idle`: the longest wait, exact if it
  // is shorter than kExactBelow.
  net::Task<Outcome<std::size_t>> body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle);
  // After a 101: the connection is no longer HTTP, and beyond_head() are its first bytes.
  [[nodiscard]] net::Stream& stream() { return *stream_; }
  [[nodiscard]] std::string_view beyond_head() const { return input_->buffered(); }
  // Keeps the connection for the next request if it can be reused.
  void finish();
  // Makes a pending wait fail soon. Call this on the fetch's thread, from another coroutine.
  void abandon();
  // Records that the parent was silent for longer than expected, while another source answered.
  // Does nothing if an origin is being asked.
  void note_silence();
  // Records that the parent has cut its answer. Does nothing if an origin was asked.
  void note_cut();

 private:
  // The last response. `head` has views into `text`.
  struct Answer {
    std::string text;
    http::ResponseHead head;
    std::optional<BodyReader> body;
  };

  static constexpr std::chrono::milliseconds kExactBelow{1'000};

  net::Task<Outcome<void>> connect(bool may_reuse);
  net::Task<Outcome<void>> start_by_route();
  net::Task<Outcome<void>> ask_in_turn();
  net::Task<Outcome<const http::ResponseHead*>> read_head();
  [[nodiscard]] bool died_unheard(const Failure& failure) const;
  bool moves_on(const Failure& failure);
  bool leaves_silent_parent();
  bool goes_around(const http::ResponseHead& head);
  void note_health(const Failure& failure) const;
  void note_answer() const;
  [[nodiscard]] bool may_leave_parent() const;
  [[nodiscard]] bool speaks_http() const;
  [[nodiscard]] std::chrono::milliseconds first_byte() const;
  [[nodiscard]] Failure failed(net::error_code cause) const;

  const Upstream& on_;
  const FetchPlan plan_;
  upstream::Turns turns_;
  std::chrono::steady_clock::time_point asked_;
  std::unique_ptr<net::Stream> stream_;
  std::optional<Input> input_;
  Answer answer_;
  bool reused_ = false;
  bool heard_ = false;  // a byte of a response has arrived
  bool abandoned_ = false;
  bool known_to_fail_ = false;
  std::optional<net::ExactDeadline> silence_;  // of a body whose idle time is short
};

}  // namespace proxy
