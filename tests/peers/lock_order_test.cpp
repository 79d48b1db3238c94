// Compiled with the check, whatever the build, so that every run of the tests has it.
#ifndef HEARSAY_CHECK_LOCK_ORDER
#define HEARSAY_CHECK_LOCK_ORDER
#endif
#include "peers/threads/mutex.hpp"

#include <gtest/gtest.h>

namespace threads {
namespace {

void take(std::initializer_list<Place> places) {
  for (const Place place : places) CheckedOrder(place).taking();
}

void release(std::initializer_list<Place> places) {
  for (const Place place : places) CheckedOrder(place).released();
}

TEST(LockOrder, AllowsLaterPlacesAndReleasesInAnyOrder) {
  take({Place::first});
  CheckedOrder(Place::first).taking_beside_others();
  take({Place::second, Place::third});
  release({Place::second, Place::third});
  take({Place::second});
  release({Place::second, Place::first, Place::first});
  take({Place::alone, Place::last});
  release({Place::last, Place::alone});
  take({Place::first, Place::last});
  release({Place::first, Place::last});
}

TEST(LockOrderDeathTest, EndsTheProgramWhereAThreadTakesLocksInAnotherOrder) {
  EXPECT_DEATH(take({Place::second, Place::first}), "out of order: place 0 .* place 1");
  EXPECT_DEATH(take({Place::second, Place::second}), "out of order");
  EXPECT_DEATH(take({Place::third, Place::second}), "out of order");
  EXPECT_DEATH(take({Place::first, Place::alone}), "out of order");
  EXPECT_DEATH(take({Place::alone, Place::first}), "out of order");
  EXPECT_DEATH(take({Place::alone, Place::alone}), "out of order");
  EXPECT_DEATH(take({Place::last, Place::first}), "out of order");
  EXPECT_DEATH(take({Place::last, Place::alone}), "out of order");
  EXPECT_DEATH(take({Place::last, Place::last}), "out of order");
}

}  // namespace
}  // namespace threads
