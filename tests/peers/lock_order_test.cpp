// Compiled with the check, whatever the build, so that every run of the tests has it.
#ifndef HEARSAY_CHECK_LOCK_ORDER
#define HEARSAY_CHECK_LOCK_ORDER
#endif
#include "peers/threads/mutex.hpp"

#include <gtest/gtest.h>

namespace threads {
namespace {

TEST(LockOrder, AllowsLaterPlacesAndReleasesInAnyOrder) {
  HeldLocks held;
  held.take(Place::first);
  held.take_beside_others(Place::first);
  held.take(Place::second);
  held.take(Place::third);
  held.release(Place::second);
  held.release(Place::third);
  held.take(Place::second);
  held.release(Place::second);
  held.release(Place::first);
  held.release(Place::first);
  held.take(Place::alone);
  held.take(Place::last);
  held.release(Place::last);
  held.release(Place::alone);
  held.take(Place::first);
  held.take(Place::last);
}

TEST(LockOrderDeathTest, EndsTheProgramWhereAThreadTakesLocksInAnotherOrder) {
  const auto take = [](std::initializer_list<Place> places) {
    HeldLocks held;
    for (const Place place : places) held.take(place);
  };
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
