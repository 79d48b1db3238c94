// The rules against the model: many thousand requests per second, with a clock that jumps.
#include <gtest/gtest.h>

#include "tests/scenario/model/rules_subject.hpp"
#include "tests/scenario/model/run.hpp"

namespace model {
namespace {

TEST(RulesModel, NoStoryTellsOfABreachOrOfAReuseThatWasNotTaken) {
  RulesSubject subject;
  run_stories(subject, Scale{}, 1500);
}

}  // namespace
}  // namespace model
