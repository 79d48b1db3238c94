// A story: a client's requests in order, and the origin's reaction to each. Stories are made at
// random from a seed and played to any cache. One that shows an error is shortened.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/scenario/model/message.hpp"

namespace model {

// In the values of fields, a number after @, % or & is a date so many seconds from the answer (in
// the form of IMF-fixdate, RFC 850, asctime), and after $ so many seconds from the story's
// beginning.
struct Reaction {
  enum class Kind {
    honest,             // heeds conditions, ignores ranges
    always_whole,       // heeds no conditions
    always_unmodified,  // answers every request by 304
    cut,
  };
  Kind kind = Kind::honest;
  int status = 200;
  int version = 0;  // of the body
  Fields fields;
  Fields unmodified;  // the fields of a 304, and of an answer to HEAD
  Seconds delay = 0;
};

struct Step {
  Seconds pause = 0;  // before the request
  Ask ask;
  Reaction origin;
};
using Story = std::vector<Step>;

struct Scale {
  Seconds unit = 1;           // all times are multiples of this
  bool moves = true;          // the clock can be moved
  Seconds slack = 0;          // the greatest difference between the cache's clock and the model's
  bool in_background = true;  // stale-while-revalidate can be watched
};

Story random_story(unsigned seed, const Scale& scale, int steps);

// The date that a value stands for, or the value if it is none.
std::string expanded(const std::string& value, Seconds now, Seconds begun);
Fields expanded(const Fields& fields, Seconds now, Seconds begun);

// The origin's answer to the request `sent`. `number` identifies the answer.
Answer react(const Reaction& reaction, const Ask& sent, int number, Seconds now, Seconds begun);

// The shortest story made from this one for which `fails` is still true.
Story shortest(Story story, const std::function<bool(const Story&)>& fails);

std::string text(const Story& story);

}  // namespace model
