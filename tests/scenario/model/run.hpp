// A test that plays stories, as many as the environment says.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/scenario/model/subject.hpp"

namespace model {

// HEARSAY_MODEL_STORIES=1000000 HEARSAY_MODEL_SEED=7 makes a long run.
inline unsigned setting(const char* name, unsigned otherwise) {
  const char* const said = std::getenv(name);
  return said ? static_cast<unsigned>(std::stoul(said)) : otherwise;
}

inline void run_stories(Subject& subject, const Scale& scale, unsigned stories) {
  constexpr int kSteps = 12;
  Tally tally;
  const auto wrong = play_all(subject, scale, setting("HEARSAY_MODEL_SEED", 1),
                              setting("HEARSAY_MODEL_STORIES", stories), kSteps, tally);
  EXPECT_TRUE(wrong.empty()) << wrong;
  EXPECT_GT(tally.reused * 10, tally.requests);  // else the model compares nothing
  testing::Test::RecordProperty("requests", std::to_string(tally.requests));
  testing::Test::RecordProperty("reused", std::to_string(tally.reused));
}

}  // namespace model
