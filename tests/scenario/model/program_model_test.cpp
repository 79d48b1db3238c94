// The program against the model: the decisions of the rules must be visible at the sockets.
#include <gtest/gtest.h>

#include "tests/scenario/model/program_subject.hpp"
#include "tests/scenario/model/run.hpp"

namespace model {
namespace {

TEST(ProgramModel, NoStoryTellsOfABreachOrOfAReuseThatWasNotTaken) {
  ProgramSubject subject;
  const Scale scale{.unit = 1000, .moves = false, .slack = 3, .in_background = false};
  run_stories(subject, scale, 250);
}

}  // namespace
}  // namespace model
