#include "proxy/sources/rest_race.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "proxy/net/frames.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy {

using net::Task;

namespace {

// Shared by the two coroutines that wait, since each may end first.
struct Rest {
  Attempt attempt;
  std::function<bool(Attempt&)> fits;
  Attempt* silent;  // null: the race is over
  bool won = false;
};

Task<void> ask(std::shared_ptr<Rest> rest) {
  try {
    const auto answered = co_await rest->attempt.ask();
    rest->won = answered && rest->silent && rest->fits(rest->attempt);
  } catch (const std::exception& bug) {
    spdlog::error("a question for the rest of a body failed inside this proxy: {}", bug.what());
  }
  if (rest->won) rest->silent->abandon();  // ends the wait for it
}

}  // namespace

bool is_silent(const Outcome<void>& body, const Attempt& attempt) {
  return !body && body.error().what == Failure::What::timed_out && attempt.peer() &&
         attempt.waits_itself();
}

Task<std::optional<Attempt>> race_for_rest(SourceAccess& access, Attempt& silent, Attempt rest,
                                           std::function<bool(Attempt&)> fits,
                                           std::chrono::milliseconds idle) {
  Rest begun{std::move(rest), std::move(fits), &silent};
  const auto raced = make_shared_in_frames<Rest>(std::move(begun));
  // Ends the race whatever happens.
  struct End {
    Rest& of;
    ~End() {
      of.silent = nullptr;
      if (!of.won) of.attempt.abandon();
    }
  } const end{*raced};
  access.second_questions.add();
  net::spawn(access.executor, ask(raced));
  co_await silent.fetch().body_goes_on(idle);
  if (!raced->won) co_return std::nullopt;
  co_return std::move(raced->attempt);
}

}  // namespace proxy
