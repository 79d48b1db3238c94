// A cache under test, seen by its clients and its origin.
#pragma once

#include <string>

#include "tests/scenario/model/model.hpp"
#include "tests/scenario/model/story.hpp"

namespace model {

class Subject {
 public:
  virtual ~Subject() = default;
  // Sends the request to the cache, whose origin answers by `reaction`. The origin's answers are
  // numbered from `number`.
  virtual Told ask(const Ask& ask, const Reaction& reaction, Seconds pause, int number) = 0;
  // Empties the cache for the next story, and returns the time.
  virtual Seconds begin() = 0;
};

struct Tally {
  std::size_t requests = 0, reused = 0;
};

// Plays the story while the model watches. Returns the first problem, or an empty text.
std::string play(Subject& subject, const Story& story, const Scale& scale, Tally& tally);

// Plays so many stories from this seed on. Returns the first that shows a problem, shortened, or an
// empty text.
std::string play_all(Subject& subject, const Scale& scale, unsigned seed, unsigned stories,
                     int steps, Tally& tally);

}  // namespace model
