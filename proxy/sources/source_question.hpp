// One question to a source, asked while others to other sources may be under way.
#pragma once

#include <memory>

#include "digest/key.hpp"
#include "peers/directory.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/sources/attempt.hpp"
#include "proxy/sources/choice_plan.hpp"

namespace proxy {

struct SourceQuestion {
  Attempt attempt;
  ChoicePlan::Question plan;
  Attempt::OnInterim on_interim = {};  // called until the question is over or left

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
           Wakeup& bell);
// Leaves the question. It goes on only if the plan wants it seen out and `then` allows that.
enum class Then : std::uint8_t { may_go_on, ends };
void leave(SourceQuestion& question, Then then);

}  // namespace proxy
