#include "proxy/observe/fault.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

TEST(FirstSeen, KnowsSinceWhenAThingDoesNotWork) {
  const FirstSeen::Time begun{1000s};
  FirstSeen seen;
  EXPECT_EQ(seen.since("peer b", begun), begun) << "not looked at yet";
  seen.look({"peer b"}, begun);
  seen.look({"disk ", "peer b", "peer b"}, begun + 5s);
  EXPECT_EQ(seen.since("peer b", begun + 9s), begun);
  EXPECT_EQ(seen.since("disk ", begun + 9s), begun + 5s);
  seen.look({}, begun + 10s);
  seen.look({"peer b"}, begun + 11s);
  EXPECT_EQ(seen.since("peer b", begun + 12s), begun + 11s) << "it worked meanwhile";
}

}  // namespace
}  // namespace proxy::observe
