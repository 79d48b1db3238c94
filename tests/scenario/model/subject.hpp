// A cache under test, as its clients and its origin see it.
#pragma once

#include <string>

#include "tests/scenario/model/model.hpp"
#include "tests/scenario/model/story.hpp"

namespace model {

class Subject {
 public:
  virtual ~Subject() = default;
  // Puts the request to the cache; the origin takes it as `reaction` says. Answers of the origin
  // are numbered from `number` on.
  virtual Told ask(const Ask& ask, const Reaction& reaction, Seconds pause, int number) = 0;
  // Empty, as at the start of a story; the time that it then is.
  virtual Seconds begin() = 0;
};

struct Tally {
  std::size_t requests = 0, reused = 0;
};

// Plays the story and has the model watch; what was wrong first, or empty.
std::string play(Subject& subject, const Story& story, const Scale& scale, Tally& tally);

// Plays as many stories, from that seed on: the first that goes wrong, at its shortest.
std::string play_all(Subject& subject, const Scale& scale, unsigned seed, unsigned stories,
                     int steps, Tally& tally);

}  // namespace model
