// A story: what a client asks for, one request after the other, and how the origin takes it. Made
// by chance from a seed, played to any cache, and made shorter where it shows an error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/scenario/model/message.hpp"

namespace model {

// A value that begins with @, %, & or $ and a number is a date: so many seconds from the answer (as
// IMF-fixdate, in RFC 850's form, in asctime's), or from the beginning of the story.
struct Reaction {
  enum class Kind {
    honest,             // heeds conditions; ranges are nobody's duty to heed
    always_whole,       // heeds none
    always_unmodified,  // 304, whatever was asked
    cut,
  };
  Kind kind = Kind::honest;
  int status = 200;
  int version = 0;  // of the body
  Fields fields;
  Fields unmodified;  // of a 304, and of an answer to HEAD
  Seconds delay = 0;
};

struct Step {
  Seconds pause = 0;  // before it
  Ask ask;
  Reaction origin;
};
using Story = std::vector<Step>;

struct Scale {
  Seconds unit = 1;           // all times are multiples of it
  bool moves = true;          // the clock can be moved
  Seconds slack = 0;          // how far the clock of the cache and the model's may be apart
  bool in_background = true;  // stale-while-revalidate can be watched
};

Story random_story(unsigned seed, const Scale& scale, int steps);

// The date that a value stands for, or the value.
std::string expanded(const std::string& value, Seconds now, Seconds begun);
Fields expanded(const Fields& fields, Seconds now, Seconds begun);

// What the origin says to what reaches it. `number` tells this answer from all others.
Answer react(const Reaction& reaction, const Ask& sent, int number, Seconds now, Seconds begun);

// The same story without what it can do without: `fails` still holds of it.
Story shortest(Story story, const std::function<bool(const Story&)>& fails);

std::string text(const Story& story);

}  // namespace model
