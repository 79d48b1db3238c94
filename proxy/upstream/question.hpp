// The head of a request, on its way to a server.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "proxy/net/input.hpp"
#include "proxy/net/task.hpp"
#include "proxy/upstream/asked_server.hpp"
#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/fetch_plan.hpp"

namespace proxy {

// Asks the servers of a plan in turn until one of them answers, each over an idle connection or a
// new one. Belongs to one fetch, which reads the answer.
class Question {
 public:
  using Clock = AskedServer::Clock;

  // `on` outlives this object.
  Question(const Upstream& on, FetchPlan&& plan);
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  // The first server that can be reached gets the head.
  net::Soon<Outcome<void>> ask(Clock::time_point now);
  // The server has failed before its answer came. The same server or the next one gets the head,
  // if one is left and the request may be sent twice. Else the result is the failure. Without a
  // failure, the server is one that AskedServer::goes_around() has chosen.
  net::Task<Outcome<void>> ask_again(std::optional<Failure> failure);

  // The next wait is for the head of an answer.
  void expect_head() { stream_->expires_after(server_.first_byte_time()); }
  // That wait is over: with the head, or with an error.
  void note_heard(const net::Result<std::string_view>& head);

  [[nodiscard]] const FetchPlan& plan() const { return plan_; }
  // The server that is asked, or was asked last.
  [[nodiscard]] const AskedServer& server() const { return server_; }
  [[nodiscard]] AskedServer& server() { return server_; }
  // The connection to the server, and what came over it. Only after a success.
  [[nodiscard]] net::Stream& stream() const { return *stream_; }
  [[nodiscard]] Input& input() { return *input_; }
  [[nodiscard]] const Input& input() const { return *input_; }
  // Whether the connection had been used before.
  [[nodiscard]] bool reused() const { return reused_; }
  // Gives up the connection, or keeps it for the next request if it is `fit`.
  void finish(bool fit);

  // Makes a pending wait fail soon.
  void abandon();
  [[nodiscard]] bool abandoned() const { return abandoned_; }
  // The failure that this error means.
  [[nodiscard]] Failure failed(net::error_code cause) const;

 private:
  net::Soon<Outcome<void>> connect(bool may_reuse, Clock::time_point now);
  net::Task<Outcome<void>> connect_anew();
  net::Soon<Outcome<void>> send_head();
  net::Task<Outcome<void>> send_head_to_parent();
  net::Task<Outcome<void>> when_written(net::Soon<net::error_code> written);
  net::Task<Outcome<void>> ask_by_route(Clock::time_point now);
  net::Soon<Outcome<void>> ask_in_turn(Clock::time_point now);
  net::Task<Outcome<void>> ask_others(net::Soon<Outcome<void>> first);
  [[nodiscard]] bool died_unheard(const Failure& failure) const;

  const Upstream& on_;
  const FetchPlan plan_;
  AskedServer server_;
  std::unique_ptr<net::Stream> stream_;
  std::optional<Input> input_;
  bool reused_ = false;
  AskedServer::Heard heard_;  // over this connection
  bool abandoned_ = false;
};

}  // namespace proxy
