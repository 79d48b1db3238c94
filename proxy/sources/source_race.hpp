// Questions to several sources, under way at once.
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <memory>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/choice_plan.hpp"

namespace proxy {

// Each question runs in a coroutine of its own on the worker's thread, so that nobody waits for a
// source that was left: not even for a connection that is being opened. Belongs to one coroutine.
class SourceRace {
 public:
  using Steady = Attempt::Steady;

  struct Question {
    Attempt attempt;
    ChoicePlan::Question plan;
    Attempt::OnInterim on_interim = {};  // called until the question is over or left

    bool noted = false;  // what it has cost counts already
    bool over = false;   // answered, or failed: see attempt.outcome()
    bool left = false;
  };
  using QuestionRef = std::shared_ptr<Question>;
  using Questions = boost::container::small_vector<QuestionRef, 2>;

  // What the neighbours' answers are noted for.
  struct About {
    std::shared_ptr<peers::PeerDirectory> directory;
    digest::Key key;
  };

  // All questions are about one key, to neighbours of one directory.
  SourceRace(SourceAccess& access, About about);
  SourceRace(const SourceRace&) = delete;
  SourceRace& operator=(const SourceRace&) = delete;
  ~SourceRace() { leave(); }

  // A neighbour's question is over when the first bytes of its body are here, too (see
  // Fetch::body_begins): a head alone does not show that the neighbour works.
  void start(Question&& question);
  // A question that is over; null if there is none.
  QuestionRef take_one_over();
  // Waits until a question is over, at most until `until`; or until wake(). May end early.
  Wakeup::Wait wait(Steady::time_point until) { return bell_.wait_until(until); }
  // Leaves all questions that are under way. `at_once`: none of them is seen out.
  void leave(bool at_once = false);
  // Ends a wait. Called from outside the coroutine that waits.
  void wake() { bell_.notify(); }

  [[nodiscard]] const Questions& under_way() const { return under_way_; }
  // The question of this number, which is under way.
  [[nodiscard]] const QuestionRef& find(ChoicePlan::Number number) const;

 private:
  SourceAccess& access_;
  const About about_;
  Wakeup bell_;
  Questions under_way_;
};

}  // namespace proxy
