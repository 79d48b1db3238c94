// Asks the neighbours that claim a key, or the one that may be fetching what nobody claims, within
// a budget against the origin; and the origin.
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/sources/allowed.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/choice_plan.hpp"
#include "proxy/sources/neighbour.hpp"

namespace proxy::sources {

// One question to a source, asked while others to other sources may be under way.
struct SourceQuestion {
  Attempt attempt;
  ChoicePlan::Question plan;
  Attempt::OnInterim on_interim = {};  // called until the question is over or left
  // A neighbour that waits for a source of its own says so again by then.
  peers::SteadyTime next_word_by = peers::SteadyTime::max();

  bool noted = false;  // what it has cost counts already
  bool over = false;   // answered, or failed: see attempt.outcome()
  bool left = false;   // nobody waits for it any more
};

// What the neighbours' answers are recorded for.
struct AskedAbout {
  std::shared_ptr<peers::PeerDirectory> directory;
  digest::Key key;
};

// Asks in a coroutine of its own on the worker's thread, so that nobody waits for a source that was
// left: not even for a connection that is being opened. Rings the bell once the question is over; a
// question that is left by then does not ring. A neighbour's question is over when the first bytes
// of its body are here, too (Fetch::body_begins): a head alone does not show that the neighbour
// works.
void start(SourceAccess& access, std::shared_ptr<SourceQuestion> question, AskedAbout about,
           net::Wakeup& bell);
// Leaves the question. It goes on only if the plan wants it seen out and `then` allows that.
enum class Then : std::uint8_t { may_go_on, ends };
void leave(SourceQuestion& question, Then then);

// Carries out the plan of one request (choice_plan.hpp): asks the sources that it names, and
// records what each answer is worth. The first good answer wins, and the others are left. A key
// that nobody claims is asked of the one neighbour of the site that would know who fetches it
// (peers/site.hpp). Belongs to one coroutine. The constructor's references outlive it.
class ClaimantSearch {
 public:
  struct For {
    digest::Key key;  // of the URL
    const policy::Request& request;
    SiblingQuestion asked = {};
    Allowed allowed = {};
    // Whether no other source is left: then even claimants that do not fit the budget are asked.
    bool nobody_else = false;
    // Makes the question to the origin by a route. Empty: the search does not ask the origin, and
    // ends when it would.
    std::function<Attempt(const upstream::Route&)> origin = {};
    Attempt::OnInterim on_interim = {};  // for the origin's interim heads
    fill::Fill* fill = nullptr;          // that waits for the answer; null: none
  };
  // Counts one claim for each neighbour that claims the key. If no neighbour claims it, counts
  // those that claim the record of the digest in the URL (policy::shared_content_of()), which give
  // the body for this URL, too; or, if a part is asked for, those that claim a part. Adds to
  // `inquiries` each question that has ended without a useful answer, and the words_for() each
  // finding.
  ClaimantSearch(SourceAccess& access, For wanted, observe::Inquiries& inquiries);
  ClaimantSearch(const ClaimantSearch&) = delete;
  ClaimantSearch& operator=(const ClaimantSearch&) = delete;
  ~ClaimantSearch() { leave_quietly(Then::may_go_on); }

  // What the plan of such a search is given, if these neighbours claim the key. Asks nobody.
  static ChoicePlan::Given given_for(SourceAccess& access, const For& wanted,
                                     peers::Claimants claimants, peers::SteadyTime now);

  // The next answer of a neighbour that holds the response; or, with peer() null, the question to
  // the origin with its outcome(), which may be a failure if no neighbour is left. Nothing if no
  // neighbour is left and the origin was not asked, if the client may not reach the origin's
  // address (access.deny_to), or after abandon(). Records the worth of all other answers.
  // While the caller judges a neighbour's answer, the other questions stay under way.
  net::Task<std::optional<Attempt>> next();
  // How long the body of an answer may pause before its rest is asked of another source. `answer`:
  // from next().
  [[nodiscard]] std::chrono::milliseconds body_idle(const Attempt& answer) const;
  // Leaves the questions under way. Call this when a neighbour's answer is of use.
  void settle();
  // Call this when a neighbour's answer is of use only if the origin fails: its body might be cut,
  // and nobody would have the rest. The neighbour is asked again once the origin has failed.
  void put_off(const Attempt& answer);
  [[nodiscard]] bool origin_has_failed() const { return plan_.origin_failed(); }
  // As record_worth(), for an answer from next(). Judges whether it was in_time().
  void record(const Attempt& attempt, const Finding& finding, std::uint64_t bytes = 0);

  // Ends the search and its wait. Called from outside the coroutine that waits.
  void abandon();
  [[nodiscard]] bool abandoned() const { return state_ == State::abandoned; }

 private:
  net::Task<bool> guard_allows() const;
  net::Task<bool> begin();
  std::shared_ptr<SourceQuestion> remove_one_over();
  net::Task<bool> is_answer(SourceQuestion& question);
  bool is_origins_answer(SourceQuestion& question);
  net::Task<void> record_no(SourceQuestion& question, const Finding& finding);
  void record_wait_of_member(SourceQuestion& question, Repeats repeats);
  void record_luck(SiteLuck::Question found);
  void record_word_of_member(const SourceQuestion& question);
  bool finds_more(const ChoicePlan::Action& action);
  void ask(ChoicePlan::Question question);
  void ask_by_rest_of_route(ChoicePlan::Number of);
  void leave_all(peers::SteadyTime now);
  void leave_quietly(Then then);

  SourceAccess& access_;
  const For wanted_;
  observe::Inquiries& inquiries_;
  digest::Key claimed_;  // by the claimants
  ChoicePlan plan_;
  net::Wakeup bell_;  // rung when a question is over
  boost::container::small_vector<std::shared_ptr<SourceQuestion>, 2> under_way_;
  peers::SiteQuestion::GivenUp given_up_;  // members of the site
  // Whether a member of the site was asked, and whether the result was recorded.
  enum class Luck : std::uint8_t { not_asked, unknown, known } luck_ = Luck::not_asked;
  std::optional<Attempt> origins_failure_;  // or its 5xx, while another source may still answer
  enum class State : std::uint8_t { new_, searching, over, abandoned } state_ = State::new_;
};

}  // namespace proxy::sources
