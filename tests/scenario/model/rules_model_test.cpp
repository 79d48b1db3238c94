// The rules against the model, many thousand requests a second, with a clock that jumps.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/scenario/model/rules_subject.hpp"

namespace model {
namespace {

// For a long run: HEARSAY_MODEL_STORIES=1000000 HEARSAY_MODEL_SEED=7.
unsigned setting(const char* name, unsigned otherwise) {
  const char* const said = std::getenv(name);
  return said ? static_cast<unsigned>(std::stoul(said)) : otherwise;
}

TEST(RulesModel, NoStoryTellsOfABreachOrOfAReuseThatWasNotTaken) {
  RulesSubject subject;
  Tally tally;
  const auto wrong = play_all(subject, Scale{}, setting("HEARSAY_MODEL_SEED", 1),
                              setting("HEARSAY_MODEL_STORIES", 2500), 12, tally);
  EXPECT_TRUE(wrong.empty()) << wrong;
  EXPECT_GT(tally.reused * 10, tally.requests);  // or it compares nothing
  RecordProperty("requests", std::to_string(tally.requests));
  RecordProperty("reused", std::to_string(tally.reused));
}

}  // namespace
}  // namespace model
