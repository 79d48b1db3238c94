#include "proxy/machine/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace proxy::machine {
namespace {

int open_one() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}
bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

TEST(Descriptor, IsClosedWithItsOwner) {
  const int number = open_one();
  {
    const Descriptor owner(number);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, HasOneOwnerAtATime) {
  const int number = open_one();
  Descriptor first(number);
  {
    const Descriptor second(std::move(first));
    EXPECT_EQ(second.number(), number);
  }
  EXPECT_FALSE(first);
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, StaysOpenOnceItIsReleased) {
  const int number = open_one();
  int released = -1;
  {
    Descriptor owner(number);
    released = owner.release();
  }
  EXPECT_EQ(released, number);
  EXPECT_TRUE(is_open(number));
  const Descriptor closes(number);
}

}  // namespace
}  // namespace proxy::machine
