// One request to an upstream server, and its response.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "proxy/net/deadlines.hpp"
#include "proxy/net/frames.hpp"
#include "proxy/net/input.hpp"
#include "proxy/upstream/asked_server.hpp"
#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {

// Asks the servers of a plan in turn until one of them answers, each over an idle connection or a
// new one, and reads the answer. Belongs to one coroutine. Order of calls: start(), then send()*,
// then response() until it is not interim, then body(), then finish().
class Fetch : public net::InFrameMemory, boost::noncopyable {
 public:
  using Time = AskedServer::Time;

  // `on` outlives this object.
  Fetch(const Upstream& on, FetchPlan&& plan)
      : on_(on), plan_(std::move(plan)), server_(on_, plan_) {}

  // Sends the request's head to the first server of the plan that can be reached, over an idle or a
  // new connection. Returns a failure if no server can be reached, or if the route leads nowhere.
  // `now`: the present time of the steady clock.
  net::Soon<Outcome<void>> start(Time now);
  net::Soon<Outcome<void>> start() { return start(on_.clock.steady()); }
  // Sends a part of the request's body.
  net::Task<Outcome<void>> send(std::span<const net::asio::const_buffer> bytes);
  // Whether a response, or the end of the connection, arrived before the whole request was sent.
  bool answered_early();
  // Waits at most `time`. Returns whether the first bytes of a response, or a failure, arrived.
  net::Task<bool> answers_within(std::chrono::milliseconds time);
  // Returns the next head, interim or final, as views into this object that are valid until the
  // next call. The caller takes the time of its arrival.
  net::Task<Outcome<const http::ResponseHead*>> response();

  // The server that is asked, or was asked last.
  [[nodiscard]] const AskedServer& server() const { return server_; }
  [[nodiscard]] AskedServer& server() { return server_; }
  // The server that the plan names first, whichever of several is asked.
  [[nodiscard]] const Endpoint& aimed_at() const { return plan_.to; }
  [[nodiscard]] const http::ResponseHead& head() const { return answer_.head; }
  [[nodiscard]] const http::Framing& framing() const { return answer_.body->framing(); }
  [[nodiscard]] bool body_finished() const { return answer_.body->finished(); }
  // Waits until the first 8 KiB of the body are here, or all of a shorter body, or the first byte
  // of a body of unknown length; but for at most FetchPlan::first_byte. So much arrives with the
  // head, in the first flight of a connection. Returns whether the bytes are here. body() returns
  // any failure.
  net::Task<bool> body_begins();
  // Whether the bytes that body_begins() waits for are here.
  [[nodiscard]] bool body_has_begun() const;
  // Returns at least one byte of the body, or 0 at its end. `idle`: the longest wait. Below 1 s
  // (kExactBelow) it is exact, and its time-out ends the connection. After a longer one,
  // body_goes_on() may follow.
  net::Task<Outcome<std::size_t>> body(net::asio::mutable_buffer into,
                                       std::chrono::milliseconds idle);
  // Waits at most `idle` until body() has something to return, be it more of the body or a failure.
  // Call this after body() has timed out.
  net::Task<void> body_goes_on(std::chrono::milliseconds idle);
  // Reads bytes of the body that have arrived already, without a wait. Returns how many. 0: none
  // have, or the length of the body is unknown.
  std::size_t body_at_hand(net::asio::mutable_buffer into);
  // The whole body, if it is here: see BodyReader::whole().
  std::optional<net::TakenBytes> whole_body();
  // Reads as body() does, but into an empty pipe. Call this only if passes_in_kernel().
  net::Task<Outcome<std::size_t>> body_into(net::Pipe& pipe, std::chrono::milliseconds idle);
  [[nodiscard]] bool passes_in_kernel() const { return answer_.body->passes_in_kernel(); }
  // The connection after a 101: it is no longer HTTP, and beyond_head() are its first bytes.
  [[nodiscard]] net::Stream& stream() { return *stream_; }
  [[nodiscard]] std::string_view beyond_head() const { return input_->buffered(); }
  // Keeps the connection for the next request if it can be reused.
  void finish();
  // Makes a pending wait fail soon. Call this on the fetch's thread, from another coroutine.
  void abandon();
  [[nodiscard]] bool is_abandoned() const { return abandoned_; }

 private:
  // The last response. `head` has views into `text`.
  struct Answer {
    net::FrameString text;
    http::ResponseHead head;
    std::optional<net::BodyReader> body;
    bool recorded = false;  // as whole
  };
  enum class Connection : std::uint8_t { idle_or_fresh, fresh };

  static constexpr std::chrono::milliseconds kExactBelow{1'000};

  net::Task<Outcome<void>> start_by_route(Time now);
  net::Soon<Outcome<void>> ask_in_turn(Time now);
  net::Task<Outcome<void>> ask_others(net::Soon<Outcome<void>> first);
  net::Task<Outcome<void>> ask_again(std::optional<Failure> failure);
  net::Soon<Outcome<void>> connect(Connection wanted, Time now);
  net::Task<Outcome<void>> connect_anew();
  net::Soon<Outcome<void>> send_head();
  net::Task<Outcome<void>> send_head_to_parent();
  net::Task<Outcome<void>> when_written(net::Soon<net::error_code> written);
  void record_heard(const net::Result<std::string_view>& head);
  Outcome<const http::ResponseHead*> parse_head(const net::Result<std::string_view>& bytes);
  void await_body();
  void bound_silence(const net::Executor& executor, std::chrono::milliseconds idle);
  Outcome<std::size_t> judged(net::Result<std::size_t> read);
  void record_if_whole();
  [[nodiscard]] Failure failed(net::error_code cause) const;

  const Upstream& on_;
  const FetchPlan plan_;
  AskedServer server_;
  std::unique_ptr<net::Stream> stream_;
  std::optional<net::Input> input_;
  bool reused_ = false;       // the connection had been used before
  AskedServer::Heard heard_;  // over this connection
  bool abandoned_ = false;
  Answer answer_;
  // An interim head has stated a body, which may yet come and would pass for the next answer.
  bool doubtful_ = false;
  std::optional<net::ExactDeadline> silence_;  // of a body whose idle time is short
};

}  // namespace proxy::upstream
