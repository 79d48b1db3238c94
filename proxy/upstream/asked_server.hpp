// The server that a fetch asks, and the next one should it fail.
#pragma once

#include <chrono>

#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/fetch_plan.hpp"
#include "proxy/upstream/turns.hpp"
#include "proxy/upstream/under_way.hpp"

namespace proxy {

// Records what each server does, for the choices of later fetches and for /health. Belongs to one
// fetch. Call next() before anything else.
class AskedServer {
 public:
  using Clock = std::chrono::steady_clock;

  // Both outlive this object.
  AskedServer(const Upstream& on, const FetchPlan& plan)
      : on_(on),
        plan_(plan),
        turns_(plan.to, plan.origins, plan.route),
        under_way_(on.traffic, plan.head, plan.of_neighbour) {}

  // Chooses the next server. Returns whether there was one left.
  bool next() { return turns_.next(turns_.has_choice() ? Clock::now() : Clock::time_point()); }

  [[nodiscard]] const upstream::Endpoint& to() const { return turns_.to(); }
  // The same, if it is a parent; null: it is an origin or a neighbour.
  [[nodiscard]] const upstream::Parent* parent() const { return turns_.parent(); }
  // What is left of the plan's route.
  [[nodiscard]] upstream::Route rest_of_route() const { return turns_.rest(); }
  // When it was last turned to, for a connection.
  [[nodiscard]] Clock::time_point turned_to() const { return asked_; }
  // Whether its failure was known already, so that it was not asked.
  [[nodiscard]] bool was_known_to_fail() const { return known_to_fail_; }

  // How long a connection, and then the first byte of an answer, is awaited.
  [[nodiscard]] std::chrono::milliseconds connect_time() const;
  [[nodiscard]] std::chrono::milliseconds first_byte_time() const;

  // A connection to it is about to be used or made.
  void turn_to(Clock::time_point now);
  // Call this before a connection is made. Returns why it would fail, if that is known.
  net::error_code known_failure();
  // No connection could be made.
  void note_unreachable(net::error_code why);
  // What arrived from it before a failure.
  struct Heard {
    bool any = false;   // a byte
    bool http = false;  // a response, though perhaps one that this proxy refuses
  };
  // It failed before its head arrived. Returns whether the fetch continues with the next server,
  // which then is chosen.
  bool moves_on(const Failure& failure, Heard heard);
  // Whether a parent says by this status that it does not accept our login.
  [[nodiscard]] bool refuses_login(unsigned status) const { return parent() && status == 407; }
  // It answered by this status. Returns whether that tells of a parent alone, and the next server
  // is chosen.
  bool goes_around(unsigned status);
  // It sent this head, which is not gone around.
  void note_head(const http::ResponseHead& answer);
  // Records for how long an origin that answers 429 or 503 wants to be left alone (Retry-After).
  void note_wish(const http::ResponseHead& answer) const;
  // It answered as a whole. `reused`: over a connection that had been used before.
  void note_answer(bool reused) const;
  // It failed, before its head or in its body.
  void note_failure(const Failure& failure);
  // A parent was silent for longer than expected, while another source answered. Does nothing if it
  // is no parent.
  void note_silence();
  // A parent has cut its answer. Does nothing if it is no parent.
  void note_cut();
  // What the fetch waits for, for those who look. Ends with the fetch.
  [[nodiscard]] upstream::UnderWay& under_way() { return under_way_; }

 private:
  [[nodiscard]] bool may_leave_parent() const;
  bool leaves_silent_parent();

  const Upstream& on_;
  const FetchPlan& plan_;
  upstream::Turns turns_;
  upstream::UnderWay under_way_;
  Clock::time_point asked_;
  bool known_to_fail_ = false;
};

}  // namespace proxy
